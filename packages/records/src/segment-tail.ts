import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { messageOf, systemCode, type TableName } from '@perwatt/core';
import { type RecordBatch, RecordBatchReader } from 'apache-arrow';
import { headOf, type MessageHead } from './message-head.js';
import { type ColumnBatch, columnsOf } from './scan-columns.js';

const PREFIX_BYTES = 8;
/** Messages longer than this are taken for damage, bytes. */
const LONGEST_MESSAGE = 512 * 2 ** 20;

/** Reads what is appended to a segment while another process writes it. */
export interface SegmentTail {
  /**
   * Reads the whole batches that came since the last time and gives them to `onBatch`, in order; stops after about `most`
   * bytes. Returns the bytes read from the disk. A batch of which only a part is there yet is left for the next time.
   */
  read(most: number, onBatch: (batch: ColumnBatch) => void): number;
  /** Bytes of the file that were taken so far. */
  readonly at: number;
  /** Whether more is known to be there than was taken. */
  readonly behind: boolean;
  /** Why it can't be followed any further; null while it can. */
  readonly problem: string | null;
  /** Whether its writer closed it, and all of it was read. */
  readonly closed: boolean;
}

export interface TailOptions {
  readonly table: TableName;
  /** At the first read, of a longer file, batches before the last so many bytes are passed over. Default: none are. */
  readonly last?: number;
}

/** Follows the segment at `path`, which need not exist yet. Reads only; holds no file open between reads. */
export function createSegmentTail(path: string, { table, last }: TailOptions): SegmentTail {
  const state = { at: 0, behind: false, problem: null as string | null, closed: false };
  const heads: Uint8Array[] = [];
  let skipTo: number | null = null;
  const take = (kind: MessageHead['kind'], bytes: Uint8Array, onBatch: (batch: ColumnBatch) => void) => {
    if (kind !== 'batch') {
      heads.push(bytes);
      return;
    }
    for (const batch of decoded([...heads, bytes])) if (batch.numRows > 0) onBatch(columnsOf(batch, table));
  };

  /** Takes a message; whether there may be another behind it. */
  const took = (message: Found, onBatch: (batch: ColumnBatch) => void): boolean => {
    if (message.kind === 'none') state.problem = `no Arrow message at byte ${state.at}`;
    if (message.kind === 'none' || message.kind === 'cut') return false;
    if (message.kind === 'end') state.closed = true;
    else if (message.bytes !== null) take(message.kind, message.bytes, onBatch);
    state.at += message.length;
    return !state.closed;
  };

  const readOpen = (fd: number, most: number, onBatch: (batch: ColumnBatch) => void): number => {
    const { size } = fstatSync(fd);
    skipTo ??= last === undefined ? 0 : size - last;
    let read = 0;
    let more = state.at < size;
    while (more && read < most) {
      const message = nextMessage(fd, { at: state.at, size, skipTo });
      read += message.read;
      more = took(message, onBatch) && state.at < size;
    }
    state.behind = more;
    return read;
  };

  return {
    read(most, onBatch) {
      if (state.problem !== null || state.closed) return 0;
      const fd = openIfThere(path);
      if (fd === null) return 0;
      try {
        return readOpen(fd, most, onBatch);
      } catch (error) {
        state.problem = messageOf(error);
        return 0;
      } finally {
        closeSync(fd);
      }
    },
    get at() {
      return state.at;
    },
    get behind() {
      return state.behind;
    },
    get problem() {
      return state.problem;
    },
    get closed() {
      return state.closed;
    },
  };
}

function openIfThere(path: string): number | null {
  try {
    return openSync(path, 'r');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw error;
  }
}

function decoded(messages: readonly Uint8Array[]): RecordBatch[] {
  const reader = RecordBatchReader.from(messages.map((bytes) => Uint8Array.from(bytes)));
  return [...reader];
}

interface Found {
  readonly kind: MessageHead['kind'] | 'end' | 'cut' | 'none';
  /** Bytes that were read to find it. */
  readonly read: number;
  readonly length: number;
  /** Null for a batch that is passed over. */
  readonly bytes: Uint8Array | null;
}

interface Place {
  readonly at: number;
  readonly size: number;
  /** Batches that begin before this byte are passed over. */
  readonly skipTo: number;
}

function nextMessage(fd: number, { at, size, skipTo }: Place): Found {
  const nothing = { length: 0, bytes: null };
  const prefix = bytesAt(fd, at, PREFIX_BYTES);
  if (prefix.length < PREFIX_BYTES) return { kind: 'cut', read: prefix.length, ...nothing };
  const length = prefix.readInt32LE(4);
  if (prefix.readInt32LE(0) !== -1 || length < 0 || length > LONGEST_MESSAGE)
    return { kind: 'none', read: PREFIX_BYTES, ...nothing };
  if (length === 0) return { kind: 'end', read: PREFIX_BYTES, length: PREFIX_BYTES, bytes: null };
  const head = bytesAt(fd, at + PREFIX_BYTES, length);
  const read = PREFIX_BYTES + head.length;
  if (head.length < length) return { kind: 'cut', read, ...nothing };
  const facts = headOf(head);
  if (facts === null || facts.body_bytes > LONGEST_MESSAGE) return { kind: 'none', read, ...nothing };
  const whole = PREFIX_BYTES + length + facts.body_bytes;
  if (at + whole > size) return { kind: 'cut', read, ...nothing };
  if (facts.kind === 'batch' && at < skipTo) return { kind: 'batch', read, length: whole, bytes: null };
  const body = bytesAt(fd, at + PREFIX_BYTES + length, facts.body_bytes);
  return { kind: facts.kind, read: whole, length: whole, bytes: Buffer.concat([prefix, head, body]) };
}

/** `length` bytes from `at` on, fewer where the file ends. */
function bytesAt(fd: number, at: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(length);
  let done = 0;
  while (done < length) {
    const n = readSync(fd, bytes, done, length - done, at + done);
    if (n === 0) break;
    done += n;
  }
  return bytes.subarray(0, done);
}
