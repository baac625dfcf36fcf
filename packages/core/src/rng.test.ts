import { expect, test } from 'vitest';
import { createRng, seedFrom } from './rng.js';

test('the same seed gives the same numbers, another seed others', () => {
  const take = (seed: number) => Array.from({ length: 5 }, createRng(seed));
  expect(take(1)).toEqual(take(1));
  expect(take(1)).not.toEqual(take(2));
});

test('numbers fill [0, 1) evenly', () => {
  const rng = createRng(7);
  const bins = new Array<number>(10).fill(0);
  for (let i = 0; i < 100_000; i++) {
    const bin = Math.floor(rng() * 10);
    bins[bin] = (bins[bin] ?? Number.NaN) + 1;
  }
  // Chi-square with 9 degrees of freedom; 27.9 is its 99.9 % point.
  const chi2 = bins.reduce((sum, n) => sum + (n - 10_000) ** 2 / 10_000, 0);
  expect(chi2).toBeLessThan(27.9);
});

test('purposes are told apart, and seeds fit 31 bits', () => {
  expect(seedFrom(1, 'a', 'b')).toBe(seedFrom(1, 'a', 'b'));
  expect(seedFrom(1, 'a', 'b')).not.toBe(seedFrom(1, 'ab'));
  expect(seedFrom(1, 'x')).not.toBe(seedFrom(2, 'x'));
  for (let i = 0; i < 1000; i++) expect(seedFrom(i, 'p')).toBeLessThan(2 ** 31);
});
