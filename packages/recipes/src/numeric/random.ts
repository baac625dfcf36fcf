import { createRng, seedFrom } from '@perwatt/core';

/** A generator of numbers whose whole state is four words, so that a checkpoint can hold it. */
export interface Random {
  /** The next number in [0, 1). */
  next(): number;
  /** The state; copying other words into it goes on from there. */
  readonly state: Uint32Array;
}

const rotl = (x: number, k: number) => (x << k) | (x >>> (32 - k));

/**
 * A seeded generator of numbers in [0, 1) for one purpose: xoshiro128** of Blackman and Vigna (2018). The same seed and
 * purpose give the same numbers on every machine and in every thread.
 */
export function createRandom(seed: number, purpose: string): Random {
  const fill = createRng(seedFrom(seed, purpose));
  const state = Uint32Array.from({ length: 4 }, () => Math.floor(fill() * 2 ** 32));
  if (state.every((word) => word === 0)) state[0] = 1;
  return {
    state,
    next() {
      // By index: taking the array apart by its iterator costs several times the rest.
      const a = state[0] ?? 0;
      const b = state[1] ?? 0;
      const c = state[2] ?? 0;
      const d = state[3] ?? 0;
      const result = Math.imul(rotl(Math.imul(b, 5), 7), 9) >>> 0;
      const c2 = c ^ a;
      const d2 = d ^ b;
      state[0] = a ^ d2;
      state[1] = b ^ c2;
      state[2] = c2 ^ (b << 9);
      state[3] = rotl(d2, 11);
      return result / 2 ** 32;
    },
  };
}

/** A whole number, 0 to n − 1, each as likely. */
export const below = (random: Random, n: number): number => Math.floor(random.next() * n);

/** A draw of the standard normal distribution, by Box and Muller; takes two numbers of the generator. */
export const normal = (random: Random): number =>
  Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());

/** The whole numbers 0 to n − 1 in a drawn order (Fisher and Yates). */
export function permutation(random: Random, n: number): number[] {
  const order = Array.from({ length: n }, (_, i) => i);
  for (let i = n - 1; i > 0; i--) {
    const j = below(random, i + 1);
    [order[i], order[j]] = [order[j] ?? 0, order[i] ?? 0];
  }
  return order;
}
