import { closeSync, openSync, readSync } from 'node:fs';
import { messageOf } from '@perwatt/core';

const HEADER_BYTES = 24;
const VERSIONS = [2, 3];
/** More tensors or fields than any model has; a damaged count would make a reader run on for ever. */
const MOST_ENTRIES = 1_000_000n;

/** Why a file is no weight file in the GGUF format, by its first bytes; null when it looks like one. */
export function ggufProblem(path: string): string | null {
  const header = Buffer.alloc(HEADER_BYTES);
  try {
    const file = openSync(path, 'r');
    try {
      readSync(file, header, 0, HEADER_BYTES, 0);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    return `it cannot be read: ${messageOf(error)}`;
  }
  if (header.toString('latin1', 0, 4) !== 'GGUF') return 'it is no GGUF file';
  const version = header.readUInt32LE(4);
  if (!VERSIONS.includes(version))
    return `it is GGUF of version ${version}; ${VERSIONS.join(' and ')} are read`;
  const [tensors, fields] = [header.readBigUInt64LE(8), header.readBigUInt64LE(16)];
  const damaged = tensors === 0n || fields === 0n || tensors > MOST_ENTRIES || fields > MOST_ENTRIES;
  return damaged ? 'its header is damaged' : null;
}
