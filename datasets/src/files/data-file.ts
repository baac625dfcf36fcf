import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { messageOf, PerwattError, systemCode } from '@perwatt/core';
import { defaultLimits, inWords, type ReadLimits } from './limits.js';

const CHUNK = 1 << 20;
const HEAD = 4096;

/** A file of rows, read in pieces of at most 1 MiB; gzip is known by its first bytes and unpacked on the way. */
export interface DataFile {
  /** As the user named it. */
  readonly path: string;
  readonly absolute: string;
  readonly bytes: number;
  readonly packed: boolean;
  /** The first 4 KiB, unpacked. */
  readonly head: Buffer;
  readonly limits: ReadLimits;
  /** Unpacked content; every call reads from the beginning. Throws `DATASET_ROW_INVALID` past the limits. */
  readonly chunks: () => AsyncGenerator<Buffer, void, undefined>;
  /** Of the bytes on the disk, in hex. */
  readonly sha256: () => Promise<string>;
}

export interface OpenOptions {
  readonly limits?: Partial<ReadLimits>;
  readonly signal?: AbortSignal;
}

/** A file that can't be used as a whole. */
export const badFile = (path: string, message: string, hint: string, cause?: unknown): PerwattError =>
  new PerwattError('DATASET_ROW_INVALID', `${path} ${message}`, { hint, cause });

const FETCH_AGAIN = 'Fetch the file again.';

/** Opens a file. Throws `FILE_UNREADABLE`, and `DATASET_ROW_INVALID` for what holds no rows: a web page, an archive, a pointer. */
export async function openData(
  path: string,
  absolute: string,
  { limits, signal }: OpenOptions = {},
): Promise<DataFile> {
  const all = { ...defaultLimits, ...limits };
  const { bytes, packed } = await facts(path, absolute, signal);
  const source = { path, absolute, bytes, limits: all };
  const chunks = () => watched(packed ? unpacked(source) : plain(path, absolute), signal);
  const head = await firstBytes(chunks());
  refuse(path, head);
  return {
    ...source,
    packed,
    head,
    chunks,
    sha256: () => digestOf(watched(plain(path, absolute), signal)),
  };
}

const unreadable = (path: string, cause: unknown) =>
  new PerwattError('FILE_UNREADABLE', `cannot read ${path}: ${systemCode(cause) ?? messageOf(cause)}`, {
    cause,
  });

async function facts(path: string, absolute: string, signal: AbortSignal | undefined) {
  signal?.throwIfAborted();
  try {
    const handle = await open(absolute);
    try {
      const magic = Buffer.alloc(2);
      await handle.read(magic, 0, 2, 0);
      return { bytes: (await handle.stat()).size, packed: magic.readUInt16BE() === 0x1f8b };
    } finally {
      await handle.close();
    }
  } catch (cause) {
    throw unreadable(path, cause);
  }
}

async function* plain(path: string, absolute: string): AsyncGenerator<Buffer, void, undefined> {
  try {
    for await (const chunk of createReadStream(absolute, { highWaterMark: CHUNK })) yield chunk as Buffer;
  } catch (cause) {
    throw systemCode(cause) === null ? cause : unreadable(path, cause);
  }
}

type Source = Pick<DataFile, 'path' | 'absolute' | 'bytes' | 'limits'>;

async function* unpacked(source: Source): AsyncGenerator<Buffer, void, undefined> {
  const gunzip = createGunzip({ chunkSize: CHUNK });
  pipeline(createReadStream(source.absolute, { highWaterMark: CHUNK }), gunzip, () => {});
  let size = 0;
  try {
    for await (const chunk of gunzip) {
      size += (chunk as Buffer).length;
      checkSize(source, size);
      yield chunk as Buffer;
    }
  } catch (cause) {
    if (cause instanceof PerwattError || systemCode(cause)?.startsWith('Z_') !== true) throw cause;
    throw badFile(source.path, `is not a whole gzip file (${messageOf(cause)})`, FETCH_AGAIN, cause);
  }
}

function checkSize({ path, bytes, limits }: Source, size: number): void {
  const many = size > limits.ratio_from_bytes && size > bytes * limits.unpack_ratio;
  if (!many && size <= limits.unpacked_bytes) return;
  const limit = many ? `${limits.unpack_ratio} times its own size` : inWords(limits.unpacked_bytes);
  throw badFile(
    path,
    `unpacks to more than ${limit}: ${bytes} bytes gave ${size} and more`,
    'Do not use the file unless you know what is in it; if it is right, unpack it yourself and give the result.',
  );
}

async function* watched(
  chunks: AsyncGenerator<Buffer, void, undefined>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer, void, undefined> {
  for await (const chunk of chunks) {
    signal?.throwIfAborted();
    yield chunk;
  }
}

async function firstBytes(chunks: AsyncGenerator<Buffer, void, undefined>): Promise<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    parts.push(chunk.subarray(0, HEAD));
    length += chunk.length;
    if (length >= HEAD) break;
  }
  return Buffer.concat(parts).subarray(0, HEAD);
}

async function digestOf(chunks: AsyncGenerator<Buffer, void, undefined>): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of chunks) hash.update(chunk);
  return hash.digest('hex');
}

/** What often stands where data is expected. */
const notData: readonly (readonly [begins: RegExp, is: string, hint: string])[] = [
  [
    /^\s*<(?:!doctype html|html|head|body|\?xml|!--)/i,
    'is a web page, not data',
    'The address gave a page, perhaps one to sign in at; fetch the file itself.',
  ],
  [
    /^version https:\/\/git-lfs\.github\.com\/spec\//,
    'is a pointer to a large file, not the file',
    'Run `git lfs pull` in the folder it comes from.',
  ],
  [/^PK\p{Cc}{2}/u, 'is a zip archive', 'Unpack it and give the path of the file or folder that came out.'],
];

function refuse(path: string, head: Buffer): void {
  const text = head.toString('latin1').replace(/^\u00ef\u00bb\u00bf/, '');
  for (const [begins, is, hint] of notData) if (begins.test(text)) throw badFile(path, is, hint);
}
