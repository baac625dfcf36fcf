import { closeSync, fsyncSync, openSync } from 'node:fs';
import type { ColumnType } from '@perwatt/core';
import {
  Bool,
  type DataType,
  Field,
  Float64,
  Int64,
  List,
  type RecordBatch,
  RecordBatchFileWriter,
  RecordBatchStreamWriter,
  Schema,
  Uint8,
  Uint16,
  Uint32,
  Uint64,
  Utf8,
  util,
} from 'apache-arrow';
import { writeFully } from './durable-file.js';
import { batchOf, encodeColumn } from './encode-rows.js';

/** How the SQL types of our views are stored in Arrow: names as plain text, so that every reader takes them. */
const arrowOf: Readonly<Record<string, readonly [ColumnType, () => DataType]>> = {
  VARCHAR: ['text', () => new Utf8()],
  BOOLEAN: ['bool', () => new Bool()],
  UTINYINT: ['uint8', () => new Uint8()],
  USMALLINT: ['uint16', () => new Uint16()],
  UINTEGER: ['uint32', () => new Uint32()],
  UBIGINT: ['uint64', () => new Uint64()],
  BIGINT: ['int64', () => new Int64()],
  DOUBLE: ['float64', () => new Float64()],
  'DOUBLE[]': ['list_float64', () => new List(new Field('item', new Float64(), false))],
};

/** Where Arrow batches go. */
interface Sink {
  write(batch: RecordBatch): void;
  finish(): void;
}

const BATCH_ROWS = 65_536;

export interface ArrowExport {
  readonly path: string;
  /** The file format has an index at its end; the stream format is what `datasets` maps into memory. */
  readonly format: 'file' | 'stream';
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly rows: AsyncIterable<readonly (readonly unknown[])[]>;
}

/** Writes rows as an Arrow file of plain columns, synced, and returns their number. */
export async function writeArrow({ path, format, columns, rows }: ArrowExport): Promise<number> {
  const stored = columns.map(({ name, type }) => {
    const [column, make] = arrowOf[type] ?? ['text', () => new Utf8()];
    return { name, column, type: make() };
  });
  const schema = new Schema(stored.map(({ name, type }) => new Field(name, type, true)));
  const fd = openSync(path, 'w');
  try {
    const sink = openSink(fd, schema, format);
    const encode = (held: readonly (readonly unknown[])[]): RecordBatch => {
      const children = stored.map(({ column, type }, i) =>
        encodeColumn({ type: column, nullable: true, unit: '', doc: '' }, valuesOf(held, i, column), {
          type,
          dictionary: undefined,
        }),
      );
      return batchOf(schema, held.length, children);
    };
    let held: (readonly unknown[])[] = [];
    let written = 0;
    const flush = () => {
      if (held.length > 0) sink.write(encode(held));
      written += held.length;
      held = [];
    };
    for await (const some of rows) {
      for (const row of some) held.push(row);
      if (held.length >= BATCH_ROWS) flush();
    }
    flush();
    sink.finish();
    fsyncSync(fd);
    return written;
  } finally {
    closeSync(fd);
  }
}

function valuesOf(rows: readonly (readonly unknown[])[], i: number, column: ColumnType): unknown[] {
  if (column !== 'list_float64') return rows.map((row) => row[i] ?? null);
  return rows.map((row) => (row[i] as { readonly items: readonly number[] } | null)?.items ?? null);
}

type Chunk = Parameters<typeof util.toUint8Array>[0];

/** Both stock writers queue without bound; these write each message at once. */
function openSink(fd: number, schema: Schema, format: ArrowExport['format']): Sink {
  const Writer = format === 'file' ? SyncFile : SyncStream;
  const writer = new Writer({ autoDestroy: false });
  writer.fd = fd;
  writer.reset(undefined, schema);
  return writer;
}

class SyncFile extends RecordBatchFileWriter {
  fd = -1;
  protected override _write(chunk: Chunk): this {
    if (this._started) this._position += writeChunk(this.fd, chunk);
    return this;
  }
}

class SyncStream extends RecordBatchStreamWriter {
  fd = -1;
  protected override _write(chunk: Chunk): this {
    if (this._started) this._position += writeChunk(this.fd, chunk);
    return this;
  }
}

function writeChunk(fd: number, chunk: Chunk): number {
  const bytes = util.toUint8Array(chunk);
  writeFully(fd, [bytes]);
  return bytes.byteLength;
}
