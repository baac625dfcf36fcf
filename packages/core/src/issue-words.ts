import type * as z from 'zod';
import { didYouMean } from './closest.js';

type RawIssue = z.core.$ZodRawIssue;

/** What a value should have been, by the type that a schema names. */
const kinds: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping (`key: value`)',
  record: 'a mapping (`key: value`)',
  null: 'null',
  undefined: 'left out',
};

const kindOf = (expected: string): string => kinds[expected] ?? expected;

const clip = (text: string) => (text.length <= 80 ? text : `${text.slice(0, 80)}…`);

/** A value as a message shows it: short, texts in quotes, `a list` or `a mapping` for what is none of one line. */
function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'a mapping';
  if (typeof value === 'string') return `"${clip(value)}"`;
  return String(value);
}

/** How to write a number that was given as a text, where that is plain; else nothing. */
function asNumber(text: string): string {
  if (text.trim() === '') return '';
  if (Number.isFinite(Number(text))) return '; leave the quotes out';
  if (/^\d+(?:\.\d+)? ?%$/.test(text)) return `; write it as a share: ${Number.parseFloat(text) / 100}`;
  return /^\d/.test(text) ? '; leave its unit out: the name of the key says which it is in' : '';
}

/** How to mend a value of the wrong type, where that is plain; else nothing. */
function remedy(expected: string, value: unknown): string {
  if (expected === 'array' && typeof value !== 'object') return `; write it as a list: [${String(value)}]`;
  if (expected === 'array' && value !== null) return '; begin each entry with "- "';
  if (expected === 'number' && typeof value === 'string') return asNumber(value);
  return expected === 'string' && typeof value === 'number' ? `; put it in quotes: "${value}"` : '';
}

const typeWords = (expected: string, value: unknown): string =>
  value === undefined
    ? `is missing; give ${kindOf(expected)}`
    : `must be ${kindOf(expected)}, not ${shown(value)}${remedy(expected, value)}`;

const sizes: Readonly<Record<string, string>> = { string: 'characters', array: 'entries', set: 'entries' };

function rangeWords(issue: RawIssue & { code: 'too_small' | 'too_big' }): string {
  const { inclusive, origin, input } = issue;
  const limit = String(issue.code === 'too_small' ? issue.minimum : issue.maximum);
  const unit = sizes[origin];
  if (issue.code === 'too_small') {
    if (unit !== undefined && limit === '1') return 'is empty';
    if (unit !== undefined) return `must have at least ${limit} ${unit}`;
    return `is ${shown(input)}, but must be ${inclusive === false ? 'above' : 'at least'} ${limit}`;
  }
  if (unit !== undefined) return `must have at most ${limit} ${unit}`;
  return `is ${shown(input)}, but must be ${inclusive === false ? 'below' : 'at most'} ${limit}`;
}

const choiceWords = (values: readonly unknown[], value: unknown): string => {
  const names = values.map(String);
  if (names.length === 1 && value !== undefined) return `must be ${names[0]}, not ${shown(value)}`;
  if (value === undefined) return `is missing; give one of ${names.join(', ')}`;
  return `may not be ${shown(value)}${didYouMean(typeof value === 'string' ? value : shown(value), names)}`;
};

/** The types that the forms of a value may have, when it has none of these. */
function unionWords(issue: RawIssue & { code: 'invalid_union' }): string {
  const { input, options, discriminator } = issue;
  if (Array.isArray(options) && typeof discriminator === 'string')
    return choiceWords(options, (input as Readonly<Record<string, unknown>> | undefined)?.[discriminator]);
  const own = issue.errors.flatMap((issues) => issues.filter(({ path }) => path.length === 0));
  const forms = own.flatMap((inner) => {
    if (inner.code === 'invalid_type') return [kindOf(inner.expected)];
    return inner.code === 'invalid_value' ? [inner.values.map(String).join(' or ')] : [];
  });
  const all = [...new Set(forms)].join(', or ');
  if (all === '') return `may not be ${shown(input)}`;
  return input === undefined ? `is missing; give ${all}` : `must be ${all}, not ${shown(input)}`;
}

/**
 * What is wrong with a value that a schema refused, in words that follow the name of its place: `must be a list, not
 * "x"`. For `error` of a parse; messages of the schema itself go before it.
 */
export function issueWords(issue: RawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return typeWords(issue.expected, issue.input);
    case 'invalid_value':
      return choiceWords(issue.values, issue.input);
    case 'too_small':
    case 'too_big':
      return rangeWords(issue);
    case 'invalid_format':
      if (issue.format === 'url')
        return `is ${shown(issue.input)}, which is no address: begin it with http:// or https://`;
      return `is ${shown(issue.input)}, which has not the form of it`;
    case 'invalid_union':
      return unionWords(issue);
    case 'unrecognized_keys':
      return `has an unknown key ${issue.keys.map((key) => `"${key}"`).join(', ')}`;
    case 'invalid_key':
      return `has a key that may not be: ${issue.issues.map(({ message }) => message).join('; ')}`;
    default:
      return undefined;
  }
}

/**
 * An issue of a parse with `{ error: issueWords, reportInput: true }` as one text that begins with the name of its
 * place. A message of the schema itself follows a colon, behind the value where that is one.
 */
export function issueText(place: string, issue: z.core.$ZodIssue): string {
  const { input, message } = issue;
  if (message === issueWords(issue as RawIssue)) return `${place} ${message}`;
  const text = message.charAt(0).toLowerCase() + message.slice(1);
  const single = ['string', 'number', 'boolean'].includes(typeof input);
  return single ? `${place} ${shown(input)}: ${text}` : `${place}: ${text}`;
}
