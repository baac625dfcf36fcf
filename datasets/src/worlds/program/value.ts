import { PerwattError } from '@perwatt/core';

/** What programs compute with: whole numbers, truth values, and lists of these. */
export type ProgramValue = number | boolean | readonly ProgramValue[];

/** Largest number a program may reach, either way. */
export const MAX_NUMBER = 1e15;

/** A value as Python writes it. */
export function writeValue(value: ProgramValue): string {
  if (typeof value === 'number') return `${value}`;
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return `[${value.map(writeValue).join(', ')}]`;
}

const MAX_DEPTH = 50;
const TOKEN = /\s*(?:(?<number>[-+]?\d+)|(?<word>True|False|true|false)|(?<mark>[[\],])|(?<end>$))/y;

/** Values separated by commas, as the arguments of a call are written. Throws `INPUT_INVALID`. */
export function parseValues(text: string): ProgramValue[] {
  const reader = readerOver(text);
  return reader.takes('end') ? [] : valuesUpTo('end', reader, 0);
}

interface ValueReader {
  /** Takes a mark, or the end. */
  takes(mark: string): boolean;
  value(): ProgramValue | null;
  fail(what: string): PerwattError;
}

/** Values up to a closing mark; there is at least one. */
function valuesUpTo(closing: ']' | 'end', reader: ValueReader, depth: number): ProgramValue[] {
  if (depth > MAX_DEPTH) throw reader.fail(`lists more than ${MAX_DEPTH} deep`);
  const values: ProgramValue[] = [];
  do values.push(oneValue(reader, depth));
  while (reader.takes(','));
  if (!reader.takes(closing))
    throw reader.fail(closing === 'end' ? 'more than a value' : 'a list that goes on wrongly');
  return values;
}

function oneValue(reader: ValueReader, depth: number): ProgramValue {
  const value = reader.value();
  if (value !== null) return value;
  if (!reader.takes('[')) throw reader.fail('something that is no value');
  return reader.takes(']') ? [] : valuesUpTo(']', reader, depth + 1);
}

function readerOver(text: string): ValueReader {
  let at = 0;
  const peek = () => {
    TOKEN.lastIndex = at;
    return TOKEN.exec(text);
  };
  const fail = (what: string) =>
    new PerwattError(
      'INPUT_INVALID',
      `"${text.slice(0, 80)}" is no list of values: ${what} at character ${at + 1}`,
    );
  return {
    fail,
    takes(mark) {
      const match = peek();
      const found = match?.groups?.['end'] === undefined ? match?.groups?.['mark'] : 'end';
      if (match === null || found !== mark) return false;
      at += match[0].length;
      return true;
    },
    value() {
      const match = peek();
      const { number, word } = match?.groups ?? {};
      if (match === null || (number === undefined && word === undefined)) return null;
      const value = number === undefined ? /^t/i.test(word ?? '') : Number(number) + 0;
      if (typeof value === 'number' && Math.abs(value) > MAX_NUMBER) throw fail('a number beyond 10^15');
      at += match[0].length;
      return value;
    },
  };
}

/** Whether two values are equal as Python has it: `True` is 1. */
export function sameValue(a: ProgramValue, b: ProgramValue): boolean {
  if (isList(a) !== isList(b)) return false;
  if (!isList(a) || !isList(b)) return Number(a) === Number(b);
  return a.length === b.length && a.every((each, i) => sameValue(each, b[i] ?? []));
}

export const isList = (value: ProgramValue): value is readonly ProgramValue[] => Array.isArray(value);
