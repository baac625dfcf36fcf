import type { GradeInput, Grader } from '@perwatt/core';
import { clauseEnd, findAnchors, isDenied } from './anchors.js';
import { type Comparison, decide, decideOfficial, type Found } from './decide.js';
import { type NumberToken, parseNumber, scanNumbers } from './numbers.js';
import { checkPolicies, choicePolicy, type Tolerance, tolerancePolicy } from './policy.js';
import { cutNextQuestion, prepare } from './prepare.js';
import { equals, type Rational, round, scale, toText, within } from './rational.js';
import type { Range } from './reasoning.js';
import { findAnswerTags, findBoxes, skipClosers, skipWrappers } from './wrappers.js';

/**
 * Grades answers that are one number, such as GSM8K's, by exact rational value. Robust mode reads, best first, the last
 * `####` number or a bare number, the last box, the last number after an anchor ("the answer is"), the last number of the
 * last sentence, the last number. Official mode is the first `#### N` compared as text.
 */
export const numeric: Grader = {
  id: 'numeric',
  version: 1,
  grade(input) {
    checkPolicies(input.policy);
    if (input.mode === 'official') return gradeOfficial(input);
    const percent = choicePolicy(input.policy, 'percent', ['sign-optional', 'strict']);
    const tolerance = tolerancePolicy(input.policy);
    const gold = parseNumber(prepare(goldText(input.gold)).text);
    return decide(input, {
      find: findNumber,
      firstAnswerEnd,
      compare: (token) => compare(token, gold, { percent, tolerance }),
      goldProblem: gold?.value == null ? `the gold answer "${input.gold}" is not one number` : null,
    });
  },
  extract(text) {
    const prepared = prepare(text);
    if (prepared.unclosed) return null;
    const found = findNumber(cutNextQuestion(prepared.text, firstAnswerEnd(prepared.text)));
    if (found.status === 'none' || found.value.value === null) return null;
    return `${toText(found.value.value)}${found.value.percent ? '%' : ''}`;
  },
  same(a, b) {
    const [left, right] = [parseNumber(a), parseNumber(b)];
    if (left?.value == null || right?.value == null) return a === b;
    return compare(left, right, { percent: 'sign-optional', tolerance: { kind: 'exact' } }).correct;
  },
};

/** A gold in the form of GSM8K's answers is what stands behind its `####`. */
const goldText = (gold: string) => gold.split('####').at(-1) ?? gold;

interface Rules {
  readonly percent: 'sign-optional' | 'strict';
  readonly tolerance: Tolerance;
}

function compare(token: NumberToken, gold: NumberToken | null, rules: Rules): Comparison {
  if (token.value === null || gold?.value == null)
    return { correct: false, reason: 'the number is longer than can be compared', flags: [] };
  const pairs = readings(token, token.value, gold, gold.value, rules.percent);
  if (pairs.some(([a, b]) => equals(a, b))) return { correct: true, reason: null, flags: [] };
  const near = pairs.some(([a, b]) => isNear(a, b, rules.tolerance));
  return { correct: near, reason: null, flags: near ? ['tolerance-used'] : [] };
}

/** Pairs of values one of which must agree. A percent sign on one side only may mean the number before it. */
function readings(
  token: NumberToken,
  value: Rational,
  gold: NumberToken,
  goldValue: Rational,
  percent: Rules['percent'],
): (readonly [Rational, Rational])[] {
  const applied = (of: NumberToken, v: Rational) => (of.percent ? scale(v, -2) : v);
  const strict = [applied(token, value), applied(gold, goldValue)] as const;
  const lax = percent === 'sign-optional' && token.percent !== gold.percent;
  return lax ? [strict, [value, goldValue]] : [strict];
}

function isNear(a: Rational, b: Rational, tolerance: Tolerance): boolean {
  if (tolerance.kind === 'decimals')
    return equals(round(a, tolerance.decimals), round(b, tolerance.decimals));
  return tolerance.kind === 'relative' && within(a, b, tolerance.relative);
}

function firstAnswerEnd(text: string): number | null {
  return scanNumbers(text, 1)[0]?.end ?? null;
}

function findNumber(text: string): Found<NumberToken> {
  const tokens = scanNumbers(text);
  const choices: readonly (readonly [string, () => NumberToken | undefined])[] = [
    ['numeric.format', () => inFormat(text, tokens)],
    ['numeric.boxed', () => inRanges(findBoxes(text), tokens)],
    ['numeric.anchor', () => anchored(text, tokens)],
    ['numeric.last_sentence', () => ofLastSentence(text, tokens)],
    ['numeric.last', () => tokens.at(-1)],
  ];
  for (const [rule, choose] of choices) {
    const token = choose();
    if (token !== undefined)
      return { status: 'found', value: token, start: token.start, end: token.end, rule, flags: [] };
  }
  return { status: 'none', reason: 'no number in the answer', flags: [] };
}

const UNIT = /^[ \t]{0,4}(?:\\?%|°|[A-Za-z][A-Za-z%°²³/^0-9]{0,20})?(?:[ \t][A-Za-z]{1,20}){0,3}/;

/** The last `#### N` line or `<answer>` element; or the number that is the whole text but for a unit. */
function inFormat(text: string, tokens: readonly NumberToken[]): NumberToken | undefined {
  const only = tokens.length === 1 ? tokens[0] : undefined;
  if (only !== undefined && isWhole(text, 0, text.length, only)) return only;
  const marked: Range[] = [];
  for (const mark of text.matchAll(/####/g)) {
    const line = marked.at(-1)?.[1] ?? -1;
    marked.push([mark.index + 4, mark.index < line ? line : endOfLine(text, mark.index)]);
  }
  const lines = pairUp(marked, tokens).filter(([[start, end], token]) => isWhole(text, start, end, token));
  const tags = pairUp(findAnswerTags(text), tokens);
  return [...lines, ...tags]
    .map(([, token]) => token)
    .sort((a, b) => a.start - b.start)
    .at(-1);
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end;
}

/** Whether a token and at most a short unit are all there is between two offsets. */
function isWhole(text: string, start: number, end: number, token: NumberToken): boolean {
  if (token.start - start > 64 || end - token.end > 128) return false;
  const before = skipWrappers(text, start);
  const currency = /^(?:[A-Z]{0,3}[$€£¥₹] ?)?$/.test(text.slice(Math.min(before, token.start), token.start));
  const unit = UNIT.exec(text.slice(token.end, end))?.[0].length ?? 0;
  return currency && skipClosers(text, token.end + unit) >= end;
}

const inRanges = (ranges: readonly Range[], tokens: readonly NumberToken[]) =>
  pairUp(ranges, tokens).at(-1)?.[1];

/** Each range with the number that it states, for the ranges that hold one. Both lists ascend; linear. */
function pairUp(ranges: readonly Range[], tokens: readonly NumberToken[]): (readonly [Range, NumberToken])[] {
  const pairs: (readonly [Range, NumberToken])[] = [];
  let at = 0;
  for (const range of ranges) {
    while (at < tokens.length && (tokens[at]?.start ?? 0) < range[0]) at += 1;
    let last = at;
    while (last < tokens.length && (tokens[last]?.end ?? 0) <= range[1]) last += 1;
    const token = tokens[last - 1];
    if (last > at && token !== undefined) pairs.push([range, token]);
    at = last;
  }
  return pairs;
}

/** The number that the last anchor announces: behind the last `=` of its clause, else the first of the clause. */
function anchored(text: string, tokens: readonly NumberToken[]): NumberToken | undefined {
  for (const anchor of findAnchors(text, 'answers').reverse()) {
    const start = skipWrappers(text, anchor.end);
    const clause = tokensBetween(tokens, start, clauseEnd(text, start));
    const equal = stated(text, start, clause);
    if (equal !== undefined && !isDenied(text, anchor, equal)) return equal;
  }
  return undefined;
}

function stated(text: string, start: number, clause: readonly NumberToken[]): NumberToken | undefined {
  const open = outsideParentheses(text, start, clause);
  const results = open.filter((token) =>
    /[=≈] ?(?:\\?[$€£¥₹])? ?$/.test(text.slice(Math.max(start, token.start - 6), token.start)),
  );
  return results.at(-1) ?? open[0] ?? clause[0];
}

/** The tokens that stand in no parenthesis opened behind `start`. */
function outsideParentheses(
  text: string,
  start: number,
  tokens: readonly NumberToken[],
): readonly NumberToken[] {
  let depth = 0;
  let at = start;
  return tokens.filter((token) => {
    for (; at < token.start; at++) {
      if (text[at] === '(') depth += 1;
      else if (text[at] === ')') depth = Math.max(0, depth - 1);
    }
    return depth === 0;
  });
}

function ofLastSentence(text: string, tokens: readonly NumberToken[]): NumberToken | undefined {
  const end = text.trimEnd().length;
  const body = text.slice(Math.max(0, end - 2000), end - 1);
  const breaks = [...body.matchAll(/\n|[.!?](?=[ \t])|[。！？]/g)].at(-1);
  const start = Math.max(0, end - 2000) + (breaks === undefined ? 0 : breaks.index + 1);
  const sentence = tokensBetween(tokens, start, end);
  return outsideParentheses(text, start, sentence).at(-1) ?? sentence.at(-1);
}

/** The tokens that lie in `[start, end)`, by binary search. */
function tokensBetween(tokens: readonly NumberToken[], start: number, end: number): readonly NumberToken[] {
  let [low, high] = [0, tokens.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((tokens[middle]?.start ?? 0) < start) low = middle + 1;
    else high = middle;
  }
  let last = low;
  while (last < tokens.length && (tokens[last]?.end ?? 0) <= end) last += 1;
  return tokens.slice(low, last);
}

const OFFICIAL = /#### (?<number>-?[0-9.,]+)/;

/** GSM8K's own evaluation: first `#### N`, commas deleted, equal as text. */
function gradeOfficial(input: GradeInput) {
  const gold = OFFICIAL.exec(input.gold)?.groups?.['number'] ?? input.gold;
  return decideOfficial<string>(input, {
    find(text) {
      const match = OFFICIAL.exec(text);
      const number = match?.groups?.['number'];
      if (match === null || number === undefined) return { status: 'none', reason: 'no "#### N"', flags: [] };
      const start = match.index + '#### '.length;
      return {
        status: 'found',
        value: number,
        start,
        end: start + number.length,
        rule: 'gsm8k.hash',
        flags: [],
      };
    },
    compare: (number) => ({
      correct: number.replaceAll(',', '') === gold.replaceAll(',', ''),
      reason: null,
      flags: [],
    }),
    goldProblem: null,
  });
}
