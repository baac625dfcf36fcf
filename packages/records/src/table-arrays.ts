import { type Column, type ColumnType, type Table, type TableName, tables } from '@perwatt/core';

/** Few distinct texts: `names` and, for each row, the index of its own. */
export interface NameArray {
  readonly indices: Uint8Array | Uint16Array;
  readonly names: readonly string[];
}

/** Texts in UTF-8, one behind the other; row i has the bytes from `offsets[i]` to `offsets[i + 1]`. */
export interface TextArray {
  readonly offsets: Int32Array;
  readonly bytes: Uint8Array;
}

/** Lists of numbers, laid out as texts are. */
export interface ListArray {
  readonly offsets: Int32Array;
  readonly values: Float64Array;
}

interface Values<A> {
  readonly values: A;
}

interface ArrayOf {
  name: NameArray;
  text: TextArray;
  /** 0 or 1. */
  bool: Values<Uint8Array>;
  uint8: Values<Uint8Array>;
  uint16: Values<Uint16Array>;
  uint32: Values<Uint32Array>;
  uint64: Values<BigUint64Array>;
  int64: Values<BigInt64Array>;
  float64: Values<Float64Array>;
  list_float64: ListArray;
}

interface Nullable {
  /** 1 where a row has a value, 0 where it is null; absent when every row has one. */
  readonly valid?: Uint8Array | null;
}

/** The columns of a table as typed arrays: one entry a row in each, every column of the table given. */
export type ArraysOf<T extends Table> = {
  readonly [K in keyof T]: T[K] extends Column<infer C, infer N>
    ? N extends true
      ? ArrayOf[C] & Nullable
      : ArrayOf[C]
    : never;
};

/** A column of any type, as the code that does not care sees it. */
export type AnyArray = Partial<NameArray & TextArray & Omit<ListArray, 'values'>> &
  Nullable & { readonly values?: NumberArray };

type NumberArray = ArrayOf[Exclude<ColumnType, 'name' | 'text'>]['values'];

/** Rows of one table that wait for a batch. */
export interface ArrayChunk {
  readonly length: number;
  readonly columns: Readonly<Record<string, AnyArray>>;
}

const arrayTypes = {
  bool: Uint8Array,
  uint8: Uint8Array,
  uint16: Uint16Array,
  uint32: Uint32Array,
  uint64: BigUint64Array,
  int64: BigInt64Array,
  float64: Float64Array,
} as const;

/** The columns as a chunk. Throws a `TypeError` naming table, column and row when they are not what the table wants. */
export function checkArrays(table: TableName, given: Readonly<Record<string, unknown>>): ArrayChunk {
  const specs = Object.entries<Column>(tables[table]);
  const extra = Object.keys(given).find((name) => !(name in tables[table]));
  if (extra !== undefined) throw new TypeError(`columns for table ${table}: column "${extra}" is unknown`);
  const columns = given as Readonly<Record<string, AnyArray>>;
  const [first = '', firstSpec] = specs[0] ?? [];
  const length = firstSpec === undefined ? 0 : lengthOf(columns[first] ?? {}, firstSpec.type);
  for (const [name, spec] of specs) {
    const problem = columnProblem(columns[name], spec, length);
    if (problem !== null) throw new TypeError(`columns for table ${table}: column "${name}" ${problem}`);
  }
  return { length, columns };
}

function lengthOf(column: AnyArray, type: ColumnType): number {
  if (type === 'name') return column.indices?.length ?? 0;
  if (type === 'text' || type === 'list_float64') return Math.max(0, (column.offsets?.length ?? 0) - 1);
  return column.values?.length ?? 0;
}

function columnProblem(column: AnyArray | undefined, spec: Column, length: number): string | null {
  if (column === undefined) return 'is missing';
  const found = lengthOf(column, spec.type);
  if (found !== length) return `has ${found} rows, the first column has ${length}`;
  return validProblem(column, spec, length) ?? contentProblem(column, spec.type, length);
}

function validProblem({ valid }: AnyArray, { nullable }: Column, length: number): string | null {
  if (valid === undefined || valid === null) return null;
  if (valid.length !== length) return `has ${valid.length} entries in valid for ${length} rows`;
  const missing = nullable ? -1 : valid.indexOf(0);
  return missing < 0 ? null : `is null at row ${missing}, but must have a value`;
}

function contentProblem(column: AnyArray, type: ColumnType, length: number): string | null {
  switch (type) {
    case 'name':
      return indexProblem(column, length);
    case 'text':
      return column.bytes instanceof Uint8Array
        ? offsetProblem(column.offsets, column.bytes.length)
        : 'has no bytes';
    case 'list_float64': {
      const values = column.values instanceof Float64Array ? column.values : null;
      if (values === null) return 'has no list of numbers';
      return offsetProblem(column.offsets, values.length) ?? finiteProblem(values, null);
    }
    default:
      if (!(column.values instanceof arrayTypes[type])) return `is no ${arrayTypes[type].name}`;
      return column.values instanceof Float64Array ? finiteProblem(column.values, column.valid) : null;
  }
}

function indexProblem({ indices, names, valid }: AnyArray, length: number): string | null {
  if (indices === undefined || names === undefined) return 'has no indices or no names';
  if (!(indices instanceof Uint8Array || indices instanceof Uint16Array)) return 'has no small whole indices';
  const known = names.length;
  for (let i = 0; i < length; i++) {
    if ((indices[i] ?? 0) >= known && valid?.[i] !== 0)
      return `has name ${indices[i]} of ${known} at row ${i}`;
  }
  return null;
}

function offsetProblem(offsets: Int32Array | undefined, end: number): string | null {
  if (!(offsets instanceof Int32Array)) return 'has no Int32Array of offsets';
  let last = 0;
  for (let i = 0; i < offsets.length; i++) {
    const offset = offsets[i] ?? 0;
    if (offset < last || offset > end) return `has offset ${offset} at row ${i}, not ${last} to ${end}`;
    last = offset;
  }
  return null;
}

function finiteProblem(values: Float64Array, valid: Uint8Array | null | undefined): string | null {
  for (let i = 0; i < values.length; i++) {
    if (!Number.isFinite(values[i]) && valid?.[i] !== 0)
      return `must be a finite number, not ${values[i]} at row ${i}`;
  }
  return null;
}
