import { messageOf } from '@perwatt/core';
import { isRecord } from '../options.js';
import { jsonElements } from './json-elements.js';
import { badRow } from './trace-errors.js';
import type { TraceFile } from './trace-file.js';
import { lineBatches, type RecordText } from './trace-lines.js';

/** A JSON object of a file, and the text it was parsed from. */
export interface JsonRecord {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** The records of a JSON array, or of one object a line; which of them it is shows the first character. */
export async function* recordBatches(file: TraceFile): AsyncGenerator<RecordText[], void, undefined> {
  const head = (await file.head(64)).toString('utf8').replace('\ufeff', '').trimStart();
  if (head.startsWith('[')) yield* jsonElements(file.path, file.chunks());
  else yield* lineBatches(file.chunks());
}

/** Throws `TRACE_INVALID` when the text is no JSON object. */
export function jsonRecord(text: string): JsonRecord {
  let fields: unknown;
  try {
    fields = JSON.parse(text);
  } catch (cause) {
    throw badRow(`not JSON (${messageOf(cause)})`, cause);
  }
  if (!isRecord(fields)) throw badRow('not a JSON object');
  return { fields, text };
}

/** A number as it is written, which a double may not hold exactly; null when the field holds no number. */
export function numberText({ fields, text }: JsonRecord, key: string): string | null {
  const value = fields[key];
  if (typeof value === 'string') return value;
  if (typeof value !== 'number') return null;
  const written = new RegExp(`"${key}"\\s*:\\s*(-?[0-9][0-9.eE+-]*)`).exec(text)?.[1];
  return written !== undefined && Number(written) === value ? written : `${value}`;
}

const LARGE = 2 ** 52;

/**
 * Reads lists of ids. Those of 2^52 and more, which a double can't tell apart, are numbered from 2^52 on by first
 * appearance, so that equal ids stay equal and different ones different.
 */
export function hashReader(renumbered: () => void): (record: JsonRecord) => unknown {
  const numbers = new Map<string, number>();
  return ({ fields, text }) => {
    const ids = fields['hash_ids'];
    if (!Array.isArray(ids) || !ids.some((id) => typeof id === 'number' && id >= LARGE)) return ids;
    const written = /"hash_ids"\s*:\s*\[([0-9,\s]*)\]/.exec(text)?.[1];
    if (written === undefined) return ids;
    renumbered();
    return written.split(',').map((id) => {
      const key = id.trim();
      if (Number(key) < LARGE) return Number(key);
      const number = numbers.get(key) ?? LARGE + numbers.size;
      numbers.set(key, number);
      return number;
    });
  };
}
