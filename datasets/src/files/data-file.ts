import { messageOf, PerwattError, systemCode } from '@perwatt/core';
import {
  type Chunks,
  digestOf,
  fileFacts,
  firstBytes,
  plainChunks,
  unpackedChunks,
  watched,
} from './file-bytes.js';
import { defaultLimits, inWords, type ReadLimits } from './limits.js';

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
  signal?.throwIfAborted();
  const { bytes, packed } = await fileFacts(path, absolute);
  const source = { path, absolute, bytes, limits: all };
  const chunks = () => watched(packed ? unpacked(source) : plainChunks(path, absolute), signal);
  const head = await firstBytes(chunks(), HEAD);
  refuse(path, head);
  return {
    ...source,
    packed,
    head,
    chunks,
    sha256: () => digestOf(watched(plainChunks(path, absolute), signal)),
  };
}

type Source = Pick<DataFile, 'path' | 'absolute' | 'bytes' | 'limits'>;

async function* unpacked(source: Source): Chunks {
  let size = 0;
  try {
    for await (const chunk of unpackedChunks(source.absolute)) {
      size += chunk.length;
      checkSize(source, size);
      yield chunk;
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
