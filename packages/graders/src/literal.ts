import type { Grader } from '@perwatt/core';
import { decide, decideOfficial, type Found } from './decide.js';
import { findObjects } from './json-find.js';
import { checkPolicies } from './policy.js';
import { cutNextQuestion, prepare } from './prepare.js';
import { canonicalLiteral } from './python-literal.js';
import type { Range } from './reasoning.js';
import { findAnswerLines, findAnswerTags, findBoxes, lastLine } from './wrappers.js';

/**
 * Grades answers that are Python literals by Python's equality. Robust mode takes the field `answer` of the last JSON object,
 * the last `<answer>` element or `Answer:` line, a box, else the last line, without fences and without `assert f(…) ==` before
 * it; a JSON string, and a text that is no literal, may be the gold string without its quotes, which has the flag `unquoted`. Official mode takes the field of
 * the first JSON object and compares texts without quotes.
 */
export const literal: Grader = {
  id: 'literal',
  version: 1,
  grade(input) {
    checkPolicies(input.policy);
    const gold = canonicalLiteral(input.gold);
    if (input.mode === 'official') {
      return decideOfficial<string>(input, {
        find: findOfficially,
        compare: (text) => ({ correct: unquoted(text) === unquoted(input.gold), reason: null, flags: [] }),
        goldProblem: null,
      });
    }
    return decide<Candidate>(input, {
      find: findLiteral,
      firstAnswerEnd,
      compare: (candidate) => compare(candidate, gold ?? ''),
      goldProblem: gold === null ? `the gold answer "${input.gold.slice(0, 80)}" is no Python literal` : null,
    });
  },
  extract(text) {
    const prepared = prepare(text);
    if (prepared.unclosed) return null;
    const found = findLiteral(cutNextQuestion(prepared.text, firstAnswerEnd(prepared.text)));
    return found.status === 'found' ? canonicalLiteral(found.value.text) : null;
  },
  same: (a, b) => a === b,
};

interface Candidate {
  readonly text: string;
  /** It is a JSON string, which may hold a literal or be the text of a string. */
  readonly quoted: boolean;
}

function compare({ text, quoted }: Candidate, gold: string) {
  const value = canonicalLiteral(text);
  if (value === gold) return { correct: true, reason: null, flags: [] };
  const bare = (quoted || value === null) && JSON.stringify(text) === gold;
  if (bare) return { correct: true, reason: null, flags: ['unquoted'] };
  return { correct: false, reason: value === null ? 'the answer is no Python literal' : null, flags: [] };
}

const firstAnswerEnd = (text: string) =>
  text.trim() === '' ? null : text.length - text.trimStart().length + 1;

function findLiteral(text: string): Found<Candidate> {
  const object = findObjects(text).findLast(({ value }) => 'answer' in value);
  if (object !== undefined) {
    const answer = object.value['answer'];
    const candidate = { text: pythonText(answer), quoted: typeof answer === 'string' };
    return found(candidate, object.range, 'literal.json');
  }
  const line = lastLine(withoutFence(text));
  const ranks: readonly (readonly [string, readonly Range[]])[] = [
    ['literal.format', [...findAnswerTags(text), ...findAnswerLines(text)].sort((a, b) => a[1] - b[1])],
    ['literal.boxed', findBoxes(text)],
    ['literal.line', line === null ? [] : [line]],
  ];
  for (const [rule, ranges] of ranks) {
    const range = ranges.map((r) => bared(text, r)).findLast(([start, end]) => end > start);
    if (range !== undefined) return found({ text: text.slice(...range), quoted: false }, range, rule);
  }
  return { status: 'none', reason: 'nothing but marks in the answer', flags: [] };
}

const found = <T>(value: T, [start, end]: Range, rule: string): Found<T> => ({
  status: 'found',
  value,
  start,
  end,
  rule,
  flags: [],
});

/** Up to the fence that closes the last block, when nothing but blanks follows it. */
const withoutFence = (text: string) =>
  /```\s*$/.test(text.slice(-200)) ? text.slice(0, text.lastIndexOf('```')) : text;

/** A range without blanks, code marks and an assertion before its value. */
function bared(text: string, [from, to]: Range): Range {
  const lead =
    /^(?:[\s*`]|\[ANSWER\])*(?:answer:\s*)?/i.exec(text.slice(from, Math.min(to, from + 300)))?.[0].length ??
    0;
  const start = from + lead;
  const assertion = text.startsWith('assert ', start) ? text.slice(start, to).lastIndexOf('==') : -1;
  const value = assertion === -1 ? start : start + assertion + 2;
  const tail = text.slice(Math.max(value, to - 200), to);
  const blank = /^\s*/.exec(text.slice(value, to))?.[0].length ?? 0;
  return [value + blank, to - (/(?:[\s*`]|\[\/ANSWER\])*$/.exec(tail)?.[0].length ?? 0)];
}

/** A JSON value as Python writes it; a string is what it says. */
function pythonText(value: unknown): string {
  if (typeof value === 'string') return value.trim();
  if (Array.isArray(value)) return `[${value.map(quoted).join(', ')}]`;
  return quoted(value);
}

function quoted(value: unknown): string {
  if (value === null) return 'None';
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (Array.isArray(value)) return `[${value.map(quoted).join(', ')}]`;
  if (typeof value === 'object')
    return `{${Object.entries(value)
      .map(([key, val]) => `${JSON.stringify(key)}: ${quoted(val)}`)
      .join(', ')}}`;
  return JSON.stringify(value) ?? '';
}

function findOfficially(text: string): Found<string> {
  const [object] = findObjects(text);
  const answer = object?.value['answer'];
  if (object === undefined || answer === undefined)
    return { status: 'none', reason: 'no JSON object with an answer', flags: [] };
  return found(pythonText(answer), object.range, 'zero_eval.json');
}

const unquoted = (text: string) =>
  text
    .trim()
    .replace(/^['"]|['"]$/g, '')
    .replaceAll('\n', '\\n');
