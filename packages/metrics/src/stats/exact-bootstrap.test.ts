import { createRng } from '@perwatt/core';
import { describe, expect, test } from 'vitest';
import { bootstrapMean } from '../bootstrap.js';
import { exactBootstrapMean } from './exact-bootstrap.js';

const clustersOf = (histogram: readonly number[], size: number): number[][] =>
  histogram.flatMap((count, sum) =>
    Array.from({ length: count }, () => Array.from({ length: size }, (_, i) => (i < sum ? 1 : 0))),
  );

describe('the exact bootstrap of a mean', () => {
  // biome-ignore format: a table is read in columns
  test.each<[histogram: number[], size: number, why: string]>([
    [[5, 3, 4, 8],            3, 'three repeats of 20 items'],
    [[40, 10],                1, 'one score an item'],
    [[2, 1, 1, 60],           3, 'nearly all right: skewed'],
    [[150, 50, 40, 60],       3, '300 items'],
    [[2, 2],                  1, 'four items'],
  ])('%j of %i scores is what 40,000 draws come to: %s', (histogram, size) => {
    const exact = exactBootstrapMean(histogram, size)!;
    const drawn = bootstrapMean(clustersOf(histogram, size), { seed: 5, draws: 40_000 })!;
    const clusters = histogram.reduce((sum, count) => sum + count, 0);
    const step = 1 / (clusters * size);
    expect(Math.abs(exact.lo - drawn.lo)).toBeLessThanOrEqual(1.01 * step);
    expect(Math.abs(exact.hi - drawn.hi)).toBeLessThanOrEqual(1.01 * step);
  });

  test('is null for fewer than two clusters or no scores, and a point where nothing spreads', () => {
    expect(exactBootstrapMean([], 1)).toBeNull();
    expect(exactBootstrapMean([0, 1], 1)).toBeNull();
    expect(exactBootstrapMean([3, 4], 0)).toBeNull();
    expect(exactBootstrapMean([0, 0, 7], 2)).toEqual({ lo: 1, hi: 1 });
  });

  test('holds the value it is of, whatever the sums', () => {
    const rng = createRng(3);
    for (let i = 0; i < 60; i++) {
      const histogram = Array.from({ length: 5 }, () => Math.floor(rng() * 30));
      const clusters = histogram.reduce((sum, count) => sum + count, 0);
      const value = histogram.reduce((sum, count, own) => sum + count * own, 0) / (4 * clusters);
      const { lo, hi } = exactBootstrapMean(histogram, 4)!;
      expect(lo).toBeLessThanOrEqual(value);
      expect(hi).toBeGreaterThanOrEqual(value);
    }
  });
});
