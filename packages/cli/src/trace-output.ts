import { closeSync, mkdtempSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { messageOf, PerwattError, systemCode } from '@perwatt/core';
import { type TraceOutput, traceBytes, type WritableTrace } from '@perwatt/datasets';
import type { Io } from './io.js';

/** A trace being written: a place of its own beside the file, gone afterwards whatever happens. */
export interface TracePlace {
  /** For what is in the way only while it is made. */
  readonly scratch: string;
  /** Writes the trace; the file appears whole, or not at all. Returns its bytes. */
  readonly write: (trace: WritableTrace, output: TraceOutput) => number;
}

/** Runs `make` with a place beside `out`. Throws `FILE_UNREADABLE` when that folder cannot be written. */
export async function withTracePlace<T>(
  out: string,
  io: Io,
  make: (place: TracePlace) => Promise<T>,
): Promise<T> {
  const path = resolve(io.cwd, out);
  const scratch = folderBeside(out, path);
  try {
    return await make({
      scratch,
      write: (trace, output) => {
        const whole = join(scratch, basename(path));
        const bytes = writeAll(whole, traceBytes(trace, output), io.signal);
        renameSync(whole, path);
        return bytes;
      },
    });
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function folderBeside(out: string, path: string): string {
  try {
    return mkdtempSync(join(dirname(path), '.perwatt-trace-'));
  } catch (cause) {
    throw new PerwattError(
      'FILE_UNREADABLE',
      `cannot write ${out}: ${systemCode(cause) ?? messageOf(cause)}`,
      { cause, hint: 'Check that its folder exists and can be written.' },
    );
  }
}

function writeAll(path: string, parts: Iterable<Uint8Array>, signal: AbortSignal): number {
  const fd = openSync(path, 'wx');
  let bytes = 0;
  try {
    for (const part of parts) {
      signal.throwIfAborted();
      for (let done = 0; done < part.length; ) done += writeSync(fd, part, done);
      bytes += part.length;
    }
  } finally {
    closeSync(fd);
  }
  return bytes;
}
