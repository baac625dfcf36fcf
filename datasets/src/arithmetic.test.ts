import { fc, test as property } from '@fast-check/vitest';
import { createRng, PerwattError } from '@perwatt/core';
import { describe, expect, test } from 'vitest';
import { loadDataset } from './catalogue.js';
import { expressionOf, longExpression } from './expression.js';

const load = (options: Record<string, unknown>, rest: { limit?: number; seed?: number } = {}) =>
  loadDataset({ kind: 'arithmetic', options, ...rest }, { root: '/', seed: 42 });

const PRECEDENCE: Readonly<Record<string, number>> = { '+': 1, '-': 1, '×': 2 };

/** The value of an infix text by the shunting-yard algorithm: nothing in common with how the generator computes it. */
function evaluate(text: string): bigint {
  const values: bigint[] = [];
  for (const token of postfix(text.match(/\d+|\S/g) ?? [])) {
    if (/\d/.test(token)) values.push(BigInt(token));
    else {
      const [b, a] = [values.pop()!, values.pop()!];
      values.push(token === '+' ? a + b : token === '-' ? a - b : a * b);
    }
  }
  expect(values, text).toHaveLength(1);
  return values[0]!;
}

function postfix(tokens: readonly string[]): string[] {
  const [out, operators]: [string[], string[]] = [[], []];
  const popWhile = (holds: (top: string) => boolean) => {
    while (operators.length > 0 && holds(operators.at(-1)!)) out.push(operators.pop()!);
  };
  for (const token of tokens) {
    if (/\d/.test(token)) out.push(token);
    else if (token === '(') operators.push(token);
    else if (token === ')') {
      popWhile((top) => top !== '(');
      operators.pop();
    } else {
      expect(PRECEDENCE, tokens.join(' ')).toHaveProperty([token]);
      popWhile((top) => (PRECEDENCE[top] ?? 0) >= PRECEDENCE[token]!);
      operators.push(token);
    }
  }
  popWhile(() => true);
  return out;
}

const expressionIn = (prompt: string) =>
  /(?:What is|value of) (?<expression>.*?)[?.](?:\s|$)/.exec(prompt)!.groups!['expression']!;

/** Depth of brackets at every character; throws where one closes that was not opened. */
function deepest(text: string): number {
  let [depth, most] = [0, 0];
  for (const char of text) {
    depth += char === '(' ? 1 : char === ')' ? -1 : 0;
    if (depth < 0) throw new Error(`unbalanced: ${text}`);
    most = Math.max(most, depth);
  }
  if (depth !== 0) throw new Error(`unbalanced: ${text}`);
  return most;
}

describe('the referee of these tests', () => {
  // biome-ignore format: a table is read in columns
  test.each([
    ['2 + 3 × 4',         14n, 'products first'],
    ['(2 + 3) × 4',       20n, 'brackets first'],
    ['10 - 4 - 3',        3n,  'from the left'],
    ['2 × (3 - 5) + 1',   -3n, 'negative within'],
  ])('%s is %s: %s', (text, value) => {
    expect(evaluate(text)).toBe(value);
  });
});

describe('long expressions', () => {
  property.prop([fc.integer()])(
    'have 4 to 11 operands of 3 to 7 digits, a true value of at most 16 digits, and brackets in order',
    (seed) => {
      const { text, value } = longExpression(createRng(seed));
      const operands = text.match(/\d+/g)!;
      expect(operands.length).toBeGreaterThanOrEqual(4);
      expect(operands.length).toBeLessThanOrEqual(11);
      expect(operands.every((o) => o.length >= 3 && o.length <= 7 && !o.startsWith('0'))).toBe(true);
      expect(`${value}`.replace('-', '').length).toBeLessThanOrEqual(16);
      expect(evaluate(text)).toBe(value);
      expect(deepest(text)).toBeLessThanOrEqual(1);
      expect(text.split('(').length - 1).toBeLessThanOrEqual(2);
    },
  );

  test('use all operators in their proportions, and brackets in some', () => {
    const rng = createRng(7);
    const texts = Array.from({ length: 2000 }, () => longExpression(rng).text);
    const count = (pattern: RegExp) => texts.join(' ').match(pattern)!.length;
    const [plus, minus, times] = [count(/ \+ /g), count(/ - /g), count(/ × /g)];
    expect(plus / minus).toBeGreaterThan(1.15);
    expect(plus / minus).toBeLessThan(1.55);
    expect(times).toBeGreaterThan(minus);
    const bracketed = texts.filter((t) => t.includes('(')).length / texts.length;
    expect(bracketed).toBeGreaterThan(0.4);
    expect(bracketed).toBeLessThan(0.75);
  });

  test('every narrow bracket holds a sum or difference beside a product, every wide one both kinds of operator', () => {
    const rng = createRng(11);
    for (let i = 0; i < 500; i++) {
      const { text } = longExpression(rng);
      for (const pair of text.matchAll(/\((?<inner>[^()]*)\)/g)) {
        const { inner = '' } = pair.groups!;
        const around = `${text.slice(0, pair.index)}#${text.slice(pair.index + pair[0].length)}`;
        const size = inner.match(/\d+/g)!.length;
        if (size === 2) {
          expect(inner).toMatch(/ [+-] /);
          expect(around).toMatch(/× #|# ×/);
        } else {
          expect(size).toBeLessThanOrEqual(5);
          expect(inner).toContain('×');
          expect(inner).toMatch(/ [+-] /);
        }
      }
    }
  });

  test('a written expression has the value it reads as', () => {
    expect(expressionOf([2n, 3n, 4n], ['+', '×'])).toEqual({ text: '2 + 3 × 4', value: 14n });
    expect(expressionOf([2n, 3n, 4n], ['+', '×'], [[0, 1]])).toEqual({ text: '(2 + 3) × 4', value: 20n });
    const two = expressionOf(
      [2n, 3n, 4n, 5n],
      ['+', '×', '-'],
      [
        [2, 3],
        [0, 1],
      ],
    );
    expect(two).toEqual({ text: '(2 + 3) × (4 - 5)', value: -5n });
  });
});

describe('arithmetic', () => {
  test.each([1, 2, 3, 4, 5])(
    'level %i: every gold is the value of the expression asked for, ids and prompts differ',
    async (level) => {
      const { items, ...facts } = await load({ level }, { limit: 60 });
      expect(facts).toMatchObject({ id: 'arithmetic', kind: 'generated', grader: 'numeric', guess_rate: 0 });
      expect(items).toHaveLength(60);
      for (const { prompt, gold } of items) expect(`${evaluate(expressionIn(prompt))}`, prompt).toBe(gold);
      expect(new Set(items.map((i) => i.id)).size).toBe(60);
      expect(new Set(items.map((i) => i.prompt)).size).toBe(60);
      expect(items.every((i) => i.subject === `level ${level}` && !/\p{C}/u.test(i.id))).toBe(true);
    },
  );

  test('level 1 is the default and holds all 81 sums of one-digit numbers, none with a zero', async () => {
    const { items } = await load({}, { limit: 81 });
    const sums = items.map((i) => expressionIn(i.prompt)).sort();
    expect(sums).toEqual(
      [1, 2, 3, 4, 5, 6, 7, 8, 9].flatMap((a) => [1, 2, 3, 4, 5, 6, 7, 8, 9].map((b) => `${a} + ${b}`)),
    );
    expect(items.every((i) => i.prompt.endsWith('Reply with the number only.'))).toBe(true);
  });

  test('level 1 with both operations holds the 81 sums and the 45 differences that are not negative', async () => {
    const { items } = await load({ operations: 'both' }, { limit: 126 });
    const asked = items.map((i) => expressionIn(i.prompt));
    expect(asked.filter((text) => text.includes('+'))).toHaveLength(81);
    expect(asked.filter((text) => text.includes('-'))).toHaveLength(45);
    for (const { prompt, gold } of items) {
      expect(`${evaluate(expressionIn(prompt))}`).toBe(gold);
      expect(Number(gold)).toBeGreaterThanOrEqual(0);
    }
    const sums = new Map((await load({}, { limit: 81 })).items.map((item) => [item.id, item]));
    expect(items.filter(({ id }) => sums.has(id))).toHaveLength(81);
    for (const item of items) expect(sums.get(item.id) ?? item).toEqual(item);
  });

  test('the same seed gives the same questions, another gives others; a lower limit gives the first of them', async () => {
    const [a, b, c, d] = await Promise.all([
      load({ level: 5 }, { seed: 1 }),
      load({ level: 5 }, { seed: 1 }),
      load({ level: 5 }, { seed: 2 }),
      load({ level: 5 }, { seed: 1, limit: 10 }),
    ]);
    expect(b).toEqual(a);
    expect(c.digest).not.toBe(a.digest);
    expect(d.items).toEqual(a.items.slice(0, 10));
  });

  test('a seed of its own wins over that of the run', async () => {
    const spec = { kind: 'arithmetic', options: {}, seed: 9 };
    const [a, b] = await Promise.all([1, 2].map((seed) => loadDataset(spec, { root: '/', seed })));
    expect(a?.digest).toBe(b?.digest);
  });

  test('one question has one id whatever the seed', async () => {
    const [a, b] = await Promise.all([1, 2].map((seed) => load({}, { seed, limit: 81 })));
    const byId = new Map(a!.items.map((item) => [item.id, item]));
    for (const item of b!.items) expect(byId.get(item.id)).toEqual(item);
  });

  test.each([1, 5])(
    'level %i: train and test questions are disjoint, and a tenth are test questions',
    async (level) => {
      const train = await load({ level, split: 'train' }, level === 1 ? {} : { limit: 400 });
      const test = await load({ level, split: 'test' }, level === 1 ? {} : { limit: 50 });
      const ids = new Set(train.items.map((i) => i.id));
      expect(test.items.some((i) => ids.has(i.id))).toBe(false);
      expect(test.items.length).toBeGreaterThan(0);
      const all = await load({ level }, { limit: 80 });
      const share = all.items.filter((i) => test.items.some((t) => t.id === i.id)).length / all.items.length;
      expect(share).toBeGreaterThan(0);
      expect(share).toBeLessThan(0.25);
    },
  );

  // biome-ignore format: a table is read in columns
  test.each<readonly [options: Record<string, unknown>, limit: number, message: string, why: string]>([
    [{ level: 0 },      5,  'option "level" is 0, not a whole number from 1 to 5',  'no such level'],
    [{ level: '1' },    5,  'option "level" is "1", not a whole number',            'a text for a number'],
    [{ levle: 1 },      5,  'unknown option "levle"; did you mean "level"?',        'a misspelt option'],
    [{ operations: 'both', level: 2 }, 5, 'option "operations" is of level 1 alone, the level is 2', 'only level 1 has them apart'],
    [{ split: 'dev' },  5,  'option "split" is "dev", not "all" or "train" or "test"', 'no such split'],
    [{ level: 1 },      82, 'level 1 has 81 different questions, the limit asks for 82', 'more questions than there are'],
  ])('%j with limit %i is an error: %s (%s)', async (options, limit, message) => {
    const error = await load(options, { limit }).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(PerwattError);
    expect(error).toMatchObject({ code: 'INPUT_INVALID', message: expect.stringContaining(message) });
  });
});
