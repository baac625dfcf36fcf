import { type Item, PerwattError } from '@perwatt/core';
import { isRecord } from '../options.js';

/** Reads the `data` of an item that is set in a world. Everything wrong is `INPUT_INVALID` with item, field and value. */
export interface DataReader {
  whole(name: string, bounds: { readonly min: number; readonly max: number }): number;
  text(name: string): string;
  texts(name: string): readonly string[];
  /** A list of lists of texts, each of `length` where that is told. */
  lists(name: string, length?: number): readonly (readonly string[])[];
  record(name: string): DataReader;
  /** Names with texts. */
  map(name: string): Readonly<Record<string, string>>;
  fail(message: string): PerwattError;
}

/** Steps that an episode may have at most, whatever an item asks for. */
export const MAX_STEPS = 10_000;

/** A reader over the data of an item of `world`; throws when the item is set elsewhere, or made for another version. */
export function worldData(item: Pick<Item, 'id' | 'data'>, world: string, version: number): DataReader {
  const reader = readerOf(item.data ?? {}, `item "${item.id}"`);
  const of = reader.text('world');
  if (of !== world) throw reader.fail(`it is set in the world "${of}", not in "${world}"`);
  const made = reader.whole('world_version', { min: 1, max: 1000 });
  if (made !== version)
    throw reader.fail(
      `it was made for version ${made} of the world "${world}", and this is version ${version}`,
    );
  return reader;
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isTexts = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every(isText);

function readerOf(data: Readonly<Record<string, unknown>>, place: string): DataReader {
  const fail = (message: string) => new PerwattError('INPUT_INVALID', `${place}: ${message}`);
  const wrong = (name: string, wanted: string) =>
    fail(`field "${name}" of its data is ${shown(data[name])}, not ${wanted}`);
  return {
    fail,
    whole(name, { min, max }) {
      const value = data[name];
      if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
      throw wrong(name, `a whole number from ${min} to ${max}`);
    },
    text(name) {
      const value = data[name];
      if (isText(value) && value !== '') return value;
      throw wrong(name, 'a text');
    },
    texts(name) {
      const value = data[name];
      if (isTexts(value)) return value;
      throw wrong(name, 'a list of texts');
    },
    lists(name, length) {
      const value = data[name];
      if (Array.isArray(value) && value.every((v) => isTexts(v) && v.length === (length ?? v.length)))
        return value;
      throw wrong(name, `a list of lists of ${length ?? ''} texts`.replace('  ', ' '));
    },
    record(name) {
      const value = data[name];
      if (isRecord(value)) return readerOf(value, place);
      throw wrong(name, 'an object');
    },
    map(name) {
      const value = data[name];
      if (isRecord(value) && Object.values(value).every(isText)) return value as Record<string, string>;
      throw wrong(name, 'an object of texts');
    },
  };
}

const shown = (value: unknown): string =>
  value === undefined ? 'missing' : (JSON.stringify(value) ?? String(value)).slice(0, 80);
