import { messageOf, PerwattError } from '@perwatt/core';
import {
  type Chunks,
  digestOf,
  fileFacts,
  firstBytes,
  plainChunks,
  unpackedChunks,
  watched,
} from '../files/file-bytes.js';
import { badFile } from './trace-errors.js';

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
  const { bytes, packed } = await fileFacts(path, absolute);
  const chunks = () => (packed ? unpacked(path, absolute) : plainChunks(path, absolute));
  return {
    path,
    absolute,
    bytes,
    chunks: () => watched(chunks(), signal),
    head: (size) => firstBytes(chunks(), size),
    sha256: () => digestOf(watched(plainChunks(path, absolute), signal)),
  };
}

async function* unpacked(path: string, absolute: string): Chunks {
  try {
    yield* unpackedChunks(absolute);
  } catch (cause) {
    if (cause instanceof PerwattError) throw cause;
    throw badFile(path, `not a whole gzip file (${messageOf(cause)})`, 'Fetch the file again.');
  }
}
