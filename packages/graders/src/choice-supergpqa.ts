import type { Found } from './decide.js';

const BLANK = '[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]';
const WORD = '[\\p{L}\\p{N}_]';
/** Runs are bounded: what the original would run out of time on is no match. */
const blanks = (least: 0 | 1): string => `${BLANK}{${least},256}`;
const words = `${WORD}{1,256}`;
const OPENING = '(?:[*$\\\\{(\\[]|\\\\(?:boxed|mathbf|mathrm|text)\\{){0,64}';
const CLOSING = '(?:\\\\?[}$)\\]]){0,64}';
const END = `(?:${BLANK}|[:.*)]|$)`;

/** The three shapes around an answer, in the order that they are tried. */
const shapes = (answer: string, colon: string): readonly string[] => {
  const framed = `${OPENING}${blanks(0)}(${answer})${CLOSING}${END}`;
  return [
    `[Tt]he${blanks(1)}(?:${words}${blanks(1)})?(?:answer|option)(?:${words}${blanks(1)})?${blanks(1)}is?:?${blanks(0)}${framed}`,
    `Answer(?:\\*|${BLANK}){0,256}${colon}${blanks(0)}${framed}`,
    `^(?:(?!${WORD})[^\\r\\n]){0,256}${framed}`,
  ];
};

const letterShapes = shapes('[A-J]', ':').map((shape) => new RegExp(shape, 'diu'));
const rules = ['the_answer_is', 'answer_colon', 'at_the_start'] as const;

/**
 * SuperGPQA's cascade: three shapes around a letter, whatever its case, on the last line and then in the whole text; then the same around the text of
 * an option. Its faults are kept: a small letter is found and never right, and a text that begins with "I" chooses I.
 */
export function findSuperGpqa(text: string, options: readonly string[]): Found<string> {
  const kept = withoutEnd(text);
  const lastLine = kept.lastIndexOf('\n') + 1;
  return (
    letterIn(kept, lastLine) ??
    letterIn(kept, 0) ??
    contentIn(kept, lastLine, options) ??
    contentIn(kept, 0, options) ?? {
      status: 'none',
      reason: 'none of the official patterns matches',
      flags: [],
    }
  );
}

const blank = new RegExp(BLANK, 'u');

/** A text without the white space at its end, in linear time. */
function withoutEnd(text: string): string {
  let end = text.length;
  while (end > 0 && blank.test(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

function letterIn(text: string, from: number): Found<string> | null {
  const hit = firstHit(text.slice(from), letterShapes);
  return hit === null ? null : found(hit, from, { letter: hit.answer, kind: 'letter' });
}

function contentIn(text: string, from: number, options: readonly string[]): Found<string> | null {
  const all = options.filter((option) => option !== '').map(escaped);
  if (all.length === 0) return null;
  const patterns = shapes(all.join('|'), '').map((shape) => new RegExp(shape, 'du'));
  const hit = firstHit(text.slice(from), patterns);
  if (hit === null) return null;
  const letter = String.fromCharCode(65 + options.indexOf(hit.answer));
  return found(hit, from, { letter, kind: 'content' });
}

interface Hit {
  readonly answer: string;
  readonly start: number;
  readonly rule: string;
}

function firstHit(text: string, patterns: readonly RegExp[]): Hit | null {
  for (const [i, pattern] of patterns.entries()) {
    const match = pattern.exec(text);
    const start = match?.indices?.[1]?.[0];
    if (match?.[1] !== undefined && start !== undefined)
      return { answer: match[1], start, rule: rules[i] ?? '' };
  }
  return null;
}

const found = (
  { answer, start, rule }: Hit,
  from: number,
  { letter, kind }: { readonly letter: string; readonly kind: string },
): Found<string> => ({
  status: 'found',
  value: letter,
  start: from + start,
  end: from + start + answer.length,
  rule: `supergpqa.${kind}.${rule}`,
  flags: [],
});

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

/** The first "Answer: X" of simple-evals' GPQA, X from A to D, whatever the case. */
export function findGpqa(text: string): Found<string> {
  const match = /Answer[ \t]*:[ \t]*\$?([A-D])\$?/di.exec(text);
  const start = match?.indices?.[1]?.[0];
  return match?.[1] === undefined || start === undefined
    ? { status: 'none', reason: 'no "Answer:" with a letter', flags: [] }
    : { status: 'found', value: match[1], start, end: start + 1, rule: 'gpqa.answer_colon', flags: [] };
}
