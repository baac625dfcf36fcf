import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { messageOf, PerwattError, systemCode } from '@perwatt/core';
import { badFile, unreadable } from './trace-errors.js';

const CHUNK = 1 << 20;

/** A trace's file, read in pieces of at most 1 MiB; gzip is known by its first bytes and unpacked on the way. */
export interface TraceFile {
  /** As the user named it. */
  readonly path: string;
  readonly absolute: string;
  readonly bytes: number;
  /** First bytes, unpacked. */
  readonly head: (size: number) => Promise<Buffer>;
  /** Every call reads from the beginning. */
  readonly chunks: () => AsyncGenerator<Buffer, void, undefined>;
  /** Of the bytes on the disk. */
  readonly sha256: () => Promise<string>;
}

/** Opens a file. Throws `FILE_UNREADABLE`. */
export async function traceFile(path: string, absolute: string, signal?: AbortSignal): Promise<TraceFile> {
  const { bytes, packed } = await facts(path, absolute);
  const chunks = () => (packed ? unpacked(path, absolute) : plain(path, absolute));
  return {
    path,
    absolute,
    bytes,
    chunks: () => watched(chunks(), signal),
    head: (size) => firstBytes(chunks(), size),
    sha256: () => digestOf(watched(plain(path, absolute), signal)),
  };
}

async function facts(path: string, absolute: string) {
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

async function* unpacked(path: string, absolute: string): AsyncGenerator<Buffer, void, undefined> {
  const gunzip = createGunzip({ chunkSize: CHUNK });
  pipeline(createReadStream(absolute, { highWaterMark: CHUNK }), gunzip, () => {});
  try {
    for await (const chunk of gunzip) yield chunk as Buffer;
  } catch (cause) {
    if (cause instanceof PerwattError) throw cause;
    throw badFile(path, `not a whole gzip file (${messageOf(cause)})`, 'Fetch the file again.');
  }
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

async function firstBytes(chunks: AsyncGenerator<Buffer, void, undefined>, size: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    parts.push(chunk);
    length += chunk.length;
    if (length >= size) break;
  }
  return Buffer.concat(parts).subarray(0, size);
}

async function digestOf(chunks: AsyncGenerator<Buffer, void, undefined>): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of chunks) hash.update(chunk);
  return hash.digest('hex');
}
