import { readFileSync } from 'node:fs';
import { systemCode } from '@perwatt/core';

/** The trimmed text of a small kernel file; null when it can't be read or is empty. */
export function textFile(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim() || null;
  } catch (error) {
    if (systemCode(error) === null) throw error;
    return null;
  }
}
