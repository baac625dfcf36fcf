import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { messageOf, PerwattError, systemCode } from '@perwatt/core';

const CHUNK = 1 << 20;

/** Pieces of a file in order, of at most 1 MiB. */
export type Chunks = AsyncGenerator<Buffer, void, undefined>;

/** A file that can't be read at all. */
export const unreadable = (path: string, cause: unknown): PerwattError =>
  new PerwattError('FILE_UNREADABLE', `cannot read ${path}: ${systemCode(cause) ?? messageOf(cause)}`, {
    cause,
  });

/** Size of a file, and whether its first bytes are those of gzip. Throws `FILE_UNREADABLE`. */
export async function fileFacts(
  path: string,
  absolute: string,
): Promise<{ readonly bytes: number; readonly packed: boolean }> {
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

/** The bytes as they lie on the disk. Throws `FILE_UNREADABLE`. */
export async function* plainChunks(path: string, absolute: string): Chunks {
  try {
    for await (const chunk of createReadStream(absolute, { highWaterMark: CHUNK })) yield chunk as Buffer;
  } catch (cause) {
    throw systemCode(cause) === null ? cause : unreadable(path, cause);
  }
}

/** The content of a gzip file. Throws what the stream throws: codes that begin with `Z_` for one that is not whole. */
export async function* unpackedChunks(absolute: string): Chunks {
  const gunzip = createGunzip({ chunkSize: CHUNK });
  pipeline(createReadStream(absolute, { highWaterMark: CHUNK }), gunzip, () => {});
  for await (const chunk of gunzip) yield chunk as Buffer;
}

/** Ends with the signal's reason between two pieces. */
export async function* watched(chunks: Chunks, signal: AbortSignal | undefined): Chunks {
  for await (const chunk of chunks) {
    signal?.throwIfAborted();
    yield chunk;
  }
}

/** The first `size` bytes, fewer where there are no more. */
export async function firstBytes(chunks: Chunks, size: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    parts.push(chunk.subarray(0, size));
    length += chunk.length;
    if (length >= size) break;
  }
  return Buffer.concat(parts).subarray(0, size);
}

/** sha256 in hex. */
export async function digestOf(chunks: Chunks): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of chunks) hash.update(chunk);
  return hash.digest('hex');
}
