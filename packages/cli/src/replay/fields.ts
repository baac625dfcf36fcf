import { PerwattError } from '@perwatt/core';

/** More points than this are taken for a mistake in a generator. */
export const mostPoints = 1_000_000;

/** A JSON object whose fields are asked for by name and type; every refusal names the place. */
export interface Fields {
  has(name: string): boolean;
  number(name: string): number;
  /** A whole number from 0 to `most`. */
  count(name: string, most: number): number;
  numberOrNull(name: string): number | null;
  text(name: string): string;
  isText(name: string): boolean;
  list(name: string): readonly unknown[];
  /** Two numbers. */
  pair(name: string): readonly [number, number];
  fields(name: string): Fields;
  /** Every element of a list of objects. */
  each(name: string): readonly Fields[];
  /** Every element of a list of lists of numbers, `null` allowed after the first. */
  points(name: string): readonly (readonly [number, number | null])[];
  readonly names: readonly string[];
}

/** Reads `value` as an object; `where` names it in errors, for instance `CTR-01.input`. */
export function fieldsOf(value: unknown, where: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw wrong(where, value, 'an object');
  const record = value as Readonly<Record<string, unknown>>;
  const field = <T>(name: string, wanted: string, accept: (value: unknown) => value is T): T => {
    const found = record[name];
    if (accept(found)) return found;
    throw wrong(`${where}.${name}`, found, wanted);
  };
  const list = (name: string) => field(name, 'a list', isList);
  return {
    names: Object.keys(record),
    has: (name) => record[name] !== undefined && record[name] !== null,
    number: (name) => field(name, 'a number', isNumber),
    count: (name, most) =>
      field(name, `a whole number up to ${most}`, (found): found is number => isCount(found, most)),
    numberOrNull: (name) => field(name, 'a number or null', isNumberOrNull),
    text: (name) => field(name, 'a text', isText),
    isText: (name) => isText(record[name]),
    list,
    pair: (name) => field(name, 'a pair of numbers', isPair),
    fields: (name) => fieldsOf(record[name], `${where}.${name}`),
    each: (name) => list(name).map((item, i) => fieldsOf(item, `${where}.${name}[${i}]`)),
    points: (name) =>
      list(name).map((item, i) => {
        if (isPoint(item)) return item;
        throw wrong(`${where}.${name}[${i}]`, item, 'a pair of numbers');
      }),
  };
}

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);
const isText = (value: unknown): value is string => typeof value === 'string';
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
const isCount = (value: unknown, most: number) =>
  isNumber(value) && Number.isInteger(value) && value >= 0 && value <= most;
const isNumberOrNull = (value: unknown): value is number | null => value === null || isNumber(value);
const isPoint = (value: unknown): value is readonly [number, number | null] =>
  isList(value) && value.length === 2 && isNumber(value[0]) && isNumberOrNull(value[1]);
const isPair = (value: unknown): value is readonly [number, number] => isPoint(value) && value[1] !== null;

const wrong = (where: string, found: unknown, wanted: string) =>
  new PerwattError('INPUT_INVALID', `${where} is ${JSON.stringify(found)?.slice(0, 60)}, not ${wanted}`, {
    hint: 'Write fixtures in the format perwatt-power-case/1.',
  });
