import { badRow, shown } from './trace-errors.js';

const MOST = 2 ** 32 - 2;

/** A count of tokens or the like, from a CSV field or a JSON number: whole, 0…2^32 − 2. Throws `TRACE_INVALID`. */
export function countOf(value: unknown, name: string): number {
  const number = typeof value === 'string' && /^[0-9]+(\.0*)?$/.test(value.trim()) ? Number(value) : value;
  if (typeof number === 'number' && Number.isInteger(number) && number >= 0 && number <= MOST) return number;
  throw badRow(`"${name}" is ${shown(value)}, not a count`);
}

/** A list of hash ids: whole numbers of at least 0 that a double holds exactly. Throws `TRACE_INVALID`. */
export function hashIdsOf(value: unknown): readonly number[] {
  const ids = typeof value === 'string' ? value.split(' ').map(Number) : value;
  if (Array.isArray(ids) && ids.every((id) => Number.isSafeInteger(id) && id >= 0)) return ids;
  throw badRow(`"hash_ids" is ${shown(value)}, not a list of whole numbers`);
}

/** A text of at least one character, or undefined. Throws `TRACE_INVALID` for other kinds of value. */
export function nameOf(value: unknown, name: string): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'string' || typeof value === 'number') return `${value}`;
  throw badRow(`"${name}" is ${shown(value)}, not a name`);
}

/** `key` with a value that is there, for fields that may be left out. */
export const given = <K extends string, V>(key: K, value: V | undefined): Partial<Record<K, V>> =>
  value === undefined ? {} : ({ [key]: value } as Record<K, V>);

/** Time at a scale of 10^-`shift` s, from `parse`. Throws `TRACE_INVALID` with what was expected. */
export function timeOf(
  text: string,
  name: string,
  { parse, expected }: { readonly parse: (text: string) => bigint | null; readonly expected: string },
): bigint {
  const at = parse(text.trim());
  if (at === null || at > LATEST || at < -LATEST)
    throw badRow(`"${name}" is ${shown(text)}, not ${expected}`);
  return at;
}

/** Half of what 64 bits hold, so that differences fit too. */
const LATEST = 2n ** 62n;
