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

/** Most rows of one record batch. */
export const BATCH_ROWS = 65_536;
const BATCH_CHARACTERS = 64 * 1024 * 1024;

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
  #written = { rows: 0, batches: 0 };
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
    return this.#rows.length + this.#samples.reduce((n, c) => n + c.columns.at_ns.length, 0);
  }

  /** Takes rows into the open batch, all or none: a wrong one throws a `TypeError` that names it. */
  append(rows: readonly RowOf<(typeof tables)[T]>[]): void {
    this.#mustBeOpen();
    if (this.#samples.length > 0) throw new Error(`${this.path}: flush the columns before you append rows`);
    checkRows(this.#options.table, rows);
    for (const row of rows) this.#rows.push(row);
  }

  /** Takes samples as typed arrays, all or none. The arrays are read at the next flush: don't reuse them before. */
  appendColumns(this: SegmentWriter<'samples'>, columns: SampleColumns, names: SampleNames): void {
    this.#mustBeOpen();
    if (this.#rows.length > 0) throw new Error(`${this.path}: flush the rows before you append columns`);
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
   * Writes what waits as record batches of at most 65,536 rows, syncs, and returns the number of rows written.
   * Throws `DISK_FULL` when there is no room; the file is then cut back to what was flushed before.
   */
  flush(): number {
    this.#mustBeOpen();
    if (this.pendingRows === 0) return 0;
    return this.#attempt(() => {
      let rows = 0;
      let batches = 0;
      for (const batch of this.#batches()) {
        this.#stream.write(batch);
        rows += batch.numRows;
        batches += 1;
      }
      this.#stream.flush();
      this.#rows = [];
      this.#samples = [];
      this.#written = { rows: this.#written.rows + rows, batches: this.#written.batches + batches };
      return rows;
    });
  }

  /** Flushes, ends the stream and says what the file holds. A second call returns the same. */
  close(): SegmentEntry {
    if (this.#entry !== null) return this.#entry;
    this.flush();
    this.#attempt(() => {
      this.#stream.finish();
      this.#stream.flush();
    });
    closeSync(this.#fd);
    const { file, table, sitting } = this.#options;
    const { durableBytes: bytes } = this.#stream;
    this.#entry = { file, table, sitting, ...this.#written, bytes, sha256: this.#stream.digest() };
    return this.#entry;
  }

  *#batches(): Generator<RecordBatch> {
    const context = { schema: this.#schema, dictionaries: this.#dictionaries };
    for (const chunks of groupSamples(this.#samples, BATCH_ROWS)) yield encodeSamples(chunks, context);
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

  #mustBeOpen(): void {
    if (this.#failure !== null) throw this.#failure;
    if (this.#entry !== null) throw new Error(`${this.path} is closed`);
  }

  /** Runs one durable step. When it fails, the file is cut back to the last step that didn't, and closed for good. */
  #attempt<R>(step: () => R): R {
    try {
      return step();
    } catch (error) {
      this.#failure = fileError(error, this.path);
      abandon(this.#fd, this.#stream.durableBytes);
      throw this.#failure;
    }
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
