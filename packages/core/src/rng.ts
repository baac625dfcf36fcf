import type { Rng } from './strategy.js';

/**
 * A seeded generator of numbers in [0, 1): xoshiro128** of Blackman and Vigna (2018), its state filled from `seed` by
 * splitmix32. The same seed gives the same numbers on every machine.
 */
export function createRng(seed: number): Rng {
  let fill = seed | 0;
  const next32 = () => {
    fill = (fill + 0x9e3779b9) | 0;
    let z = fill;
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return (z ^ (z >>> 15)) >>> 0;
  };
  let [a, b, c, d] = [next32(), next32(), next32(), next32()];
  const rotl = (x: number, k: number) => (x << k) | (x >>> (32 - k));
  return () => {
    const result = Math.imul(rotl(Math.imul(b, 5), 7), 9) >>> 0;
    const t = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= t;
    d = rotl(d, 11);
    return result / 2 ** 32;
  };
}

/** A seed (31 bits, what every server accepts) for one purpose, from a run's seed and the names of that purpose. */
export function seedFrom(seed: number, ...purpose: readonly (string | number)[]): number {
  let hash = 0x811c9dc5 ^ seed;
  for (const part of purpose) {
    for (const char of `${part}\u001f`) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193);
  }
  return Math.floor(createRng(hash)() * 2 ** 31);
}
