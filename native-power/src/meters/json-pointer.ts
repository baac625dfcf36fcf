import { PerwattError } from '@perwatt/core';

/** The parts of a JSON pointer (RFC 6901). Throws `INPUT_INVALID` for text that is none. */
export function pointerParts(pointer: string): readonly string[] {
  if (pointer === '') return [];
  if (!pointer.startsWith('/')) {
    throw new PerwattError('INPUT_INVALID', `"${pointer}" is not a JSON pointer`, {
      hint: 'A pointer begins with "/" and names one key after the other, for example "/PowerWatts/Reading".',
    });
  }
  return pointer
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** What a pointer leads to; undefined where the document has no such place. */
export function valueAt(document: unknown, parts: readonly string[]): unknown {
  let value = document;
  for (const part of parts) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[part];
  }
  return value;
}
