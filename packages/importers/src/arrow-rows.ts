import { messageOf } from '@perwatt/core';
import { RecordBatchReader } from 'apache-arrow';
import { foreignError } from './foreign-error.js';
import type { ForeignFile } from './importer.js';
import { type Fields, isFields } from './json-files.js';

/** The rows of an Arrow file, one by one, as plain objects; 64-bit integers stay bigint. One batch is in memory at a time. */
export async function* arrowRows(
  file: ForeignFile,
): AsyncGenerator<{ readonly row: number; readonly fields: Fields }, void, undefined> {
  let row = 0;
  try {
    const reader = await RecordBatchReader.from(file.chunks());
    for await (const batch of reader) {
      for (let i = 0; i < batch.numRows; i++) {
        row += 1;
        const fields = plain(batch.get(i));
        if (isFields(fields)) yield { row, fields };
      }
    }
  } catch (error) {
    if (error instanceof Error && error.name === 'PerwattError') throw error;
    throw foreignError(file.path, `not a whole Arrow file: ${messageOf(error)}`, error);
  }
  if (row === 0) throw foreignError(file.path, 'the Arrow file has no rows');
}

/** Structs and maps as objects, lists as arrays. */
function plain(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(plain);
  const json = 'toJSON' in value && typeof value.toJSON === 'function' ? (value.toJSON() as unknown) : value;
  if (Array.isArray(json)) return json.map(plain);
  if (typeof json !== 'object' || json === null) return json;
  return Object.fromEntries(Object.entries(json).map(([key, inner]) => [key, plain(inner)]));
}
