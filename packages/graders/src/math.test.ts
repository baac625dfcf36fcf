import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import { mathPairs, missed } from './math.fixture.js';
import { math } from './math.js';

const FULL = process.env['PERWATT_FULL'] === '1';
const RUNS = FULL ? 100_000 : 1_500;
const LIMIT_MS = FULL ? 3_600_000 : 120_000;

const boxed = (answer: string) => (answer.includes('\\boxed') ? answer : `\\boxed{${answer}}`);
const judge = (gold: string, prediction: string) => math.grade({ prediction, gold });
const isRight = (gold: string, answer: string) => judge(gold, boxed(answer)).verdict === 'correct';

const pairs = Object.values(mathPairs).flat();
const answers = [...new Set(pairs.map(([gold]) => gold).concat(pairs.map(([, other]) => other)))];

describe('pairs of answers', () => {
  test.each(Object.entries(mathPairs))('%s', (_kind, ofKind) => {
    for (const [gold, answer, equal] of ofKind)
      expect(isRight(gold, answer), `${gold} and ${answer}`).toBe(equal);
  });

  test('are many, and more than half of them are near misses', () => {
    expect(pairs.length).toBeGreaterThanOrEqual(400);
    expect(pairs.filter(([, , equal]) => !equal).length).toBeGreaterThan(pairs.length / 2);
  });

  test('equal ones that are not found are known by number', () => {
    expect(missed.filter(([gold, answer]) => !isRight(gold, answer))).toEqual(missed);
    expect(missed.length).toBe(12);
  });

  test('unequal ones are not the same either way', () => {
    for (const [gold, answer] of pairs.filter(([, , equal]) => !equal)) {
      expect(math.same?.(gold, answer), `${gold} and ${answer}`).toBe(false);
      if (!gold.includes('\\boxed')) expect(isRight(answer, gold), `${answer} and ${gold}`).toBe(false);
    }
  });

  test('either one may be the gold answer', () => {
    for (const [a, b] of pairs.filter((pair) => !pair.join('').includes('\\boxed')))
      expect(isRight(a, b), `${a} and ${b}`).toBe(isRight(b, a));
  });

  const answer = fc.constantFrom(...answers);
  property.prop([answer], { numRuns: 500 })('every answer is the same as itself', (a) => {
    expect(math.same?.(a, a)).toBe(true);
    expect(isRight(a, a)).toBe(true);
  });

  property.prop([answer, answer], { numRuns: 500 })('order does not matter to `same`', (a, b) => {
    expect(math.same?.(a, b)).toBe(math.same?.(b, a));
  });

  test('order does not matter to `same` for any pair', () => {
    for (const [a, b] of pairs) expect(math.same?.(a, b), `${a} and ${b}`).toBe(math.same?.(b, a));
  });
});

const shared = resolve(import.meta.dirname, '../../..', process.env['PERWATT_SHARED'] ?? '../shared');
const file = join(shared, 'data/corpora/math500/test.jsonl');

describe('MATH-500', { timeout: LIMIT_MS }, () => {
  interface Problem {
    readonly solution: string;
    readonly answer: string;
  }
  const problems = () =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Problem);
  const absent = `no reference data in ${shared}; set PERWATT_SHARED`;

  test('every gold answer is right for itself', ({ skip }) => {
    skip(!existsSync(file), absent);
    const right = problems().filter(({ answer }) => isRight(answer, answer));
    expect(right.length).toBe(500);
  });

  test('at least 498 worked solutions are right for their own gold answer', ({ skip }) => {
    skip(!existsSync(file), absent);
    const right = problems().filter(({ answer, solution }) => judge(answer, solution).verdict === 'correct');
    expect(right.length).toBeGreaterThanOrEqual(498);
  });

  test('at most 16 pairs of distinct answers are equal', ({ skip }) => {
    skip(!existsSync(file), absent);
    const distinct = [...new Set(problems().map(({ answer }) => answer))];
    const equal = distinct.flatMap((a, i) =>
      distinct.slice(i + 1).flatMap((b) => (math.same?.(a, b) ? [`${a} and ${b}`] : [])),
    );
    expect(equal.length, equal.join('\n')).toBeLessThanOrEqual(16);
  });
});

const MAX_CHARS = 10_000;
const verdicts = ['correct', 'incorrect', 'unparsed', 'ambiguous', 'truncated', 'refused', 'empty'];

/** Terms by a grammar, deep or wide, and well formed or nearly. */
const { term } = fc.letrec<{ term: string }>((tie) => {
  const t = tie('term');
  const number = fc.oneof(
    fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }).map(String),
    fc.integer({ min: -20, max: 20 }).map(String),
    fc.double({ noNaN: true }).map(String),
  );
  const symbol = fc.constantFrom('x', 'y', 'n', 'i', 'e', '\\pi', '\\theta', '\\infty', '\\emptyset', '\\%');
  const joined = fc
    .tuple(
      t,
      fc.constantFrom('+', '-', '*', '/', '^', '_', '=', '<', '\\le ', ',', ';', '!', ' ', '\\pm '),
      t,
    )
    .map((parts) => parts.join(''));
  const wrapped = fc
    .tuple(
      fc.constantFrom(
        '\\sqrt{#}',
        '(#)',
        '[#)',
        '\\{#\\}',
        '|#|',
        '\\text{#}',
        '\\sin #',
        '\\left(#\\right]',
        '#!',
      ),
      t,
    )
    .map(([frame, inner]) => frame.split('#').join(inner));
  const pairOf = fc
    .tuple(
      fc.constantFrom(
        '\\frac{#}{@}',
        '#^{@}',
        '#_{@}',
        '\\sqrt[#]{@}',
        '(#,@)',
        '\\begin{pmatrix}#&@\\end{pmatrix}',
      ),
      t,
      t,
    )
    .map(([frame, a, b]) => frame.split('#').join(a).split('@').join(b));
  return {
    term: fc.oneof({ depthSize: 'small', withCrossShrink: true }, number, symbol, joined, wrapped, pairOf),
  };
});

const pieces = [
  '{',
  '}',
  '(',
  ')',
  '\\',
  '\\frac',
  '\\boxed{',
  '^',
  '_',
  '$',
  '9',
  '-',
  ',',
  '.',
  '!',
  '√',
  '²',
];

/** An answer of the corpus, cut, spliced and repeated. */
const mutated = fc
  .tuple(
    fc.constantFrom(...answers),
    fc.array(
      fc.record({
        at: fc.nat(200),
        drop: fc.nat(3),
        put: fc.oneof(fc.constantFrom(...pieces), fc.constantFrom(...answers), fc.string({ maxLength: 4 })),
        times: fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 1, max: 3 }) }, fc.constantFrom(40, 900)),
      }),
      { maxLength: 4 },
    ),
  )
  .map(([answer, edits]) =>
    edits.reduce((text, { at, drop, put, times }) => {
      const start = Math.min(at, text.length);
      return text.slice(0, start) + put.repeat(times) + text.slice(start + drop);
    }, answer),
  );

const hostile = fc
  .oneof(term, mutated, fc.string({ maxLength: 200 }))
  .map((text) => text.slice(0, MAX_CHARS));

describe('any text', () => {
  property.prop([hostile, hostile, fc.boolean()], { numRuns: RUNS })(
    'has a verdict, the same one each time, and a span that lies in it',
    (gold, text, inBox) => {
      const prediction = inBox ? `\\boxed{${text}}` : text;
      const grade = judge(gold, prediction);
      if (grade.verdict !== 'unscored') expect(verdicts).toContain(grade.verdict);
      if (grade.score !== null) expect(grade.score).toBe(grade.verdict === 'correct' ? 1 : 0);
      expect(judge(gold, prediction)).toEqual(grade);
      if (grade.span !== null) {
        const [start, end] = grade.span;
        expect(0 <= start && start <= end && end <= prediction.length).toBe(true);
      }
      expect(math.same?.(gold, gold)).toBe(true);
    },
    LIMIT_MS,
  );
});
