import { type Column, type RowOf, type TableName, tables } from '@perwatt/core';
import type { Data, RecordBatch, Utf8 } from 'apache-arrow';

/** The rows of one batch as objects. A nullable column that the batch lacks reads as null; unknown columns are left out. */
export function decodeRows<T extends TableName>(batch: RecordBatch, table: T): RowOf<(typeof tables)[T]>[] {
  const columns = Object.entries<Column>(tables[table]);
  // Copies of one object share its shape; 45 keys set one by one would make a hash table of every row.
  const blank: Record<string, unknown> = Object.fromEntries(columns.map(([name]) => [name, null]));
  const rows = Array.from({ length: batch.numRows }, () => ({ ...blank }));
  for (const [name, column] of columns) {
    const at = batch.schema.fields.findIndex((field) => field.name === name);
    const cell = cellReader(name, column, batch.data.children[at]);
    for (let i = 0; i < rows.length; i++) (rows[i] ?? blank)[name] = cell(i);
  }
  return rows as RowOf<(typeof tables)[T]>[];
}

type CellReader = (index: number) => unknown;

function cellReader(name: string, column: Column, data: Data | undefined): CellReader {
  if (data === undefined) {
    if (column.nullable) return () => null;
    throw new Error(`column "${name}" is missing`);
  }
  const value = valueReader(column, data);
  return data.nullCount === 0 ? value : (i) => (data.getValid(i) ? value(i) : null);
}

function valueReader({ type }: Column, data: Data): CellReader {
  switch (type) {
    case 'name': {
      const names = namesOf(data);
      return (i) => names[data.values[i]] ?? outside(data.values[i], names.length);
    }
    case 'text':
      return textReader(data);
    case 'bool':
      return (i) => ((data.values[i >> 3] >> (i & 7)) & 1) === 1;
    case 'list_float64': {
      const { valueOffsets, children } = data;
      const values: Float64Array = children[0]?.values ?? new Float64Array();
      return (i) => Array.from(values.subarray(valueOffsets[i], valueOffsets[i + 1]));
    }
    default:
      return (i) => data.values[i];
  }
}

function textReader({ values, valueOffsets }: Data): (index: number) => string {
  const bytes = Buffer.from(values.buffer, values.byteOffset, values.byteLength);
  return (i) => bytes.toString('utf8', valueOffsets[i], valueOffsets[i + 1]);
}

const decoded = new WeakMap<Data, readonly string[]>();

/** The names that a dictionary column's indices point to. */
export function namesOf(column: Data): readonly string[] {
  const chunks: readonly Data<Utf8>[] = column.dictionary?.data ?? [];
  const [first] = chunks;
  return chunks.length === 1 && first !== undefined ? chunkNames(first) : chunks.flatMap(chunkNames);
}

function chunkNames(chunk: Data<Utf8>): readonly string[] {
  const known = decoded.get(chunk);
  if (known !== undefined) return known;
  const names = Array.from({ length: chunk.length }, (_, i) => textReader(chunk)(i));
  decoded.set(chunk, names);
  return names;
}

function outside(index: number, names: number): never {
  throw new RangeError(`name ${index} of ${names}`);
}
