import { fc, test as property } from '@fast-check/vitest';
import { createRng, type RepeatRule } from '@perwatt/core';
import { studentT } from '@perwatt/metrics';
import { describe, expect, test } from 'vitest';
import { stoppingOf } from './repeat-rule.js';

const rule = (more: Partial<RepeatRule['until']> = {}): RepeatRule['until'] => ({
  metric: 'energy_per_query_j',
  half_width: 0.05,
  min: 3,
  max: 10,
  ...more,
});

// biome-ignore format: a table is read in columns
test.each<[values: (number | null)[], more: Partial<RepeatRule['until']>, stopped: string | null, why: string]>([
  [[],                                 {},         null,     'nothing was measured'],
  [[10, 10],                           {},         null,     'fewer than the least'],
  [[10, 10, 10],                       {},         null,     'narrow once'],
  [[10, 10, 10, 10],                   {},         'narrow', 'narrow twice in a row'],
  [[10, 14, 10, 10.1],                 {},         null,     'wide'],
  [[10, null, 10, 10, 10],             {},         null,     'a repeat without a value is never narrow'],
  [[10, 10, 10, 10],                   { min: 4 }, null,     'the first look is the fourth'],
  [[1, 9, 2, 8, 3, 7, 4, 6, 5, 20],    {},         'cap',    'the most repeats were made'],
  [[0, 0, 0, 0],                       {},         null,     'nothing is relative to nought'],
  [[-10, -10, -10, -10],               {},         'narrow', 'a net energy below nought'],
])('of %j with %j: %s (%s)', (values, more, stopped) => {
  expect(stoppingOf(values, rule(more))).toMatchObject({ stopped, repeats: values.length });
});

test('the half-width is that of the interval by Student', () => {
  const { half_width } = stoppingOf([9, 10, 11, 10], rule());
  expect(half_width).toBeCloseTo((3.182446 * Math.sqrt(2 / 3)) / 2 / 10, 6);
});

property.prop([
  fc.infiniteStream(fc.oneof(fc.double({ min: -1e6, max: 1e6, noNaN: true }), fc.constant(null))),
  fc.integer({ min: 3, max: 30 }),
  fc.double({ min: 1e-3, max: 1, noNaN: true }),
])('a rule ends, whatever is measured, and never before the least', (stream, max, half_width) => {
  const values: (number | null)[] = [];
  let looks = 0;
  while (stoppingOf(values, rule({ max, half_width })).stopped === null) {
    looks += 1;
    expect(looks).toBeLessThanOrEqual(max);
    values.push(stream.next().value ?? null);
  }
  expect(values.length).toBeGreaterThanOrEqual(3);
});

describe('over many cells whose repeats spread by 5 %', () => {
  const normal = (random: () => number) =>
    Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

  function trial(half_width: number, random: () => number) {
    const values: number[] = [];
    let facts = stoppingOf(values, rule({ half_width, min: 8, max: 200 }));
    while (facts.stopped === null) {
      values.push(50 * (1 + 0.05 * normal(random)));
      facts = stoppingOf(values, rule({ half_width, min: 8, max: 200 }));
    }
    const { lo, hi } = studentT(values) ?? { lo: 0, hi: 0 };
    return { repeats: values.length, covers: lo <= 50 && 50 <= hi };
  }

  // biome-ignore format: a table is read in columns
  test.each<[half_width: number, repeats: readonly [number, number], why: string]>([
    [0.05, [9, 11],  'about the least'],
    [0.02, [24, 29], 'about (1.96 × 5 % / 2 %)² and the second look'],
  ])('half-width %d takes %j repeats and the interval covers the truth in 92.5 to 97 %% (%s)', (half_width, [least, most]) => {
    const random = createRng(7);
    const trials = Array.from({ length: 1500 }, () => trial(half_width, random));
    const mean = trials.reduce((sum, { repeats }) => sum + repeats, 0) / trials.length;
    const share = trials.filter(({ covers }) => covers).length / trials.length;
    expect([mean >= least, mean <= most, share >= 0.925, share <= 0.97]).toEqual(Array(4).fill(true));
  });
});
