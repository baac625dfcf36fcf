import { messageOf } from '@perwatt/core';
import { foreignError } from './foreign-error.js';
import type { ForeignFile } from './importer.js';

/** The text of a whole file. */
export async function wholeText(file: ForeignFile): Promise<string> {
  const decoder = new TextDecoder();
  const parts: string[] = [];
  for await (const chunk of file.chunks()) parts.push(decoder.decode(chunk, { stream: true }));
  parts.push(decoder.decode());
  return parts.join('');
}

/** A file's JSON. Throws `INPUT_INVALID` when it is none, with the parser's words. */
export async function wholeJson(file: ForeignFile): Promise<unknown> {
  const text = await wholeText(file);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw foreignError(file.path, `not JSON: ${messageOf(error)}`, error);
  }
}

/** The lines of a file that are not blank, with their numbers from 1. Memory does not grow with the file. */
export async function* textLines(
  file: ForeignFile,
): AsyncGenerator<{ readonly line: number; readonly text: string }, void, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  let line = 0;
  for await (const chunk of file.chunks()) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = parts.pop() ?? '';
    for (const text of parts) {
      line += 1;
      if (text.trim() !== '') yield { line, text };
    }
  }
  rest += decoder.decode();
  if (rest.trim() !== '') yield { line: line + 1, text: rest };
}

/** Fields of an object by name; what is no object has none. */
export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The object under `key`; an empty one when there is none. */
export const fieldsAt = (fields: Fields, key: string): Fields => {
  const value = fields[key];
  return isFields(value) ? value : {};
};

/** A finite number, also one that came as a 64-bit integer; null for anything else. */
export function numberOrNull(value: unknown): number | null {
  if (typeof value === 'bigint') return Number(value);
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** A text that is not empty; null for anything else. */
export const textOrNull = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value : null;
