import { describe, expect, test } from 'vitest';
import { chiSquareQuantile, normalCdf, normalQuantile, studentQuantile } from '../distributions.js';
import { holm, multipleComparisonNote } from './holm.js';
import { mcnemar } from './mcnemar.js';
import { detectableDifference, itemsNeeded, type PowerQuestion, repeatsNeeded } from './power-analysis.js';
import { declaredSpread, runSpread } from './run-spread.js';

// biome-ignore format: a table is read in columns
test.each<[only_a: number, only_b: number, exact: number, mid: number]>([
  [ 3,  0, 0.25,     0.125],
  [10,  3, 0.092285, 0.057373],
  [25, 12, 0.047031, 0.033552],
  [ 5,  5, 1,        1],
  [ 0,  0, 1,        1],
  [ 1,  0, 1,        0.5],
])('McNemar of %d against %d: exact %d, mid-p %d', (only_a, only_b, exact, mid) => {
  const result = mcnemar(only_a, only_b)!;
  expect(result.p_exact).toBeCloseTo(exact, 6);
  expect(result.p_mid).toBeCloseTo(mid, 6);
  expect(result).toMatchObject({ p: result.p_mid, method: 'mid_p' });
  expect(mcnemar(only_b, only_a)?.p).toBe(result.p);
});

test('McNemar goes by χ² above a thousand discordant items, close to the binomial there, and refuses no counts', () => {
  const many = mcnemar(560, 480)!;
  expect(many.method).toBe('chi_square');
  expect(Math.abs(many.p - many.p_exact)).toBeLessThan(1e-3);
  for (const [a, b] of [
    [-1, 2],
    [1.5, 2],
    [Number.NaN, 1],
  ] as const)
    expect(mcnemar(a, b)).toBeNull();
});

describe('Holm', () => {
  // biome-ignore format: a table is read in columns
  test.each<[ps: (number | null)[], adjusted: (number | null)[], why: string]>([
    [[],                       [],                        'no test'],
    [[0.04],                   [0.04],                    'one is as it is'],
    [[0.04, 0.01],             [0.04, 0.02],              'the smallest counts for all'],
    [[0.01, 0.04, 0.03],       [0.03, 0.06, 0.06],        'never less than one before it'],
    [[0.02, 0.02, 0.9],        [0.06, 0.06, 0.9],         'ties'],
    [[0.6, 0.7],               [1, 1],                    'never above 1'],
    [[0.04, null, Number.NaN, 2], [0.04, null, null, null], 'what is no test is not counted'],
  ])('%j becomes %j: %s', (ps, adjusted) => {
    expect(holm(ps).map((result) => result?.p ?? null)).toEqual(
      adjusted.map((p) => (p === null ? null : expect.closeTo(p, 12))),
    );
    expect(holm(ps).every((r) => r === null || r.rejected === r.p <= 0.05)).toBe(true);
  });

  test('is told in words from two comparisons on', () => {
    expect(multipleComparisonNote(0)).toBeNull();
    expect(multipleComparisonNote(1)).toBeNull();
    expect(multipleComparisonNote(14)).toContain('51 of 100');
  });
});

describe('items needed', () => {
  // biome-ignore format: a table is read in columns
  test.each<[question: PowerQuestion, items: number | null, why: string]>([
    [{ kind: 'proportions', pairing: 'unpaired', accuracy: 0.5, effect: 0.1 },                         388,  'the textbook case: 50 against 60 %'],
    [{ kind: 'proportions', pairing: 'paired', accuracy: 0.5, effect: 0.1, discordant: 0.2 },          155,  'Connor: a fifth discordant'],
    [{ kind: 'proportions', pairing: 'paired', accuracy: 0.5, effect: 0.1, discordant: 0.1 },          77,   'all that differ, differ one way'],
    [{ kind: 'proportions', pairing: 'paired', accuracy: 0.5, effect: 0.1, discordant: 0.05 },         null, 'fewer discordant than the effect'],
    [{ kind: 'proportions', pairing: 'unpaired', accuracy: 0.95, effect: 0.1 },                        null, 'above 1'],
    [{ kind: 'ratio_of_means', pairing: 'paired', effect: 0.05, cv: 0.2 },                             132,  'a 5 % difference'],
    [{ kind: 'ratio_of_means', pairing: 'unpaired', effect: 0.05, cv: 0.2 },                           264,  'twice as many without pairs'],
    [{ kind: 'ratio_of_means', pairing: 'paired', effect: 0, cv: 0.2 },                                null, 'no effect'],
    [{ kind: 'ratio_of_means', pairing: 'paired', effect: 0.05, cv: Number.NaN },                      null, 'not a number'],
    [{ kind: 'ratio_of_means', pairing: 'paired', effect: 0.05, cv: 0 },                               null, 'nothing spreads'],
    [{ kind: 'means', effect: 0.03, between_sd: 1 / 3, a: { within_sd: 0, attempts: 1 }, b: { within_sd: 0, attempts: 1 } }, 969, 'between items alone'],
    [{ kind: 'means', effect: 0.1, between_sd: 0.3, a: { within_sd: 0.4, attempts: 4 }, b: { within_sd: 0.4, attempts: 1 } }, 228, 'attempts thin the noise within'],
    [{ kind: 'means', effect: 0.1, between_sd: 0.3, a: { within_sd: 0.4, attempts: 0 }, b: { within_sd: 0.4, attempts: 1 } }, null, 'no attempt'],
    [{ kind: 'ratio_of_means', pairing: 'paired', effect: 0.05, cv: 0.2, power: 1 },                   null, 'certainty needs infinitely many'],
  ])('%j: %s', (question, items) => {
    expect(itemsNeeded(question)).toBe(items);
  });

  test('agree with what so many items can show', () => {
    expect(detectableDifference(100, 0.5)).toBeCloseTo((2.8016 * 0.5) / 10, 4);
    expect(detectableDifference(0, 0.5)).toBeNull();
    expect(detectableDifference(10, Number.NaN)).toBeNull();
  });

  test('repeats against a spread that items do not thin', () => {
    const few = repeatsNeeded({ effect: 0.2, spread_ratio: 0.05 })!;
    const many = repeatsNeeded({ effect: 0.05, spread_ratio: 0.05 })!;
    expect(few).toBeGreaterThanOrEqual(3);
    expect(many).toBeGreaterThan(few);
    expect(repeatsNeeded({ effect: 0.05, spread_ratio: 0 })).toBe(3);
    expect(repeatsNeeded({ effect: 0, spread_ratio: 0.05 })).toBeNull();
    expect(repeatsNeeded({ effect: 0.0001, spread_ratio: 1 })).toBeNull();
    expect(repeatsNeeded({ effect: Number.POSITIVE_INFINITY, spread_ratio: 0.1 })).toBeNull();
  });

  // biome-ignore format: a table is read in columns
  test.each([
    [0.05, 0.001], [0.05, 0.02], [0.05, 0.05], [0.05, 0.3], [0.05, 1.17], [0.2, 0.05], [-0.5, 0.4], [3, 2], [0.05, 1.2],
  ])('for an effect of %d through a spread of %d the repeats are the fewest that do', (effect, spread_ratio) => {
    const short = (repeats: number): boolean => {
      const reach = studentQuantile(0.975, repeats - 1) + studentQuantile(0.8, repeats - 1);
      return reach * spread_ratio * Math.sqrt(2 / repeats) > Math.abs(Math.log1p(effect));
    };
    const found = repeatsNeeded({ effect, spread_ratio });
    if (found === null) expect(short(10_000)).toBe(true);
    else expect([short(found), found === 3 || short(found - 1)]).toEqual([false, true]);
  });
});

describe('between-run spread', () => {
  // biome-ignore format: a table is read in columns
  test.each<[values: (number | null)[], sd: number | null, reason: string | null, why: string]>([
    [[],                     null, 'between-run spread unknown',     'no repeat'],
    [[5],                    null, 'between-run spread unknown',     'one'],
    [[5, 6],                 null, 'between-run spread unknown',     'two'],
    [[4, 5, 6],              1,    null,                             'three'],
    [[5, 5, 5],              0,    null,                             'ties'],
    [[5, null, 6],           null, 'a repeat has no value',          'one of them is missing'],
    [[5, Number.NaN, 6],     null, 'a repeat has no finite value',   'not a number'],
  ])('%j: %s, %s', (values, sd, reason) => {
    expect(runSpread(values)).toMatchObject({ sd, reason, repeats: values.length });
  });

  test('has its interval by χ² and its share of the mean', () => {
    const { lo, hi, sd_ratio } = runSpread([4, 5, 6]);
    expect(lo).toBeCloseTo(Math.sqrt(2 / 7.377759), 6);
    expect(hi).toBeCloseTo(Math.sqrt(2 / 0.050636), 3);
    expect(sd_ratio).toBeCloseTo(0.2, 12);
    expect(runSpread([-1, 0, 1]).sd_ratio).toBeNull();
  });

  test('may be declared for imported figures', () => {
    expect(declaredSpread(-20, 0.1)).toMatchObject({ sd: 2, source: 'declared', reason: null });
    expect(declaredSpread(20, -0.1).source).toBe('unknown');
    expect(declaredSpread(Number.NaN, 0.1).sd).toBeNull();
  });
});

test('distributions have their textbook values', () => {
  expect(normalCdf(0)).toBe(0.5);
  expect(normalCdf(1.959963984540054)).toBeCloseTo(0.975, 12);
  expect(normalCdf(-10) / 7.61985302416e-24).toBeCloseTo(1, 9);
  expect(normalQuantile(0.975)).toBeCloseTo(1.959963984540054, 10);
  expect(normalQuantile(0.2)).toBeCloseTo(-0.8416212335729143, 10);
  expect([normalQuantile(0), normalQuantile(1)]).toEqual([
    Number.NEGATIVE_INFINITY,
    Number.POSITIVE_INFINITY,
  ]);
  expect(normalQuantile(Number.NaN)).toBeNaN();
  expect(chiSquareQuantile(0.95, 1)).toBeCloseTo(3.841459, 6);
  expect(chiSquareQuantile(0.025, 10)).toBeCloseTo(3.246973, 6);
  expect(chiSquareQuantile(0.975, 100)).toBeCloseTo(129.561197, 5);
});
