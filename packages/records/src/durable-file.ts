import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  unlinkSync,
  writeFileSync,
  writeSync,
  writev,
  writevSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { fileError } from './file-errors.js';

const PARTS_PER_WRITE = 512;

/** Makes names in `folder` durable: a file's own sync does not cover its name. */
export function syncFolder(folder: string): void {
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Makes `folder` and what is missing above it, durably. */
export function makeFolder(folder: string): void {
  const first = mkdirSync(folder, { recursive: true });
  if (first === undefined) return;
  for (let made = folder; made.length >= first.length; made = dirname(made)) syncFolder(dirname(made));
}

/** Writes every byte of `parts` in order. A short write goes on where it stopped, so that a full disk says so. */
export function writeFully(fd: number, parts: readonly Uint8Array[]): void {
  for (let at = 0; at < parts.length; at += PARTS_PER_WRITE) {
    const group = parts.slice(at, at + PARTS_PER_WRITE);
    writeUntaken(fd, group, writevSync(fd, group));
  }
}

const writevLater = promisify(writev);

/** Like `writeFully`, while the caller goes on. Nothing else may write to `fd` meanwhile. */
export async function writeFullyLater(fd: number, parts: readonly Uint8Array[]): Promise<void> {
  for (let at = 0; at < parts.length; at += PARTS_PER_WRITE) {
    const group = parts.slice(at, at + PARTS_PER_WRITE);
    const { bytesWritten } = await writevLater(fd, group);
    writeUntaken(fd, group, bytesWritten);
  }
}

/** What of `parts` lies behind their first `taken` bytes. */
function writeUntaken(fd: number, parts: readonly Uint8Array[], taken: number): void {
  let left = taken;
  for (const part of parts) {
    const done = Math.min(left, part.byteLength);
    left -= done;
    writeRest(fd, part.subarray(done));
  }
}

function writeRest(fd: number, part: Uint8Array): void {
  for (let at = 0; at < part.byteLength; ) {
    const n = writeSync(fd, part, at);
    if (n === 0) throw new Error(`short write: ${part.byteLength - at} bytes were not taken`);
    at += n;
  }
}

/** Replaces `path` with `text` as one step: whoever reads it sees the old text or the new one, also after a crash. */
export function writeFileAtomic(path: string, text: string): void {
  const folder = dirname(path);
  const temporary = join(folder, `.${basename(path)}.tmp`);
  try {
    const fd = openSync(temporary, 'w');
    try {
      writeFileSync(fd, text);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(temporary, path);
    syncFolder(folder);
  } catch (error) {
    discard(temporary);
    throw fileError(error, path);
  }
}

/** Removes a file that may not be there. What stands in the way stays: another error is already being told. */
function discard(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // The next write of the same file replaces it.
  }
}
