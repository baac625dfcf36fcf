import type { Hash } from 'node:crypto';
import { readSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { takeSeal } from './batch-seal.js';
import { headOf } from './message-head.js';

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
}

/**
 * The whole messages of an Arrow stream file, one array each, in order. Ends at the first that is cut, is none, or
 * breaks its seal, and then says so in `state`; never throws for what the file holds. Schema and dictionaries come
 * only with the batch that follows and vouches for them.
 */
export function* scanMessages(
  fd: number,
  { size, hash }: ScanOptions,
  state: ScanState,
): Generator<Uint8Array> {
  let held: Uint8Array[] = [];
  let verified = false;
  for (const { kind, bytes } of goodMessages(fd, { size, hash }, state)) {
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
function* goodMessages(fd: number, { size, hash }: ScanOptions, state: ScanState): Generator<RawMessage> {
  let crc = 0;
  while (!state.closed && state.bytes < size) {
    const message = checkedMessage(fd, { at: state.bytes, size, crc, hash });
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
  fd: number,
  { at, size, crc, hash }: Place,
): (RawMessage & { readonly crc: number }) | Pick<ScanState, 'torn' | 'spoiled'> {
  const message = readMessage(fd, at, size);
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
function readMessage(fd: number, at: number, size: number): RawMessage | string {
  const cut = `cut inside a message at byte ${at}`;
  const prefix = readAt(fd, at, Math.min(PREFIX_BYTES, size - at));
  if (prefix.byteLength < PREFIX_BYTES) return cut;
  const view = new DataView(prefix.buffer);
  const length = view.getInt32(4, true);
  if (view.getInt32(0, true) !== -1 || length < 0) return `no Arrow message at byte ${at}`;
  const bodyAt = PREFIX_BYTES + length;
  if (at + bodyAt > size) return cut;
  const head = readAt(fd, at + PREFIX_BYTES, length);
  const facts = length === 0 ? ({ kind: 'end', body_bytes: 0 } as const) : headOf(head);
  if (facts === null) return `unreadable message at byte ${at}`;
  if (at + bodyAt + facts.body_bytes > size) return cut;
  const bytes = readAt(fd, at, bodyAt + facts.body_bytes);
  return { kind: facts.kind, bytes, head: bytes.subarray(PREFIX_BYTES, bodyAt) };
}

function readAt(fd: number, at: number, length: number): Uint8Array<ArrayBuffer> {
  const bytes = Buffer.allocUnsafeSlow(length);
  let done = 0;
  while (done < length) {
    const n = readSync(fd, bytes, done, length - done, at + done);
    if (n === 0) break;
    done += n;
  }
  return new Uint8Array(bytes.buffer, 0, done);
}
