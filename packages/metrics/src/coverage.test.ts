import { fc, test as propTest } from '@fast-check/vitest';
import { createRng } from '@perwatt/core';
import { expect, test } from 'vitest';
import { type CoverageItem, coverage, coverageBySubject, guessingFloor } from './coverage.js';

const item = (
  right: Record<string, boolean | null>,
  guess_rate: number | null = 0.25,
  subject: string | null = null,
) => ({
  item_id: 'i',
  subject,
  guess_rate,
  right,
});

// biome-ignore format: a table is read in columns
test.each<[why: string, items: CoverageItem[], value: number | null, undecided: number, floor: number | null]>([
  ['no items',                                  [],                                                             null, 0, null],
  ['one covered by either',                     [item({ a: true, b: false })],                                  1,    0, 1 - 0.75 ** 2],
  ['covered though one was not scored',         [item({ a: true, b: null })],                                   1,    0, 0.25],
  ['missed by all',                             [item({ a: false, b: false })],                                 0,    0, 1 - 0.75 ** 2],
  ['open while one was not scored',             [item({ a: false, b: null }), item({ a: true, b: true })],      1,    1, 1 - 0.75 ** 2],
  ['no score at all',                           [item({})],                                                     null, 1, null],
  ['chance unknown',                            [item({ a: true, b: true }, null)],                             1,    0, null],
  ['chance that is none',                       [item({ a: true, b: true }, 1.5)],                              1,    0, null],
  ['a model outside the set counts for nothing', [item({ a: false, b: false, c: true })],                       0,    0, 1 - 0.75 ** 2],
])('%s', (_why, items, value, undecided, floor) => {
  const found = coverage(items, ['a', 'b']);
  expect([found.value, found.undecided, found.floor]).toEqual([value, undecided, floor]);
});

test('bounds what undecided items leave open', () => {
  const found = coverage([item({ a: false, b: null }), item({ a: true, b: true })], ['a', 'b']);
  expect([found.worst, found.best]).toEqual([0.5, 1]);
});

test('names the best single model, the first on ties', () => {
  const items = [item({ b: true, a: false }), item({ b: false, a: true }), item({ b: true, a: true })];
  expect(coverage(items, ['b', 'a']).best_single).toEqual({ model: 'a', accuracy: 2 / 3, n: 3 });
});

test('24 models that guess among four answers cover almost everything, and are shown at their floor', () => {
  const random = createRng(24);
  const models = Array.from({ length: 24 }, (_, i) => `m${i}`);
  const guess = (rate: number) =>
    Array.from({ length: 4000 }, (_, i) => ({
      ...item(Object.fromEntries(models.map((model) => [model, random() < rate])), rate),
      item_id: `i${i}`,
    }));
  const four = coverage(guess(0.25), models);
  expect(four.floor).toBeCloseTo(0.998997, 6);
  expect(four.value).toBeGreaterThan(0.996);
  const many = coverage(guess(0.05), models);
  expect(many.floor).toBeCloseTo(1 - 0.95 ** 24, 12);
  expect(many.lo).toBeLessThan(many.floor ?? 0);
  expect(many.hi).toBeGreaterThan(many.floor ?? 1);
  expect(Math.abs(many.above_floor ?? 1)).toBeLessThan(0.06);
});

test('splits by subject, those without one last', () => {
  const items = [item({ a: true }, 0, 'law'), item({ a: false }, 0), item({ a: true }, 0, 'art')];
  const found = coverageBySubject(items, ['a']);
  expect(found.map(({ subject, coverage: c }) => [subject, c.value])).toEqual([
    ['art', 1],
    ['law', 1],
    [null, 0],
  ]);
});

const scored = fc.array(fc.record({ a: fc.boolean(), b: fc.boolean(), c: fc.boolean() }), {
  minLength: 1,
  maxLength: 30,
});

propTest.prop([scored])(
  'a larger set never covers less, nor less than its best model; twice the items change nothing',
  (rights) => {
    const items = rights.map((right, i) => ({ ...item(right), item_id: `${i}` }));
    const [two, three] = [coverage(items, ['a', 'b']), coverage(items, ['a', 'b', 'c'])];
    expect(three.value).toBeGreaterThanOrEqual(two.value ?? 1);
    expect(three.value).toBeGreaterThanOrEqual(three.best_single?.accuracy ?? 1);
    const doubled = coverage([...items, ...items], ['a', 'b', 'c']);
    expect(doubled.value).toBe(three.value);
    expect(doubled.floor).toBeCloseTo(three.floor ?? 1, 12);
  },
);

test('the floor of no models is 0', () => {
  expect(guessingFloor([{ guess_rate: 0.25, models: 0 }])).toBe(0);
});
