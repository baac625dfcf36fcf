import { didYouMean, PerwattError } from '@perwatt/core';

/** One option of a data set, as `perwatt datasets show` explains it. */
export interface OptionInfo {
  readonly name: string;
  readonly summary: string;
}

/** Reads the options of one data set entry. Everything wrong is `INPUT_INVALID` with the option's name and value. */
export interface OptionReader {
  text(name: string): string | undefined;
  required(name: string): string;
  whole(name: string, bounds: { readonly min: number; readonly max: number }): number | undefined;
  oneOf<const T extends string | number>(name: string, values: readonly T[]): T | undefined;
  record(name: string): Readonly<Record<string, unknown>> | undefined;
}

/** A reader over `options`; throws at once when one of them is not among `known`. */
export function readOptions(
  dataset: string,
  options: Readonly<Record<string, unknown>>,
  known: readonly OptionInfo[],
): OptionReader {
  const names = known.map((k) => k.name);
  const fail = (message: string) => new PerwattError('INPUT_INVALID', `data set "${dataset}": ${message}`);
  for (const name of Object.keys(options))
    if (!names.includes(name)) throw fail(`unknown option "${name}"${didYouMean(name, names)}`);
  const wrong = (name: string, wanted: string) =>
    fail(`option "${name}" is ${JSON.stringify(options[name])}, not ${wanted}`);
  const text = (name: string) => {
    const value = options[name];
    if (value === undefined || (typeof value === 'string' && value !== '')) return value;
    throw wrong(name, 'a text');
  };
  return {
    text,
    required(name) {
      const value = text(name);
      if (value === undefined) throw fail(`option "${name}" is missing`);
      return value;
    },
    whole(name, { min, max }) {
      const value = options[name];
      if (value === undefined) return undefined;
      if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
      throw wrong(name, `a whole number from ${min} to ${max}`);
    },
    oneOf(name, values) {
      const value = options[name];
      if (value === undefined) return undefined;
      const found = values.find((v) => v === value);
      if (found === undefined) throw wrong(name, values.map((v) => JSON.stringify(v)).join(' or '));
      return found;
    },
    record(name) {
      const value = options[name];
      if (value === undefined) return undefined;
      if (isRecord(value)) return value;
      throw wrong(name, 'a mapping of names');
    },
  };
}

/** Whether a value is a plain mapping: an object, no list. */
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
