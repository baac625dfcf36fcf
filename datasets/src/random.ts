import type { Rng } from '@perwatt/core';

/** A whole number from `low` to `high`, both included. */
export const integer = (rng: Rng, low: number, high: number): number =>
  low + Math.floor(rng() * (high - low + 1));

/** One of `values`, which must not be empty. */
export function pick<T>(rng: Rng, values: readonly T[]): T {
  const value = values[integer(rng, 0, values.length - 1)];
  if (value === undefined) throw new RangeError('nothing to pick from');
  return value;
}

/** `values` in a random order (Fisher and Yates). */
export function shuffled<T>(rng: Rng, values: readonly T[]): T[] {
  const deck = values.map((value) => ({ value, key: rng() }));
  return deck.sort((a, b) => a.key - b.key).map((card) => card.value);
}

/** `count` different ones of `values`, in random order. */
export const several = <T>(rng: Rng, values: readonly T[], count: number): T[] =>
  shuffled(rng, values).slice(0, count);

/** Endless values, each block of `values.length` holding every one once, in an order of its own. */
export function* balanced<T>(rng: Rng, values: readonly T[]): Generator<T, never> {
  for (;;) yield* shuffled(rng, values);
}
