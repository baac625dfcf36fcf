import { PerwattError } from '@perwatt/core';

const safe = /^[A-Za-z0-9][A-Za-z0-9._+@=,-]{0,199}$/;

/** Whether `name` can be a file's name and stays in its folder. */
export const isFileName = (name: string): boolean => safe.test(name);

/** `name` itself when it can be a file's name and stays in its folder; else throws `INPUT_INVALID`. */
export function fileName(what: string, name: string): string {
  if (isFileName(name)) return name;
  throw new PerwattError(
    'INPUT_INVALID',
    `${what} ${JSON.stringify(name)} cannot be a file name: use letters, digits and . _ + @ = , - only`,
  );
}

/** Number of a segment file of `prefix`, or null when `file` is something else. */
export function segmentNumber(prefix: string, file: string): number | null {
  const start = `${prefix}-`;
  if (!file.startsWith(start) || !file.endsWith('.arrows')) return null;
  const digits = file.slice(start.length, -'.arrows'.length);
  return /^(0|[1-9]\d{0,8})$/.test(digits) ? Number(digits) : null;
}
