import { type Column, type ColumnType, type TableName, tables } from '@perwatt/core';
import { type Data, type DataType, Float64, makeData, type RecordBatch, type Schema } from 'apache-arrow';
import { batchOf, type Dictionaries, validity } from './encode-rows.js';
import { NameDictionary } from './name-dictionary.js';
import type { AnyArray, ArrayChunk } from './table-arrays.js';

/** Which rows of a chunk one batch takes, and how much text it may hold. */
export interface BatchLimits {
  readonly rows: number;
  readonly text_bytes: number;
}

interface Rows {
  readonly start: number;
  readonly end: number;
}

/** One record batch after another, made without row objects: number columns are views of the caller's arrays. */
export function* encodeArrays(
  table: TableName,
  chunk: ArrayChunk,
  context: {
    readonly schema: Schema;
    readonly dictionaries: Dictionaries;
    readonly limits: BatchLimits;
  },
): Generator<RecordBatch> {
  const { schema, dictionaries, limits } = context;
  const specs = Object.entries<Column>(tables[table]);
  for (let start = 0; start < chunk.length; ) {
    const end = batchEnd(chunk, start, limits);
    const children = specs.map(([name, { type }], i) => {
      const field = schema.fields[i]?.type as DataType;
      const dictionary = dictionaries.get(name) ?? new NameDictionary();
      return columnData(chunk.columns[name] ?? {}, { type, field, dictionary, rows: { start, end } });
    });
    yield batchOf(schema, end - start, children);
    start = end;
  }
}

/** Where the batch that starts at `start` ends: by rows, or earlier where its texts are long; never empty. */
function batchEnd({ columns, length }: ArrayChunk, start: number, limits: BatchLimits): number {
  const texts = Object.values(columns).flatMap(({ offsets }) => (offsets === undefined ? [] : [offsets]));
  const bytes = (end: number) => texts.reduce((n, o) => n + (o[end] ?? 0) - (o[start] ?? 0), 0);
  let end = Math.min(length, start + limits.rows);
  while (end > start + 1 && bytes(end) > limits.text_bytes) end = start + Math.ceil((end - start) / 2);
  return end;
}

interface Target {
  readonly type: ColumnType;
  readonly field: DataType;
  readonly dictionary: NameDictionary;
  readonly rows: Rows;
}

function columnData(column: AnyArray, { type, field, dictionary, rows }: Target): Data {
  const { start, end } = rows;
  const { valid } = column;
  const length = end - start;
  const shape = {
    type: field,
    length,
    ...(valid === undefined || valid === null
      ? { nullCount: 0 }
      : validity(length, (i) => valid[start + i] !== 1)),
  };
  const valueOffsets = column.offsets?.subarray(start, end + 1);
  switch (type) {
    case 'name':
      return makeData({
        ...shape,
        data: nameIndices(column, { dictionary, rows }),
        dictionary: dictionary.vector(),
      } as never);
    case 'text':
      return makeData({ ...shape, valueOffsets, data: column.bytes } as never);
    case 'list_float64': {
      const data = column.values as Float64Array;
      const child = makeData({ type: new Float64(), length: data.length, nullCount: 0, data });
      return makeData({ ...shape, valueOffsets, child } as never);
    }
    case 'bool':
      return makeData({ ...shape, data: packed(column.values as Uint8Array, rows) } as never);
    default:
      return makeData({ ...shape, data: column.values?.subarray(start, end) } as never);
  }
}

/** Indices into the segment's dictionary: the caller's own where both have the names in the same places. */
function nameIndices(
  { indices, names = [] }: AnyArray,
  { dictionary, rows: { start, end } }: Pick<Target, 'dictionary' | 'rows'>,
): Uint16Array {
  const places = Uint16Array.from(names, (name) => dictionary.indexOf(name));
  const own = indices?.subarray(start, end) ?? new Uint16Array();
  if (places.every((place, i) => place === i)) return own instanceof Uint16Array ? own : new Uint16Array(own);
  const moved = new Uint16Array(own.length);
  for (let i = 0; i < own.length; i++) moved[i] = places[own[i] ?? 0] ?? 0;
  return moved;
}

function packed(values: Uint8Array, { start, end }: Rows): Uint8Array {
  const bits = new Uint8Array((end - start + 7) >> 3);
  for (let i = start; i < end; i++) {
    const at = i - start;
    if (values[i] === 1) bits[at >> 3] = (bits[at >> 3] ?? 0) | (1 << (at & 7));
  }
  return bits;
}
