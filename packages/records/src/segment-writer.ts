import { closeSync, ftruncateSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  arrowSchema,
  type ChannelColumns,
  type ChannelInfo,
  type Column,
  channelRows,
  PerwattError,
  type RowOf,
  type SampleColumns,
  systemCode,
  type TableName,
  tables,
} from '@perwatt/core';
import type { RecordBatch, Schema } from 'apache-arrow';
import { checkRows } from './check-rows.js';
import { makeFolder, syncFolder } from './durable-file.js';
import { encodeArrays } from './encode-arrays.js';
import { type Dictionaries, dictionariesOf, encodeRows } from './encode-rows.js';
import {
  checkSamples,
  encodeSamples,
  groupSamples,
  type SampleChunk,
  type SampleNames,
} from './encode-samples.js';
import { fileError } from './file-errors.js';
import type { SegmentEntry } from './manifest.js';
import { SyncStreamWriter } from './sync-stream-writer.js';
import { type ArrayChunk, type ArraysOf, checkArrays } from './table-arrays.js';

/** Most rows of one record batch. */
export const BATCH_ROWS = 65_536;
const BATCH_CHARACTERS = 64 * 1024 * 1024;
const arrayLimits = { rows: BATCH_ROWS, text_bytes: BATCH_CHARACTERS };

interface Written {
  readonly rows: number;
  readonly batches: number;
}

/** Which segment is written, and where. */
export interface SegmentOptions<T extends TableName> {
  readonly folder: string;
  /** File name within `folder`, for example `calls-0.arrows`. It must not exist. */
  readonly file: string;
  readonly table: T;
  readonly sitting: number;
  /** Goes into the file's metadata beside `table`, `schema_version` and `sitting`. */
  readonly metadata: Readonly<Record<string, string>>;
}

/**
 * One Arrow stream segment being written. Rows wait in memory until `flush`, which returns when they are on the disk.
 * After an error of `flush` or `close` the segment takes no more rows; what had been flushed stays readable.
 */
export class SegmentWriter<T extends TableName> {
  readonly path: string;
  readonly #options: SegmentOptions<T>;
  readonly #schema: Schema;
  readonly #dictionaries: Dictionaries;
  readonly #textColumns: readonly string[];
  readonly #fd: number;
  readonly #stream: SyncStreamWriter;
  #rows: RowOf<(typeof tables)[T]>[] = [];
  #samples: SampleChunk[] = [];
  #arrays: ArrayChunk[] = [];
  #written = { rows: 0, batches: 0 };
  #busy = false;
  #failure: unknown = null;
  #entry: SegmentEntry | null = null;

  private constructor(options: SegmentOptions<T>, fd: number) {
    const { table, sitting, metadata } = options;
    this.path = join(options.folder, options.file);
    this.#options = options;
    this.#schema = arrowSchema(table, { sitting: String(sitting), ...metadata });
    this.#dictionaries = dictionariesOf(table);
    this.#textColumns = Object.entries<Column>(tables[table]).flatMap(([name, { type }]) =>
      type === 'text' ? [name] : [],
    );
    this.#fd = fd;
    this.#stream = new SyncStreamWriter(fd, this.#schema);
  }

  /**
   * Creates the file with its schema, durably. Throws `RUN_IN_USE` when it exists, `DISK_FULL` when there is no room
   * (and leaves no file then).
   */
  static create<T extends TableName>(options: SegmentOptions<T>): SegmentWriter<T> {
    const path = join(options.folder, options.file);
    const fd = openNew(options.folder, path);
    const writer = new SegmentWriter(options, fd);
    try {
      writer.#attempt(() => writer.#stream.flush());
      syncFolder(options.folder);
      return writer;
    } catch (error) {
      rmSync(path, { force: true });
      throw error;
    }
  }

  /** Rows that wait for a flush. */
  get pendingRows(): number {
    const samples = this.#samples.reduce((n, c) => n + c.columns.at_ns.length, 0);
    return this.#rows.length + samples + this.#arrays.reduce((n, c) => n + c.length, 0);
  }

  /** Takes rows into the open batch, all or none: a wrong one throws a `TypeError` that names it. */
  append(rows: readonly RowOf<(typeof tables)[T]>[]): void {
    this.#mustBeOpen();
    this.#mustWaitAs('rows');
    checkRows(this.#options.table, rows);
    for (const row of rows) this.#rows.push(row);
  }

  /** Takes samples as typed arrays, all or none. The arrays are read at the next flush: don't reuse them before. */
  appendColumns(this: SegmentWriter<'samples'>, columns: SampleColumns, names: SampleNames): void {
    this.#mustBeOpen();
    this.#mustWaitAs('samples');
    checkSamples({ columns, names });
    if (columns.at_ns.length > 0) this.#samples.push({ columns, names });
  }

  /** Takes channel readings as a recorder hands them over, all or none; `channels` are the recorder's. */
  appendChannels(
    this: SegmentWriter<'channels'>,
    columns: ChannelColumns,
    channels: readonly ChannelInfo[],
  ): void {
    this.append(channelRows(columns, channels));
  }

  /**
   * Takes rows as typed arrays, one for each column of the table, all or none: a wrong one throws a `TypeError` that names
   * it. Some 50 times faster than `append`, and each call makes batches of its own. The arrays are read at the next flush:
   * don't reuse them before.
   */
  appendArrays(columns: ArraysOf<(typeof tables)[T]>): void {
    this.#mustBeOpen();
    this.#mustWaitAs('arrays');
    const chunk = checkArrays(this.#options.table, columns);
    if (chunk.length > 0) this.#arrays.push(chunk);
  }

  /**
   * Writes what waits as record batches of at most 65,536 rows, syncs, and returns the number of rows written.
   * Throws `DISK_FULL` when there is no room; the file is then cut back to what was flushed before.
   */
  flush(): number {
    this.#mustBeOpen();
    if (this.pendingRows === 0) return 0;
    return this.#attempt(() => {
      const wrote = this.#encode();
      this.#stream.flush();
      return this.#count(wrote);
    });
  }

  /** Flushes, ends the stream and says what the file holds. A second call returns the same. */
  close(): SegmentEntry {
    if (this.#entry !== null) return this.#entry;
    this.#mustBeOpen();
    this.#attempt(() => {
      const wrote = this.#encode();
      this.#stream.finish();
      this.#stream.flush();
      this.#count(wrote);
    });
    return this.#ended();
  }

  /**
   * Like `close`, while the caller goes on with other things: the disk works meanwhile. Until it is done the arrays given
   * to this segment must stay as they are, and the segment takes nothing.
   */
  async closeLater(): Promise<SegmentEntry> {
    if (this.#entry !== null) return this.#entry;
    this.#mustBeOpen();
    this.#busy = true;
    try {
      const wrote = this.#encode();
      this.#stream.finish();
      await this.#stream.flushLater();
      this.#count(wrote);
    } catch (error) {
      throw this.#failed(error);
    } finally {
      this.#busy = false;
    }
    return this.#ended();
  }

  #ended(): SegmentEntry {
    closeSync(this.#fd);
    const { file, table, sitting } = this.#options;
    const { durableBytes: bytes } = this.#stream;
    this.#entry = { file, table, sitting, ...this.#written, bytes, sha256: this.#stream.digest() };
    return this.#entry;
  }

  /** Hands what waits to the stream, which doesn't write it yet. */
  #encode(): Written {
    let [rows, batches] = [0, 0];
    for (const batch of this.#batches()) {
      this.#stream.write(batch);
      rows += batch.numRows;
      batches += 1;
    }
    return { rows, batches };
  }

  /** Counts what is on the disk now; nothing waits any more. Returns its rows. */
  #count({ rows, batches }: Written): number {
    this.#rows = [];
    this.#samples = [];
    this.#arrays = [];
    this.#written = { rows: this.#written.rows + rows, batches: this.#written.batches + batches };
    return rows;
  }

  *#batches(): Generator<RecordBatch> {
    const context = { schema: this.#schema, dictionaries: this.#dictionaries };
    for (const chunks of groupSamples(this.#samples, BATCH_ROWS)) yield encodeSamples(chunks, context);
    for (const chunk of this.#arrays)
      yield* encodeArrays(this.#options.table, chunk, { ...context, limits: arrayLimits });
    for (let at = 0; at < this.#rows.length; ) {
      const end = this.#batchEnd(at);
      yield encodeRows(this.#options.table, this.#rows.slice(at, end), context);
      at = end;
    }
  }

  /** Where the batch that starts at `start` ends: by rows, or earlier where its texts are long. */
  #batchEnd(start: number): number {
    const most = Math.min(this.#rows.length, start + BATCH_ROWS);
    let characters = 0;
    for (let end = start; end < most; end++) {
      const row = this.#rows[end] as Readonly<Record<string, unknown>>;
      for (const name of this.#textColumns) characters += (row[name] as string | null)?.length ?? 0;
      if (characters > BATCH_CHARACTERS && end > start) return end;
    }
    return most;
  }

  /** Rows of different make don't wait together: their order would be lost. */
  #mustWaitAs(kind: 'rows' | 'samples' | 'arrays'): void {
    const waiting = { rows: this.#rows, samples: this.#samples, arrays: this.#arrays };
    for (const [other, { length }] of Object.entries(waiting)) {
      if (other !== kind && length > 0)
        throw new Error(`${this.path}: flush the ${other} before you append ${kind}`);
    }
  }

  #mustBeOpen(): void {
    if (this.#failure !== null) throw this.#failure;
    if (this.#entry !== null) throw new Error(`${this.path} is closed`);
    if (this.#busy) throw new Error(`${this.path} is being closed`);
  }

  /** Runs one durable step. When it fails, the file is cut back to the last step that didn't, and closed for good. */
  #attempt<R>(step: () => R): R {
    try {
      return step();
    } catch (error) {
      throw this.#failed(error);
    }
  }

  #failed(error: unknown): unknown {
    this.#failure = fileError(error, this.path);
    abandon(this.#fd, this.#stream.durableBytes);
    return this.#failure;
  }
}

function openNew(folder: string, path: string): number {
  try {
    makeFolder(folder);
    return openSync(path, 'wx');
  } catch (error) {
    if (systemCode(error) === 'EEXIST') {
      throw new PerwattError('RUN_IN_USE', `segment ${path} exists already`, { cause: error });
    }
    throw fileError(error, path);
  }
}

function abandon(fd: number, bytes: number): void {
  try {
    ftruncateSync(fd, bytes);
  } catch {
    // The file keeps a torn tail, which a reader leaves out.
  } finally {
    closeSync(fd);
  }
}
