import type { Rng } from '@perwatt/core';
import { gamma } from './synth-samplers.js';

/** How synthetic calls arrive. */
export interface SynthArrivals {
  readonly shape: 'constant' | 'poisson' | 'gamma';
  readonly rate_per_s: number;
  /** Of the gaps, for gamma: above 1 bursts, below 1 smoother than Poisson. */
  readonly cv: number;
}

/** Gaps in ns, one at each call: all the same, exponential, or gamma with shape 1 / CV². */
export function gapDraw({ shape, rate_per_s, cv }: SynthArrivals, rng: Rng): () => number {
  const mean = 1e9 / rate_per_s;
  switch (shape) {
    case 'constant':
      return () => mean;
    case 'poisson':
      return () => -mean * Math.log(1 - rng());
    case 'gamma':
      return () => mean * gamma(rng, 1 / cv ** 2);
  }
}
