import { messageOf, PerwattError } from '@perwatt/core';
import { isRecord } from './options.js';

/** One record of a file, with where it stands. */
export interface Row {
  /** `file line 3`, for messages. */
  readonly place: string;
  readonly fields: Readonly<Record<string, unknown>>;
  /** Path of the file within the folder that was given, with `/` between names; absent where a file was given. */
  readonly file?: string;
}

/** A `DATASET_ROW_INVALID` that names file and line. */
export const rowError = (place: string, message: string, cause?: unknown): PerwattError =>
  new PerwattError('DATASET_ROW_INVALID', `${place}: ${message}`, { cause });

function parse(text: string, place: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw rowError(place, `not JSON (${messageOf(cause)})`, cause);
  }
}

/** The value of a field, by its name or by a path of names with dots between; undefined when there is none. */
export function fieldOf(row: Row, field: string): unknown {
  if (Object.hasOwn(row.fields, field)) return row.fields[field];
  let value: unknown = row.fields;
  for (const name of field.split('.')) {
    if (!isRecord(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

/** A field as text; numbers and truth values are written out. Null when it is absent, null or blank. */
export function optionalText(row: Row, field: string): string | null {
  const value = fieldOf(row, field);
  if (value === undefined || value === null) return null;
  if (typeof value === 'string') return value.trim() === '' ? null : value;
  if (typeof value === 'number' || typeof value === 'boolean') return `${value}`;
  throw rowError(row.place, `field "${field}" is ${JSON.stringify(value)?.slice(0, 80)}, not a text`);
}

/** A field as text. Throws `DATASET_ROW_INVALID` when it is absent, null or blank. */
export function requiredText(row: Row, field: string): string {
  const text = optionalText(row, field);
  if (text === null) throw rowError(row.place, `field "${field}" is missing or empty`);
  return text;
}

/** Option texts of a row: a list, its JSON in a text, or one field per option. At least two, all different or not. */
export function requiredOptions(row: Row, field: string | readonly string[]): string[] {
  if (typeof field !== 'string')
    return field.map((name) => optionalText(row, name)).filter((text): text is string => text !== null);
  const value = fieldOf(row, field);
  const list =
    typeof value === 'string' && value.trimStart().startsWith('[') ? parse(value, row.place) : value;
  if (list === undefined || list === null || list === '')
    throw rowError(row.place, `field "${field}" is missing or empty`);
  if (!Array.isArray(list) || list.length < 2)
    throw rowError(row.place, `field "${field}" is no list of options`);
  return list.map((option) => {
    if (typeof option === 'string' || typeof option === 'number') return `${option}`;
    throw rowError(row.place, `field "${field}" has the option ${JSON.stringify(option)}, not a text`);
  });
}
