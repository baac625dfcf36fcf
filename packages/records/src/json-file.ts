import { readFileSync } from 'node:fs';
import { messageOf, PerwattError, SCHEMA_VERSION, systemCode } from '@perwatt/core';
import type * as z from 'zod';
import { writeFileAtomic } from './durable-file.js';
import { fileError } from './file-errors.js';

/** The text of a file; null when there is none. */
export function readTextIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw fileError(error, path);
  }
}

/**
 * A JSON file's text checked against `schema` and returned whole, unknown keys included. Throws `RUN_SCHEMA_NEWER` when its
 * `schema_version` is newer than ours, `RUN_INVALID` naming the file and every wrong place otherwise.
 */
export function parseJsonFile<T>(path: string, text: string, schema: z.ZodType): T {
  const value = parse(path, text);
  const version = versionOf(value);
  if (version !== null && version > SCHEMA_VERSION) {
    throw new PerwattError(
      'RUN_SCHEMA_NEWER',
      `${path} has schema version ${version}; this version reads up to ${SCHEMA_VERSION}`,
    );
  }
  const { error } = schema.safeParse(value);
  if (error === undefined) return value as T;
  const problems = error.issues.map((i) => `${i.path.map(String).join('.') || 'the whole'}: ${i.message}`);
  throw new PerwattError('RUN_INVALID', `${path} is not valid: ${problems.join('; ')}`);
}

function parse(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new PerwattError('RUN_INVALID', `${path} is not JSON: ${messageOf(error)}`, { cause: error });
  }
}

function versionOf(value: unknown): number | null {
  if (typeof value !== 'object' || value === null || !('schema_version' in value)) return null;
  return typeof value.schema_version === 'number' ? value.schema_version : null;
}

export const writeJsonFile = (path: string, value: unknown): void =>
  writeFileAtomic(path, `${JSON.stringify(value, null, 2)}\n`);
