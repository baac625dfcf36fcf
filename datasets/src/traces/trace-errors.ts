import { PerwattError } from '@perwatt/core';

/** A value that a trace must not hold; the reader adds where it stands. */
export const badRow = (message: string, cause?: unknown): PerwattError =>
  new PerwattError('TRACE_INVALID', message, { cause });

/** A file that is no trace of the format as a whole, which no `--skip-bad` can mend. */
export const badFile = (path: string, message: string, hint: string): PerwattError =>
  new PerwattError('TRACE_INVALID', `${path}: ${message}`, { hint });

/** A value as it stands in a message. */
export const shown = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, 80);
