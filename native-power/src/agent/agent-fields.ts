import { PerwattError } from '@perwatt/core';

// How every field of an agent's answers is read: a value of the right kind and size, or `POWER_MALFORMED`.

/** Bytes that no agent of this version sends. */
export const malformed = (what: string) =>
  new PerwattError('POWER_MALFORMED', `agent: ${what}`, {
    hint: 'Check that the address is that of a `perwatt agent` of the same version.',
  });

export type Json = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A text of JSON that holds an object. */
export function object(text: string): Json {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw malformed(`${JSON.stringify(text.slice(0, 80))} is not JSON`);
  }
  if (!isObject(value)) throw malformed('an object was expected');
  return value;
}

const stampPattern = /^-?\d{1,19}$/;

export function stamp(value: unknown, what: string): bigint {
  if (typeof value !== 'string' || !stampPattern.test(value)) throw malformed(`${what} is not a stamp`);
  const ns = BigInt(value);
  if (BigInt.asIntN(64, ns) !== ns) throw malformed(`${what} is out of range`);
  return ns;
}

export function text(value: unknown, what: string): string {
  if (typeof value === 'string' && value.length <= 4096) return value;
  throw malformed(`${what} is not a text`);
}

export function finite(value: unknown, what: string): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw malformed(`${what} is not a number`);
}

export function list(value: unknown, what: string): readonly unknown[] {
  if (Array.isArray(value) && value.length <= 1 << 20) return value;
  throw malformed(`${what} is not a list`);
}

export function oneOf<T extends string>(value: unknown, known: readonly T[], what: string): T {
  const found = known.find((name) => name === value);
  if (found === undefined) throw malformed(`${what} is unknown`);
  return found;
}

export const orNull = <T>(value: unknown, read: (value: unknown) => T): T | null =>
  value === null || value === undefined ? null : read(value);

export function positive(value: unknown, what: string): number {
  const number = finite(value, what);
  if (number <= 0) throw malformed(`${what} is not positive`);
  return number;
}

/** An index below `most`. */
export const below = (most: number) => (value: unknown, what: string) => {
  const index = finite(value, what);
  if (!Number.isInteger(index) || index < 0 || index >= most) throw malformed(`${what} is out of range`);
  return index;
};
