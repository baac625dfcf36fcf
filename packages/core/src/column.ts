/**
 * How a column is stored. `name` is dictionary-encoded text (few distinct values: names), `text` is plain text.
 * 64-bit integers are bigint in rows, everything else is number, string or boolean.
 */
export type ColumnType =
  | 'name'
  | 'text'
  | 'bool'
  | 'uint8'
  | 'uint16'
  | 'uint32'
  | 'uint64'
  | 'int64'
  | 'float64'
  | 'list_float64';

/** What a value of each type is in a row. */
export interface ValueOf {
  name: string;
  text: string;
  bool: boolean;
  uint8: number;
  uint16: number;
  uint32: number;
  uint64: bigint;
  int64: bigint;
  float64: number;
  list_float64: readonly number[];
}

/** One column: its type, whether it may be null, its unit and its meaning. */
export interface Column<T extends ColumnType = ColumnType, N extends boolean = boolean> {
  readonly type: T;
  readonly nullable: N;
  /** SI symbol or the word counted; '' for a plain value. The column's name ends in it, lower case. */
  readonly unit: '' | 'J' | 'W' | 'ns' | 'tokens';
  readonly doc: string;
}

type Spec<T extends ColumnType> = readonly [type: T, unit: Column['unit'], doc: string];
/** A column that always has a value. */
export const req = <T extends ColumnType>(...[type, unit, doc]: Spec<T>): Column<T, false> => ({
  type,
  nullable: false,
  unit,
  doc,
});
/** A column whose value may be missing. */
export const opt = <T extends ColumnType>(...[type, unit, doc]: Spec<T>): Column<T, true> => ({
  type,
  nullable: true,
  unit,
  doc,
});
