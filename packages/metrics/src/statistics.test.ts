import { fc, test as propTest } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import { bootstrapMean, bootstrapRatio } from './bootstrap.js';
import {
  clusteredMean,
  mean,
  quantile,
  quantileInterval,
  quantileIntervals,
  standardDeviation,
  studentT,
  t95,
  wilson,
} from './statistics.js';

// biome-ignore format: a table is read in columns
test.each<[successes: number, n: number, lo: number, hi: number]>([
  [  0,  30, 0,        0.113513],
  [  8,  10, 0.490162, 0.943318],
  [ 15,  30, 0.331541, 0.668459],
  [ 27,  30, 0.743789, 0.965400],
  [ 30,  30, 0.886487, 1],
  [450, 500, 0.870578, 0.923322],
])('wilson of %d out of %d is %d to %d', (successes, n, lo, hi) => {
  const interval = wilson(successes, n)!;
  expect(interval.value).toBe(successes / n);
  expect(interval.lo).toBeCloseTo(lo, 6);
  expect(interval.hi).toBeCloseTo(hi, 6);
});

test.each([
  [0, 0],
  [1, 0],
  [-1, 5],
  [6, 5],
  [0.5, 5],
  [1, 2.5],
  [Number.NaN, 5],
])('wilson refuses %d out of %d', (successes, n) => {
  expect(wilson(successes, n)).toBeNull();
});

// biome-ignore format: a table is read in columns
test.each<[df: number, t: number]>([
  [1, 12.706205], [4, 2.776445], [9, 2.262157], [29, 2.045230], [99, 1.984217], [499, 1.964729],
])('t at %d degrees of freedom, 95 %%, is %d', (df, t) => {
  expect(t95(df)).toBeCloseTo(t, 5);
});

test.each([0, -1, Number.NaN])('t at %d degrees of freedom is no number', (df) => {
  expect(t95(df)).toBeNaN();
});

describe('means', () => {
  // biome-ignore format: a table is read in columns
  test.each<[values: number[], average: number | null, deviation: number | null, why: string]>([
    [[],                    null, null,                 'no values'],
    [[3],                   3,    null,                 'one value has no spread'],
    [[1, 3],                2,    Math.SQRT2,           'two values'],
    [[2, 2, 2],             2,    0,                    'ties'],
    [[1, Number.NaN],       null, null,                 'not a number'],
    [[1, Number.POSITIVE_INFINITY], null, null,         'not finite'],
  ])('of %j are %s ± %s: %s', (values, average, deviation) => {
    expect(mean(values)).toBe(average);
    const spread = standardDeviation(values);
    if (deviation === null) expect(spread).toBeNull();
    else expect(spread).toBeCloseTo(deviation, 12);
    expect(studentT(values) === null).toBe(deviation === null);
  });

  test('Student uses n − 1 degrees of freedom: paired differences 1 1 0 1 0 0 0 0 0 0 have se 0.152753', () => {
    const estimate = studentT([1, 1, 0, 1, 0, 0, 0, 0, 0, 0])!;
    expect(estimate.value).toBeCloseTo(0.3, 12);
    expect((estimate.hi - estimate.value) / t95(9)).toBeCloseTo(0.152753, 6);
  });

  test('clusters widen the interval', () => {
    const estimate = clusteredMean([
      [1, 1, 1, 0],
      [0, 0, 0, 1],
      [1, 1, 1, 1],
    ])!;
    expect(estimate).toMatchObject({ n: 12, clusters: 3 });
    expect(estimate.value).toBeCloseTo(0.666667, 6);
    expect(estimate.se).toBeCloseTo(0.220479, 6);
    expect(estimate.hi - estimate.value).toBeCloseTo(t95(2) * 0.220479, 5);
  });

  test.each([[[]], [[[1, 0]]], [[[1], []]], [[[1], [Number.NaN]]]])('clusters %j are refused', (clusters) => {
    expect(clusteredMean(clusters)).toBeNull();
  });
});

describe('quantiles', () => {
  // biome-ignore format: a table is read in columns
  test.each<[values: number[], p: number, expected: number | null, why: string]>([
    [[],                 0.5,  null, 'no values'],
    [[7],                0.99, 7,    'one value'],
    [[4, 1, 3, 2],       0.5,  2,    'even: nothing is interpolated'],
    [[3, 1, 2],          0.5,  2,    'odd'],
    [[1, 1, 1, 9],       0.75, 1,    'ties'],
    [[1, 2, 3],          1,    3,    'the largest'],
    [[1, 2],             0,    null, 'no value has nothing at or below it'],
    [[1, 2],             1.1,  null, 'more than all'],
    [[1, Number.NaN],    0.5,  null, 'not a number'],
    [Array.from({ length: 100 }, (_, i) => i + 1), 0.07, 7, 'p·n that a double cannot hold'],
    [Array.from({ length: 100 }, (_, i) => i + 1), 0.99, 99, 'p99 of a hundred'],
  ])('of %j at %d is %s: %s', (values, p, expected) => {
    expect(quantile(values, p)).toBe(expected);
  });

  propTest.prop([fc.array(fc.integer(), { minLength: 1 }), fc.integer({ min: 1, max: 100 })])(
    'are the same for every value twice',
    (values, p) => {
      expect(quantile([...values, ...values], p / 100)).toBe(quantile(values, p / 100));
    },
  );

  test('the interval of a median of 1 … 100 is the 40th to the 61st', () => {
    const values = Array.from({ length: 100 }, (_, i) => i + 1);
    expect(quantileInterval(values, 0.5)).toEqual({ value: 50, lo: 40, hi: 61, n: 100 });
  });

  test('too few values bound a p99 from below only', () => {
    const values = Array.from({ length: 50 }, (_, i) => i + 1);
    expect(quantileInterval(values, 0.99)).toMatchObject({ value: 50, hi: null });
    expect(quantileInterval([], 0.5)).toBeNull();
  });
});

describe('quantiles of many', () => {
  test('several come from one sort, of typed arrays too', () => {
    const values = Float64Array.from({ length: 200_000 }, (_, i) => ((i * 7919) % 200_000) + 1);
    const [median, p99] = quantileIntervals(values, [0.5, 0.99]);
    expect(median).toMatchObject({ value: 100_000, n: 200_000 });
    expect(median!.hi! - median!.lo!).toBeCloseTo(2 * 1.96 * Math.sqrt(200_000 / 4), -1);
    expect(p99).toMatchObject({ value: 198_000 });
    expect(values[1]).toBe(7920);
  });

  test('one that is refused leaves the others', () => {
    expect(quantileIntervals([1, 2, 3], [0, 0.5, 1.5, Number.NaN]).map((q) => q?.value ?? null)).toEqual([
      null,
      2,
      null,
      null,
    ]);
    expect(quantileIntervals([], [0.5])).toEqual([null]);
    expect(quantileIntervals(Float64Array.of(1, Number.NaN), [0.5])).toEqual([null]);
    expect(quantileIntervals([1, Number.NEGATIVE_INFINITY], [0.5])).toEqual([null]);
  });
});

describe('bootstrap', () => {
  test('BCa moves with skewness where the percentile does not', () => {
    const skewed = Array.from({ length: 40 }, (_, i) => [Math.exp(i / 8)]);
    const bca = bootstrapMean(skewed, { seed: 3 })!;
    const plain = bootstrapMean(skewed, { seed: 3, method: 'percentile' })!;
    expect(bca.lo).toBeGreaterThan(plain.lo);
    expect(bca.hi).toBeGreaterThan(plain.hi);
  });

  test('two clusters are the fewest, and ties have no width', () => {
    expect(bootstrapMean([[1], [3]], { seed: 1, draws: 500 })).toEqual({ lo: 1, hi: 3 });
    expect(bootstrapMean([[2], [2], [2]], { seed: 1, draws: 500 })).toEqual({ lo: 2, hi: 2 });
    expect(bootstrapMean([], { seed: 1 })).toBeNull();
  });

  const clusters = Array.from({ length: 40 }, (_, i) => [Math.sqrt(i) / 7, i % 3 === 0 ? 1 : (0.1 * i) / 4]);

  test('is close to the clustered delta method, and the same for the same seed', () => {
    const drawn = bootstrapMean(clusters, { seed: 7 })!;
    const delta = clusteredMean(clusters)!;
    expect(drawn).toEqual(bootstrapMean(clusters, { seed: 7 }));
    expect(drawn).not.toEqual(bootstrapMean(clusters, { seed: 8 }));
    expect(drawn.lo).toBeCloseTo(delta.lo, 1);
    expect(drawn.hi).toBeCloseTo(delta.hi, 1);
  });

  test('a mean holds the truth in 95 of 100 trials or so', () => {
    const held = Array.from({ length: 200 }, (_, trial) => {
      const scores = Array.from({ length: 60 }, (_, i) => [
        ((trial * 7919 + i * 104_729) % 1009) / 1009 < 0.3 ? 1 : 0,
      ]);
      const { lo, hi } = bootstrapMean(scores, { seed: trial, draws: 400 })!;
      return lo <= 0.3 && 0.3 <= hi;
    }).filter(Boolean).length;
    expect(held).toBeGreaterThanOrEqual(180);
  });

  test.each([
    [[], 'none'],
    [[{ numerator: 1, denominator: 1 }], 'one'],
    [
      [
        { numerator: Number.NaN, denominator: 1 },
        { numerator: 1, denominator: 1 },
      ],
      'not a number',
    ],
    [
      [
        { numerator: 1, denominator: 0 },
        { numerator: 1, denominator: 0 },
      ],
      'nothing to divide by',
    ],
  ])('%j is refused: %s', (ratios) => {
    expect(bootstrapRatio(ratios, { seed: 1 })).toBeNull();
  });
});
