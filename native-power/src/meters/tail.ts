import { type FileHandle, open } from 'node:fs/promises';
import { instant, PerwattError, type Recorder, systemCode } from '@perwatt/core';
import { type FeedRecorder, feedRecorder } from '../feed-recorder.js';
import { lineSplitter } from '../line-splitter.js';
import { rest } from './backoff.js';
import {
  type MeterOptions,
  type MeterSource,
  type MeterWorld,
  meterDomain,
  periodNs,
  refuse,
} from './meter.js';
import { kindOf } from './quantity.js';
import { type Row, type RowFormat, rowReader } from './row-format.js';

/** A file that something else appends rows to. */
export interface TailOptions extends MeterOptions, RowFormat {
  readonly path: string;
  /** How far the clock that stamps the rows is ahead of this host's wall clock, ms; default 0. */
  readonly clock_offset_ms?: number;
}

/** Rows that came and rows that could not be used. */
export interface TailCounts {
  readonly rows: number;
  /** Rows that aren't what was declared, and a last one that never ended. */
  readonly dropped: number;
}

/** A recorder that also says how many rows it dropped. */
export interface TailRecorder extends Recorder {
  counts(): TailCounts;
}

const longestRow = 1 << 16;
const chunkBytes = 1 << 16;
const mostChunks = 64;

/** A meter that writes CSV or JSON lines to a file. Rows from before the start are skipped; a file that is cut or replaced is read from its beginning. */
export function tailMeter(
  options: TailOptions,
  world: MeterWorld,
): MeterSource & { start(options?: { readonly period_ns?: number }): TailRecorder } {
  const { unit, path } = options;
  const domains = [meterDomain(options, { kind: kindOf(unit), note: `rows of ${path}, in ${unit}` })];
  const default_period_ns = periodNs(options);
  return {
    name: options.id,
    provenance: 'external',
    default_period_ns,
    start({ period_ns = default_period_ns } = {}) {
      const stopping = new AbortController();
      const recorder = feedRecorder({
        source: options.id,
        domains,
        period_ns,
        clock: world.clock,
        onStop: () => stopping.abort(),
      });
      const follower = rowFollower(options);
      void follow({ options, world, recorder, follower, stopping: stopping.signal });
      return { ...recorder, counts: () => follower.counts() };
    },
    async check() {
      try {
        await (await open(path, 'r')).close();
      } catch (error) {
        refuse(options.id, `${path}: ${systemCode(error) ?? 'unreadable'}`, error);
      }
    },
  };
}

interface Following {
  readonly options: TailOptions;
  readonly world: MeterWorld;
  readonly recorder: FeedRecorder;
  readonly follower: RowFollower;
  readonly stopping: AbortSignal;
}

/** Moves rows from the file to the recorder until that stops. A file that can't be read is a missing reading. */
async function follow({ options, world, recorder, follower, stopping }: Following): Promise<void> {
  const { clock, wallNs } = world;
  const ahead = BigInt(Math.round((options.clock_offset_ms ?? 0) * 1e6));
  try {
    while (!stopping.aborted) {
      const before = clock.now();
      const problem = await read(follower, (row) => {
        const at = instant(row.wall_ns - ahead - (wallNs() - clock.now()));
        recorder.push({ before: at, after: at, values: [row.value] });
      });
      if (problem !== null) recorder.push({ before, after: clock.now(), values: [{ missing: problem }] });
      await rest(recorder.period_ns / 1e6, stopping);
    }
  } finally {
    await follower.close();
  }
}

async function read(follower: RowFollower, take: (row: Row) => void): Promise<string | null> {
  try {
    for (const row of await follower.read()) take(row);
    return null;
  } catch (error) {
    const code = systemCode(error);
    if (code === null && !(error instanceof PerwattError)) throw error;
    return code === 'ENOENT' ? 'absent' : `${code ?? 'unreadable'}`;
  }
}

/** Reads what is appended to a file. */
export interface RowFollower {
  /** The rows that were completed since the last call. Rejects with the system's error. */
  read(): Promise<Row[]>;
  counts(): TailCounts;
  /** Ends it: a row that never ended is dropped and counted. Safe to call twice. */
  close(): Promise<void>;
}

/** Follows a file from its end, or from its beginning with `whole`. */
export function rowFollower(options: RowFormat & { readonly path: string }, whole = false): RowFollower {
  let file: FileHandle | null = null;
  let inode = 0n;
  let offset = 0;
  let splitter = lineSplitter(longestRow);
  let rows = rowReader(options);
  let rowCount = 0;
  let dropped = 0;
  let first = true;
  const abandon = async () => {
    dropped += (splitter.pending > 0 ? 1 : 0) + splitter.overlong;
    splitter = lineSplitter(longestRow);
    rows = rowReader(options);
    offset = 0;
    await file?.close();
    file = null;
  };
  const reopen = async (): Promise<FileHandle> => {
    const handle = await open(options.path, 'r');
    const { ino, size } = await handle.stat({ bigint: true });
    if (file !== null && ino === inode && size >= BigInt(offset)) {
      await handle.close();
      return file;
    }
    if (file !== null) await abandon();
    file = handle;
    inode = ino;
    if (first && !whole) offset = await skip(handle, { rows, size: Number(size) });
    first = false;
    return handle;
  };
  const take = (line: string): Row[] => {
    const row = rows.take(line);
    if (row === 'header') return [];
    rowCount += 1;
    if (row !== null) return [row];
    dropped += 1;
    return [];
  };
  return {
    async read() {
      const handle = await reopen();
      const found: Row[] = [];
      const buffer = Buffer.alloc(chunkBytes);
      for (let i = 0; i < mostChunks; i += 1) {
        const { bytesRead } = await handle.read(buffer, 0, chunkBytes, offset);
        if (bytesRead === 0) break;
        offset += bytesRead;
        found.push(...splitter.push(buffer.subarray(0, bytesRead)).flatMap(take));
      }
      return found;
    },
    counts: () => ({ rows: rowCount, dropped: dropped + splitter.overlong }),
    close: abandon,
  };
}

/** Where the rows that will be appended begin: after the last line end. The first line may be a header, which is read. */
async function skip(
  handle: FileHandle,
  { rows, size }: { readonly rows: ReturnType<typeof rowReader>; readonly size: number },
): Promise<number> {
  const head = Buffer.alloc(Math.min(size, longestRow));
  await handle.read(head, 0, head.length, 0);
  const [line] = lineSplitter(longestRow).push(head);
  if (line === undefined) return 0;
  rows.take(line);
  const tail = Buffer.alloc(Math.min(size, longestRow));
  await handle.read(tail, 0, tail.length, size - tail.length);
  return size - tail.length + tail.lastIndexOf(10) + 1;
}
