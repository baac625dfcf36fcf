import { type Column, type Table, type TableName, tables } from '@perwatt/core';
import type { Data, RecordBatch, Utf8 } from 'apache-arrow';
import { namesOf } from './decode-rows.js';
import type { RunFolder } from './run-folder.js';
import { cellSegments } from './run-segments.js';
import { scanSegment } from './scan-segment.js';

/** One batch of rows as columns: for tables too long for an object a row. Asking for a column of another kind throws. */
export interface ColumnBatch {
  readonly rows: number;
  /** Numbers of a column; 64-bit integers as numbers, less `zero` before rounding. Null where there is none. */
  number(column: string, zero?: bigint): (row: number) => number | null;
  /** 64-bit integers as they are. */
  stamp(column: string): (row: number) => bigint | null;
  /** Texts of a column of names or texts. */
  text(column: string): (row: number) => string | null;
}

/**
 * Reads a table of a cell batch by batch, in the order in which it was written; a torn tail is left out. Returns the number
 * of rows. Throws what `onBatch` throws, and as `scanSegment` does.
 */
export function scanColumns(
  run: RunFolder,
  { cellId, table }: { readonly cellId: string; readonly table: 'calls' | 'queries' | 'replayed' },
  onBatch: (batch: ColumnBatch) => void,
): number {
  let rows = 0;
  let failure: { readonly error: unknown } | null = null;
  // A scan takes what its visitor throws for damage of the file.
  const visit = (batch: RecordBatch) => {
    if (failure !== null) return;
    try {
      onBatch(columnsOf(batch, table));
    } catch (error) {
      failure = { error };
    }
  };
  for (const { path, entry } of cellSegments(run, run.readCell(cellId), table)) {
    rows += scanSegment(path, { table, entry: entry ?? undefined, onBatch: visit }).rows;
    if (failure !== null) throw (failure as { readonly error: unknown }).error;
  }
  return rows;
}

const notNumbers: ReadonlySet<Column['type']> = new Set(['name', 'text', 'bool', 'list_float64']);

/** The columns of a batch of rows of `table`. */
export function columnsOf(batch: RecordBatch, table: TableName): ColumnBatch {
  const find = (name: string): { readonly data: Data | undefined; readonly spec: Column } => {
    const spec = (tables[table] as Table)[name];
    if (spec === undefined) throw new TypeError(`table ${table} has no column "${name}"`);
    return { spec, data: batch.data.children[batch.schema.fields.findIndex((f) => f.name === name)] };
  };
  return {
    rows: batch.numRows,
    number(name, zero = 0n) {
      const { data, spec } = find(name);
      if (notNumbers.has(spec.type)) throw new TypeError(`column "${name}" holds no numbers`);
      if (data === undefined) return () => null;
      const { values } = data;
      const isBig = spec.type === 'int64' || spec.type === 'uint64';
      const value = isBig
        ? (row: number) => Number(values[row] - zero)
        : (row: number) => Number(values[row]);
      return whereValid(data, value);
    },
    stamp(name) {
      const { data, spec } = find(name);
      if (spec.type !== 'int64') throw new TypeError(`column "${name}" holds no stamps`);
      if (data === undefined) return () => null;
      return whereValid<bigint>(data, (row) => data.values[row]);
    },
    text(name) {
      const { data, spec } = find(name);
      if (data === undefined) return () => null;
      if (spec.type === 'name') {
        const names = namesOf(data);
        return whereValid(data, (row) => names[data.values[row]] ?? null);
      }
      if (spec.type !== 'text') throw new TypeError(`column "${name}" holds no texts`);
      const { values, valueOffsets } = data as Data<Utf8>;
      const bytes = Buffer.from(values.buffer, values.byteOffset, values.byteLength);
      return whereValid(data, (row) => bytes.toString('utf8', valueOffsets[row], valueOffsets[row + 1]));
    },
  };
}

const whereValid = <T>(data: Data, value: (row: number) => T): ((row: number) => T | null) =>
  data.nullCount === 0 ? value : (row) => (data.getValid(row) ? value(row) : null);
