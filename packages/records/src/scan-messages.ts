import type { Hash } from 'node:crypto';
import { readSync } from 'node:fs';
import { Message } from 'apache-arrow';
import { crcOf } from './crc.js';
import { CRC_KEY } from './sync-stream-writer.js';

const PREFIX_BYTES = 8;

/** How far a scan came. */
export interface ScanState {
  /** Bytes of the whole messages so far. */
  bytes: number;
  /** Whether the stream's end mark was found: its writer closed it. */
  closed: boolean;
  /** Why the scan ended early; null when the file ended between two messages or with its end mark. */
  torn: string | null;
}

export interface ScanOptions {
  /** Bytes of the file to look at. */
  readonly size: number;
  /** Is fed every byte of the whole messages. */
  readonly hash: Hash | null;
}

/**
 * The whole messages of an Arrow stream file, one array each, in order. Ends at the first that is cut, is none, or
 * whose checksum is wrong, and then says so in `state`; never throws for what the file holds.
 */
export function* scanMessages(
  fd: number,
  { size, hash }: ScanOptions,
  state: ScanState,
): Generator<Uint8Array> {
  let crc = 0;
  while (state.torn === null && !state.closed && state.bytes < size) {
    const message = readMessage(fd, { at: state.bytes, size, crc });
    if (typeof message === 'string') {
      state.torn = message;
      return;
    }
    crc = crcOf(message.bytes, crc);
    hash?.update(message.bytes);
    state.bytes += message.bytes.byteLength;
    if (message.end) state.closed = true;
    else yield message.bytes;
  }
  if (state.bytes < size) state.torn = `${size - state.bytes} bytes follow the end mark`;
}

interface RawMessage {
  readonly bytes: Uint8Array;
  /** The end mark. */
  readonly end: boolean;
}

interface Place {
  readonly at: number;
  readonly size: number;
  /** CRC-32 of all bytes before. */
  readonly crc: number;
}

/** The message at `at`, or why there is none. */
function readMessage(fd: number, { at, size, crc }: Place): RawMessage | string {
  const cut = `cut inside a message at byte ${at}`;
  const prefix = readAt(fd, at, Math.min(PREFIX_BYTES, size - at));
  if (prefix.byteLength < PREFIX_BYTES) return cut;
  const view = new DataView(prefix.buffer);
  const length = view.getInt32(4, true);
  if (view.getInt32(0, true) !== -1) return `no Arrow message at byte ${at}`;
  if (length === 0) return { bytes: prefix, end: true };
  if (length < 0) return `no Arrow message at byte ${at}`;
  if (at + PREFIX_BYTES + length > size) return cut;
  const metadata = readAt(fd, at + PREFIX_BYTES, length);
  const message = decode(metadata);
  if (message === null) return `unreadable message at byte ${at}`;
  const bodyAt = PREFIX_BYTES + length;
  const bytes = new Uint8Array(Math.min(bodyAt + message.bodyLength, size - at));
  bytes.set(prefix);
  bytes.set(metadata, PREFIX_BYTES);
  if (readInto(fd, bytes.subarray(bodyAt), at + bodyAt) < message.bodyLength) return cut;
  const wanted = message.metadata.get(CRC_KEY);
  if (wanted !== undefined && crcOf(bytes.subarray(bodyAt), crc) !== Number.parseInt(wanted, 16)) {
    return `wrong checksum of the batch at byte ${at}`;
  }
  return { bytes, end: false };
}

/** The message's head, or null when the bytes aren't one. */
function decode(metadata: Uint8Array): Message | null {
  try {
    const message = Message.decode(metadata);
    const known = message.isSchema() || message.isDictionaryBatch() || message.isRecordBatch();
    return known && message.bodyLength >= 0 ? message : null;
  } catch {
    return null;
  }
}

function readAt(fd: number, at: number, length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  return bytes.subarray(0, readInto(fd, bytes, at));
}

function readInto(fd: number, target: Uint8Array, at: number): number {
  let done = 0;
  while (done < target.byteLength) {
    const n = readSync(fd, target, done, target.byteLength - done, at + done);
    if (n === 0) break;
    done += n;
  }
  return done;
}
