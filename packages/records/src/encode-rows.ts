import { type Column, type TableName, tables } from '@perwatt/core';
import {
  type Bool,
  type Data,
  type DataType,
  type Dictionary,
  Float64,
  type Int,
  type List,
  makeData,
  RecordBatch,
  type Schema,
  Struct,
  type Uint16,
  type Utf8,
} from 'apache-arrow';
import { NameDictionary, utf8Parts } from './name-dictionary.js';

/** Dictionaries of a segment's name columns, by column. */
export type Dictionaries = ReadonlyMap<string, NameDictionary>;

export const dictionariesOf = (table: TableName): Dictionaries =>
  new Map(
    Object.entries<Column>(tables[table]).flatMap(([name, { type }]) =>
      type === 'name' ? [[name, new NameDictionary()] as const] : [],
    ),
  );

/** Which of the values are there, as Arrow wants it: one bit each, and how many are not. */
export interface Validity {
  readonly nullCount: number;
  readonly nullBitmap: Uint8Array | null;
}

/** Validity of `length` values by `isNull`; no bitmap where none is null. */
export function validity(length: number, isNull: (index: number) => boolean): Validity {
  const nullBitmap = new Uint8Array((length + 7) >> 3);
  let nullCount = 0;
  for (let i = 0; i < length; i++) {
    if (isNull(i)) nullCount += 1;
    else setBit(nullBitmap, i);
  }
  return { nullCount, nullBitmap: nullCount > 0 ? nullBitmap : null };
}

/** One record batch of rows that `checkRows` has passed. Names that are new go into `dictionaries`. */
export function encodeRows(
  table: TableName,
  rows: readonly object[],
  { schema, dictionaries }: { readonly schema: Schema; readonly dictionaries: Dictionaries },
): RecordBatch {
  const records = rows as readonly Readonly<Record<string, unknown>>[];
  const columns = Object.entries<Column>(tables[table]);
  const children = columns.map(([name, column], i) => {
    const type = schema.fields[i]?.type;
    const values = records.map((row) => row[name]);
    return encodeColumn(column, values, { type, dictionary: dictionaries.get(name) });
  });
  return batchOf(schema, rows.length, children);
}

export const batchOf = (schema: Schema, length: number, children: Data[]): RecordBatch =>
  new RecordBatch(schema, makeData({ type: new Struct(schema.fields), length, nullCount: 0, children }));

interface Target {
  readonly type: DataType | undefined;
  readonly dictionary: NameDictionary | undefined;
}

/** Values of one column as Arrow data; null where nullable. */
export function encodeColumn({ type }: Column, values: readonly unknown[], target: Target): Data {
  const length = values.length;
  const shape = { length, ...validity(length, (i) => values[i] === null) };
  switch (type) {
    case 'name':
      return nameData(values as readonly (string | null)[], target, shape);
    case 'text':
      return makeData({
        type: target.type as Utf8,
        ...shape,
        ...utf8Parts(values as readonly (string | null)[]),
      });
    case 'bool':
      return makeData({ type: target.type as Bool, ...shape, data: bits(values) });
    case 'list_float64':
      return listData(values as readonly (readonly number[] | null)[], target, shape);
    case 'int64':
    case 'uint64':
      return makeData({ type: target.type as Int, ...shape, data: bigints(type, values) });
    default:
      return makeData({
        type: target.type as Float64,
        ...shape,
        data: new numbers[type](values as readonly number[]) as Float64Array,
      });
  }
}

type Shape = Validity & { readonly length: number };

const numbers = {
  uint8: Uint8Array,
  uint16: Uint16Array,
  uint32: Uint32Array,
  float64: Float64Array,
} as const;

/** Indices into the column's dictionary as it stands after them. */
function nameData(names: readonly (string | null)[], { type, dictionary }: Target, shape: Shape): Data {
  const known = dictionary ?? new NameDictionary();
  const data = new Uint16Array(names.length);
  for (let i = 0; i < names.length; i++) {
    const name = names[i] ?? null;
    if (name !== null) data[i] = known.indexOf(name);
  }
  return makeData({ type: type as Dictionary<Utf8, Uint16>, ...shape, data, dictionary: known.vector() });
}

function listData(lists: readonly (readonly number[] | null)[], { type }: Target, shape: Shape): Data {
  const valueOffsets = new Int32Array(lists.length + 1);
  for (let i = 0; i < lists.length; i++) {
    valueOffsets[i + 1] = (valueOffsets[i] ?? 0) + (lists[i]?.length ?? 0);
  }
  const data = new Float64Array(valueOffsets[lists.length] ?? 0);
  for (let i = 0; i < lists.length; i++) data.set(lists[i] ?? [], valueOffsets[i]);
  const child = makeData({ type: new Float64(), length: data.length, nullCount: 0, data });
  return makeData({ type: type as List<Float64>, ...shape, valueOffsets, child });
}

function bigints(type: 'int64' | 'uint64', values: readonly unknown[]): BigInt64Array | BigUint64Array {
  const data = type === 'int64' ? new BigInt64Array(values.length) : new BigUint64Array(values.length);
  for (let i = 0; i < values.length; i++) data[i] = (values[i] as bigint | null) ?? 0n;
  return data;
}

function bits(values: readonly unknown[]): Uint8Array {
  const data = new Uint8Array((values.length + 7) >> 3);
  for (let i = 0; i < values.length; i++) if (values[i] === true) setBit(data, i);
  return data;
}

function setBit(bitmap: Uint8Array, index: number): void {
  bitmap[index >> 3] = (bitmap[index >> 3] ?? 0) | (1 << (index & 7));
}
