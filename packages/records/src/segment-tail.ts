import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { messageOf, systemCode, type TableName } from '@perwatt/core';
import { type RecordBatch, RecordBatchReader } from 'apache-arrow';
import { takeSeal } from './batch-seal.js';
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
  /** At the first read, of a longer file, batches before the last so many bytes are passed over: read, but not given. Default: none are. */
  readonly last?: number;
}

/**
 * Follows the segment at `path`, which need not exist yet. Reads only; holds no file open between reads. A batch is decoded only
 * when its seal holds: a decoder believes every length that it meets.
 */
export function createSegmentTail(path: string, { table, last }: TailOptions): SegmentTail {
  const state = { at: 0, behind: false, problem: null as string | null, closed: false };
  const heads: Uint8Array[] = [];
  let skipTo: number | null = null;
  let crc = 0;
  /** Takes the checksum up to the end of a message; whether it is the one that a batch was sealed with. */
  const holds = (kind: MessageHead['kind'], bytes: Buffer): boolean => {
    const seal = kind === 'batch' ? takeSeal(headBytes(bytes)) : null;
    crc = crc32(bytes, crc);
    return kind !== 'batch' || seal === crc;
  };
  const give = (bytes: Buffer, onBatch: (batch: ColumnBatch) => void) => {
    if (state.at < (skipTo ?? 0)) return;
    for (const batch of decoded([...heads, bytes])) if (batch.numRows > 0) onBatch(columnsOf(batch, table));
  };
  const take = (kind: MessageHead['kind'], bytes: Buffer, onBatch: (batch: ColumnBatch) => void) => {
    if (!holds(kind, bytes)) state.problem = `wrong checksum of the batch at byte ${state.at}`;
    else if (kind === 'batch') give(bytes, onBatch);
    else heads.push(bytes);
  };

  /** Takes a message; whether there may be another behind it. */
  const took = ({ kind, bytes }: Found, onBatch: (batch: ColumnBatch) => void): boolean => {
    if (kind === 'none') state.problem = `no Arrow message at byte ${state.at}`;
    if (kind === 'none' || kind === 'cut') return false;
    if (kind === 'end') state.closed = true;
    else take(kind, bytes, onBatch);
    state.at += bytes.length;
    return !state.closed && state.problem === null;
  };

  const readOpen = (fd: number, most: number, onBatch: (batch: ColumnBatch) => void): number => {
    const { size } = fstatSync(fd);
    skipTo ??= last === undefined ? 0 : size - last;
    let read = 0;
    let more = state.at < size;
    while (more && read < most) {
      const message = nextMessage(fd, { at: state.at, size });
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
  readonly bytes: Buffer;
}

interface Place {
  readonly at: number;
  readonly size: number;
}

const NOTHING = Buffer.alloc(0);

function nextMessage(fd: number, { at, size }: Place): Found {
  const prefix = bytesAt(fd, at, PREFIX_BYTES);
  if (prefix.length < PREFIX_BYTES) return { kind: 'cut', read: prefix.length, bytes: NOTHING };
  const length = prefix.readInt32LE(4);
  if (prefix.readInt32LE(0) !== -1 || length < 0 || length > LONGEST_MESSAGE)
    return { kind: 'none', read: PREFIX_BYTES, bytes: NOTHING };
  if (length === 0) return { kind: 'end', read: PREFIX_BYTES, bytes: prefix };
  const head = bytesAt(fd, at + PREFIX_BYTES, length);
  const read = PREFIX_BYTES + head.length;
  if (head.length < length) return { kind: 'cut', read, bytes: NOTHING };
  const facts = headOf(head);
  if (facts === null || facts.body_bytes > LONGEST_MESSAGE) return { kind: 'none', read, bytes: NOTHING };
  const whole = PREFIX_BYTES + length + facts.body_bytes;
  if (at + whole > size) return { kind: 'cut', read, bytes: NOTHING };
  const body = bytesAt(fd, at + PREFIX_BYTES + length, facts.body_bytes);
  return { kind: facts.kind, read: whole, bytes: Buffer.concat([prefix, head, body]) };
}

/** The part of a message that describes its body. */
const headBytes = (message: Buffer): Buffer =>
  message.subarray(PREFIX_BYTES, PREFIX_BYTES + message.readInt32LE(4));

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
