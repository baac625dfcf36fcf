import { expect, test } from 'vitest';
import {
  averageAtK,
  equivalenceClasses,
  generalPassAtK,
  majorityAtK,
  meanGeneralPassAtK,
  passAllK,
  passAtK,
  type Vote,
} from './attempts.js';

// biome-ignore format: a table is read in columns
test.each<[n: number, right: number, k: number, expected: number | null, why: string]>([
  [10, 3, 1,  0.3,                'one attempt is the plain share'],
  [10, 3, 5,  11 / 12,            'five of ten'],
  [64, 1, 8,  0.125,              'one right among 64'],
  [ 5, 2, 2,  0.7,                'two of five'],
  [1024, 1, 100, 0.09765625,      'one right among a thousand'],
  [10, 6, 5,  1,                  'four wrong ones of ten: five can not all miss'],
  [ 8, 7, 2,  1,                  'fewer wrong ones than attempts'],
  [10, 0, 5,  0,                  'nothing right'],
  [ 1, 1, 1,  1,                  'a single attempt'],
  [ 0, 0, 1,  null,               'no attempts'],
  [ 2, 1, 3,  null,               'more than there are'],
  [ 2, 3, 1,  null,               'more right than made'],
  [ 2, 1, 0,  null,               'none asked for'],
  [ 2.5, 1, 1, null,              'no count'],
  [Number.NaN, 1, 1, null,        'not a number'],
  [1e6, 1, 10, 1e-5,              'a million attempts keep their digits'],
])('pass@k of n %d, %d right, k %d is %d: %s', (n, right, k, expected) => {
  const value = passAtK(n, right, k);
  if (expected === null) expect(value).toBeNull();
  else expect(value).toBeCloseTo(expected, 12);
});

test('all of two are right with chance 0.75 where 7 of 8 are; never where fewer than k are', () => {
  expect(passAllK(8, 7, 2)).toBeCloseTo(0.75, 12);
  expect(passAllK(8, 1, 2)).toBe(0);
  expect(passAllK(8, 8, 2)).toBeCloseTo(1, 12);
  expect(passAllK(1, 1, 2)).toBeNull();
});

// biome-ignore format: a table is read in columns
test.each([[0.5, 0.940559], [0.75, 0.304196], [1, 0.003497]])('G-pass@8 at τ %d of 10 in 16 is %d', (tau, expected) => {
  expect(generalPassAtK(16, 10, { k: 8, tau })).toBeCloseTo(expected, 6);
});

test('mG-pass@8 of 10 in 16 is 0.265734, and refusals are null', () => {
  expect(meanGeneralPassAtK(16, 10, 8)).toBeCloseTo(0.265734, 6);
  expect(meanGeneralPassAtK(2, 1, 3)).toBeNull();
  expect(generalPassAtK(2, 1, { k: 3, tau: 0.5 })).toBeNull();
  expect(generalPassAtK(2, 1, { k: 2, tau: 1.5 })).toBeNull();
  expect(generalPassAtK(4, 4, { k: 4, tau: 0 })).toBeCloseTo(1, 12);
});

test('pass@k is the share of all subsets with a right one', () => {
  const right = [true, false, false, true, false, false];
  let [hits, all] = [0, 0];
  for (let a = 0; a < 6; a++)
    for (let b = a + 1; b < 6; b++)
      for (let c = b + 1; c < 6; c++) {
        all += 1;
        hits += right[a] || right[b] || right[c] ? 1 : 0;
      }
  expect(passAtK(6, 2, 3)).toBeCloseTo(hits / all, 12);
});

test('avg@k is the mean score; none for no attempt or no number', () => {
  expect(averageAtK([1, 0, 0.5, 0.5])).toBe(0.5);
  expect(averageAtK([])).toBeNull();
  expect(averageAtK([1, Number.NaN])).toBeNull();
});

test('classes are built greedily against first members; what could not be read is of none', () => {
  const close = (a: number, b: number) => Math.abs(a - b) <= 1;
  expect(equivalenceClasses([1, null, 2, 3, 2.5, 0], close)).toEqual([0, null, 0, 1, 1, 0]);
  expect(equivalenceClasses([], close)).toEqual([]);
});

const vote = (answer_class: number | null, score = answer_class === 0 ? 1 : 0): Vote => ({
  answer_class,
  score,
});

// biome-ignore format: a table is read in columns
test.each<[why: string, votes: Vote[], k: number, ties: 'first' | 'shared', expected: number | null]>([
  ['all alike',                              [vote(0), vote(0)],                   2, 'first',  1],
  ['two against one',                        [vote(1), vote(0), vote(0)],          3, 'first',  1],
  ['a tie goes to the first seen',           [vote(1), vote(0)],                   2, 'first',  0],
  ['or is shared',                           [vote(1), vote(0)],                   2, 'shared', 0.5],
  ['what could not be read does not vote',   [vote(null), vote(null), vote(0)],    3, 'first',  1],
  ['nobody votes',                           [vote(null, 1), vote(null, 1)],       2, 'first',  0],
  ['k = 1 is the mean over attempts',        [vote(0), vote(1), vote(1), vote(0)], 1, 'first',  0.5],
  ['all pairs of three, ties to the first',  [vote(0), vote(1), vote(1)],          2, 'first',  2 / 3],
  ['no attempt',                             [],                                   1, 'first',  null],
  ['more than there are',                    [vote(0)],                            2, 'first',  null],
  ['not a number',                           [vote(0, Number.NaN)],                1, 'first',  null],
])('maj@k: %s', (_, votes, k, ties, expected) => {
  const value = majorityAtK(votes, { k, ties, seed: 1 });
  if (expected === null) expect(value).toBeNull();
  else expect(value).toBeCloseTo(expected, 12);
});

test('too many subsets are drawn, the same for the same seed and close to all of them', () => {
  const votes = Array.from({ length: 20 }, (_, i) => vote(i % 3 === 0 ? 0 : 1));
  const options = { k: 5, ties: 'shared', seed: 4 } as const;
  const drawn = majorityAtK(votes, options)!;
  expect(drawn).toBe(majorityAtK(votes, options));
  expect(drawn).not.toBe(majorityAtK(votes, { ...options, seed: 5 }));
  expect(Math.abs(drawn - majorityAtK(votes, { ...options, draws: 20_000 })!)).toBeLessThan(0.05);
});
