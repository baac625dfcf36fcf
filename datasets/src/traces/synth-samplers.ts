import type { Rng } from '@perwatt/core';

/** A standard normal number: Box and Muller (1958), one of the pair. */
export function normal(rng: Rng): number {
  const radius = Math.sqrt(-2 * Math.log(1 - rng()));
  return radius * Math.cos(2 * Math.PI * rng());
}

/** A gamma number of the given shape and mean 1: Marsaglia and Tsang (2000), with their boost for shapes below 1. */
export function gamma(rng: Rng, shape: number): number {
  if (shape < 1) return (gamma(rng, shape + 1) * (shape + 1) * (1 - rng()) ** (1 / shape)) / shape;
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = normal(rng);
    const v = (1 + c * x) ** 3;
    if (v > 0 && Math.log(1 - rng()) < 0.5 * x ** 2 + d - d * v + d * Math.log(v)) return (d * v) / shape;
  }
}

/** A lognormal number of the given mean and CV (standard deviation over mean); the mean itself for a CV of 0. */
export function lognormal(rng: Rng, mean: number, cv: number): number {
  if (cv === 0) return mean;
  const variance = Math.log(1 + cv ** 2);
  return mean * Math.exp(Math.sqrt(variance) * normal(rng) - variance / 2);
}

/** The numbers below `length` in random order: Fisher and Yates. */
export function shuffled(rng: Rng, length: number): Uint32Array {
  const order = Uint32Array.from({ length }, (_, i) => i);
  for (let i = length - 1; i > 0; i--) {
    const j = Math.floor(rng() * (i + 1));
    const other = order[j] ?? 0;
    order[j] = order[i] ?? 0;
    order[i] = other;
  }
  return order;
}
