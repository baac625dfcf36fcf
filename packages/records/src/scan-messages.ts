import type { Hash } from 'node:crypto';
import { readSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { takeSeal } from './batch-seal.js';
import { headOf } from './message-head.js';
import type { Scratch } from './scratch.js';

const PREFIX_BYTES = 8;

/** How far a scan came. */
export interface ScanState {
  /** Bytes of the whole messages so far. */
  bytes: number;
  /** Whether the stream's end mark was found: its writer closed it. */
  closed: boolean;
  /** Why the scan ended early; null when the file ended after a batch or with its end mark. */
  torn: string | null;
  /** A checksum is wrong: what came since the last batch can't be trusted either. */
  spoiled: boolean;
}

export interface ScanOptions {
  /** Bytes of the file to look at. */
  readonly size: number;
  /** Is fed every byte of the whole messages. */
  readonly hash: Hash | null;
  /** Where the messages are put; fresh memory without it. */
  readonly scratch?: Pick<Scratch, 'bytes'> | undefined;
}

/** Files up to this size are read at once. */
const WHOLE_BYTES = 16 * 2 ** 20;

/** Gives bytes of the file: `length` from `at` on, fewer where it ends. */
type BytesAt = (at: number, length: number) => Uint8Array<ArrayBuffer>;

/**
 * The whole messages of an Arrow stream file, one array each, in order. Ends at the first that is cut, is none, or
 * breaks its seal, and then says so in `state`; never throws for what the file holds. Schema and dictionaries come
 * only with the batch that follows and vouches for them.
 */
export function* scanMessages(
  fd: number,
  { size, hash, scratch = freshBytes }: ScanOptions,
  state: ScanState,
): Generator<Uint8Array> {
  let held: Uint8Array[] = [];
  let verified = false;
  const bytesAt = readerOf(fd, size, scratch);
  for (const { kind, bytes } of goodMessages(bytesAt, { size, hash }, state)) {
    held.push(bytes);
    if (kind !== 'batch') continue;
    yield* held;
    held = [];
    verified = true;
  }
  if (state.spoiled) return;
  const schema = verified ? undefined : held.shift();
  if (schema !== undefined) yield schema;
  state.torn ??= loose(held.length, size - state.bytes);
}

/** The messages up to the end mark, the end of the file, or the first that isn't good. */
function* goodMessages(
  bytesAt: BytesAt,
  { size, hash }: Pick<ScanOptions, 'size' | 'hash'>,
  state: ScanState,
): Generator<RawMessage> {
  let crc = 0;
  while (!state.closed && state.bytes < size) {
    const message = checkedMessage(bytesAt, { at: state.bytes, size, crc, hash });
    if ('torn' in message) {
      Object.assign(state, message);
      return;
    }
    crc = message.crc;
    state.bytes += message.bytes.byteLength;
    state.closed = message.kind === 'end';
    if (!state.closed) yield message;
  }
}

/** What is wrong with the end of a stream whose messages are all good. */
function loose(messages: number, bytes: number): string | null {
  if (messages > 0) return 'the last dictionary has no batch';
  return bytes > 0 ? `${bytes} bytes follow the end mark` : null;
}

interface Place {
  readonly at: number;
  readonly size: number;
  /** Checksum of the stream before. */
  readonly crc: number;
  readonly hash: Hash | null;
}

/** The message at `at` with the checksum up to its end; a batch only when its seal holds. */
function checkedMessage(
  bytesAt: BytesAt,
  { at, size, crc, hash }: Place,
): (RawMessage & { readonly crc: number }) | Pick<ScanState, 'torn' | 'spoiled'> {
  const message = readMessage(bytesAt, at, size);
  if (typeof message === 'string') return { torn: message, spoiled: false };
  hash?.update(message.bytes);
  const seal = message.kind === 'batch' ? takeSeal(message.head) : undefined;
  const found = crc32(message.bytes, crc);
  if (seal === null) return { torn: `the batch at byte ${at} has no seal`, spoiled: false };
  if (seal === undefined || seal === found) return { ...message, crc: found };
  return { torn: `wrong checksum of the batch at byte ${at}`, spoiled: true };
}

interface RawMessage {
  readonly kind: 'schema' | 'dictionary' | 'batch' | 'end';
  readonly bytes: Uint8Array;
  /** The part of `bytes` that describes the body. */
  readonly head: Uint8Array;
}

/** The message at `at`, or why there is none. */
function readMessage(bytesAt: BytesAt, at: number, size: number): RawMessage | string {
  const cut = `cut inside a message at byte ${at}`;
  const prefix = bytesAt(at, Math.min(PREFIX_BYTES, size - at));
  if (prefix.byteLength < PREFIX_BYTES) return cut;
  const view = new DataView(prefix.buffer, prefix.byteOffset, prefix.byteLength);
  const length = view.getInt32(4, true);
  if (view.getInt32(0, true) !== -1 || length < 0) return `no Arrow message at byte ${at}`;
  const bodyAt = PREFIX_BYTES + length;
  if (at + bodyAt > size) return cut;
  const head = bytesAt(at + PREFIX_BYTES, length);
  const facts = length === 0 ? ({ kind: 'end', body_bytes: 0 } as const) : headOf(head);
  if (facts === null) return `unreadable message at byte ${at}`;
  if (at + bodyAt + facts.body_bytes > size) return cut;
  const bytes = bytesAt(at, bodyAt + facts.body_bytes);
  return { kind: facts.kind, bytes, head: bytes.subarray(PREFIX_BYTES, bodyAt) };
}

const freshBytes: Pick<Scratch, 'bytes'> = {
  bytes(length) {
    const { buffer } = Buffer.allocUnsafeSlow(length);
    return new Uint8Array(buffer, 0, length);
  },
};

/** Reads a small file at once, a larger one piece by piece as it is asked for. */
function readerOf(fd: number, size: number, scratch: Pick<Scratch, 'bytes'>): BytesAt {
  if (size > WHOLE_BYTES) return (at, length) => readAt(fd, at, scratch.bytes(length));
  const all = readAt(fd, 0, scratch.bytes(size));
  return (at, length) => all.subarray(at, at + length);
}

/** Fills `into` from byte `at` on; the part that the file had. */
function readAt(fd: number, at: number, into: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  let done = 0;
  while (done < into.length) {
    const n = readSync(fd, into, done, into.length - done, at + done);
    if (n === 0) break;
    done += n;
  }
  return into.subarray(0, done);
}
