import type { DuckDBDataChunk, DuckDBType } from '@duckdb/node-api';
import type { Vector } from '@duckdb/node-bindings';
import { type Column, type ColumnType, type TableName, tables } from '@perwatt/core';
import type { Data, RecordBatch } from 'apache-arrow';
import { namesOf } from './decode-rows.js';
import { type Database, quoted } from './sql-engine.js';

/** Rows of one table on their way into a database. Names are staged as numbers; `select` turns them back. */
export interface StagedTable {
  /** Takes a batch, whole or not at all: throws when a column that must be there is missing. */
  append(batch: RecordBatch): void;
  /** Rows taken so far. */
  readonly rows: number;
  /** The query that gives the rows in their order, with the table's own columns. */
  select(): string;
  drop(): Promise<void>;
}

const sqlTypes = {
  name: 'UINTEGER',
  text: 'VARCHAR',
  bool: 'BOOLEAN',
  uint8: 'UTINYINT',
  uint16: 'USMALLINT',
  uint32: 'UINTEGER',
  uint64: 'UBIGINT',
  int64: 'BIGINT',
  float64: 'DOUBLE',
  list_float64: 'DOUBLE[]',
} as const satisfies Readonly<Record<ColumnType, string>>;

/** The SQL type of a column as a reader of the tables sees it. */
export const sqlType = (type: ColumnType): string => (type === 'name' ? 'VARCHAR' : sqlTypes[type]);

const STAGE = 'staged';

const chunks = new WeakMap<Database, Map<TableName, DuckDBDataChunk>>();

/**
 * The chunk that rows of a table pass through on their way into a database. One serves every stage of the table: it is freed only
 * by the garbage collector, which doesn't know how much memory stands behind it.
 */
function chunkOf(db: Database, table: TableName): DuckDBDataChunk {
  const own = chunks.get(db) ?? new Map<TableName, DuckDBDataChunk>();
  chunks.set(db, own);
  const types = () => Object.values<Column>(tables[table]).map(({ type }) => duckType(db, type));
  const chunk = own.get(table) ?? db.engine.api.DuckDBDataChunk.create(types());
  own.set(table, chunk);
  return chunk;
}

/** Makes an empty stage for rows of `table`; one at a time in a database. */
export async function stageTable(db: Database, table: TableName): Promise<StagedTable> {
  const { bindings } = db.engine;
  const columns = Object.entries<Column>(tables[table]);
  const definitions = columns.map(([name, { type }]) => `"${name}" ${sqlTypes[type]}`);
  await db.connection.run(`CREATE OR REPLACE TABLE ${STAGE} (${definitions.join(', ')})`);
  const appender = await db.connection.createAppender(STAGE);
  const chunk = chunkOf(db, table);
  const words = new Map(
    columns.flatMap(([name, { type }]) => (type === 'name' ? [[name, new Words()]] : [])),
  );
  const most = bindings.vector_size();
  let rows = 0;
  let closed = false;

  const fill = (data: readonly (Data | null)[], codes: readonly (Uint32Array | null)[], span: Span) => {
    chunk.reset();
    chunk.rowCount = span.length;
    columns.forEach(([, { type }], i) => {
      const target: Target = { db, vector: bindings.data_chunk_get_vector(chunk.chunk, i), span };
      const column = data[i] ?? null;
      copyValidity(target, column);
      if (column !== null) copyValues(target, { type, column, codes: codes[i] ?? null });
    });
    appender.appendDataChunk(chunk);
  };

  return {
    append(batch) {
      const data = columns.map(([name, column]) => dataOf(batch, name, column));
      const codes = columns.map(([name], i) => words.get(name)?.codes(data[i] ?? null) ?? null);
      for (let start = 0; start < batch.numRows; start += most) {
        fill(data, codes, { start, length: Math.min(most, batch.numRows - start) });
      }
      rows += batch.numRows;
    },
    get rows() {
      return rows;
    },
    select() {
      if (!closed) appender.closeSync();
      closed = true;
      const shown = columns.map(([name]) => `${words.get(name)?.decoded(name) ?? `"${name}"`} AS "${name}"`);
      return `SELECT ${shown.join(', ')} FROM ${STAGE}`;
    },
    async drop() {
      if (!closed) appender.closeSync();
      closed = true;
      await db.connection.run(`DROP TABLE IF EXISTS ${STAGE}`);
    },
  };
}

function duckType({ engine: { api } }: Database, type: ColumnType): DuckDBType {
  const types: Readonly<Record<ColumnType, DuckDBType>> = {
    name: api.UINTEGER,
    text: api.VARCHAR,
    bool: api.BOOLEAN,
    uint8: api.UTINYINT,
    uint16: api.USMALLINT,
    uint32: api.UINTEGER,
    uint64: api.UBIGINT,
    int64: api.BIGINT,
    float64: api.DOUBLE,
    list_float64: api.LIST(api.DOUBLE),
  };
  return types[type];
}

/** A column of a batch; null for one that an older writer didn't have. */
function dataOf(batch: RecordBatch, name: string, { nullable }: Column): Data | null {
  const data = batch.data.children[batch.schema.fields.findIndex((field) => field.name === name)];
  if (data === undefined && !nullable) throw new Error(`column "${name}" is missing`);
  return data ?? null;
}

/** The distinct names of one column over all batches, and the numbers that stand for them. */
class Words {
  readonly #numbers = new Map<string, number>();

  /** For each row of a batch the number of its name; 0 where it is null. */
  codes(data: Data | null): Uint32Array | null {
    if (data === null) return null;
    const places = Uint32Array.from(namesOf(data), (name) => this.#numberOf(name));
    const indices: Uint16Array = data.values;
    const codes = new Uint32Array(data.length);
    for (let i = 0; i < codes.length; i++) {
      const index = indices[i] ?? 0;
      if (index >= places.length && data.getValid(i))
        throw new RangeError(`name ${index} of ${places.length}`);
      codes[i] = places[index] ?? 0;
    }
    return codes;
  }

  #numberOf(name: string): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    const number = this.#numbers.size;
    this.#numbers.set(name, number);
    return number;
  }

  /** The expression that turns the staged numbers of `column` back into names. */
  decoded(column: string): string {
    const names = [...this.#numbers.keys()].map(quoted);
    if (names.length === 0) return 'NULL::VARCHAR';
    if (names.length === 1) return `CASE WHEN "${column}" IS NOT NULL THEN ${names[0]} END`;
    return `list_extract([${names.join(', ')}], "${column}"::BIGINT + 1)`;
  }
}

interface Span {
  readonly start: number;
  readonly length: number;
}

interface Target {
  readonly db: Database;
  readonly vector: Vector;
  readonly span: Span;
}

/** Marks which rows are there. `start` is a multiple of 8, so that the bits lie as Arrow has them. */
function copyValidity({ db, vector, span: { start, length } }: Target, column: Data | null): void {
  if (column !== null && column.nullCount === 0) return;
  const { bindings } = db.engine;
  const bytes = (length + 7) >> 3;
  bindings.vector_ensure_validity_writable(vector);
  const bits = column === null ? new Uint8Array(bytes) : alignedBits(column).subarray(start >> 3);
  bindings.copy_data_to_vector_validity(vector, 0, bits.buffer as ArrayBuffer, bits.byteOffset, bytes);
}

function alignedBits({ nullBitmap, offset }: Data): Uint8Array {
  if (offset % 8 !== 0) throw new RangeError('a batch of a segment starts within a byte');
  return (nullBitmap ?? new Uint8Array()).subarray(offset >> 3);
}

interface Source {
  readonly type: ColumnType;
  readonly column: Data;
  readonly codes: Uint32Array | null;
}

function copyValues(target: Target, { type, column, codes }: Source): void {
  const { start, length } = target.span;
  if (type === 'text') copyTexts(target, column);
  else if (type === 'list_float64') copyLists(target, column);
  else if (type === 'bool') copyArray(target, unpacked(column.values, target.span));
  else copyArray(target, (codes ?? column.values).subarray(start, start + length));
}

function copyArray({ db, vector }: Target, { buffer, byteOffset, byteLength }: ArrayBufferView): void {
  db.engine.bindings.copy_data_to_vector(vector, 0, buffer as ArrayBuffer, byteOffset, byteLength);
}

function copyTexts({ db, vector, span: { start, length } }: Target, column: Data): void {
  const { bindings } = db.engine;
  const { values, valueOffsets } = column;
  for (let i = 0; i < length; i++) {
    if (column.nullCount > 0 && !column.getValid(start + i)) continue;
    const text = values.subarray(valueOffsets[start + i], valueOffsets[start + i + 1]);
    bindings.vector_assign_string_element_len(vector, i, text);
  }
}

function unpacked(bits: Uint8Array, { start, length }: Span): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let i = 0; i < length; i++) bytes[i] = ((bits[(start + i) >> 3] ?? 0) >> ((start + i) & 7)) & 1;
  return bytes;
}

function copyLists(target: Target, { valueOffsets, children }: Data): void {
  const { db, vector, span } = target;
  const { bindings } = db.engine;
  const offsets: Int32Array = valueOffsets;
  const values: Float64Array = children[0]?.values ?? new Float64Array();
  const first = offsets[span.start] ?? 0;
  const total = (offsets[span.start + span.length] ?? first) - first;
  const entries = new BigUint64Array(2 * span.length);
  for (let i = 0; i < span.length; i++) {
    const from = offsets[span.start + i] ?? 0;
    entries[2 * i] = BigInt(from - first);
    entries[2 * i + 1] = BigInt((offsets[span.start + i + 1] ?? from) - from);
  }
  copyArray(target, entries);
  bindings.list_vector_reserve(vector, total);
  bindings.list_vector_set_size(vector, total);
  if (total === 0) return;
  const child = { ...target, vector: bindings.list_vector_get_child(vector) };
  copyArray(child, values.subarray(first, first + total));
}
