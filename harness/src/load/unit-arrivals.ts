import type { Rng } from '@perwatt/core';

/** How gaps of mean 1 are spread. */
export interface GapProcess {
  readonly process: 'constant' | 'poisson' | 'gamma';
  /** Shape k of gamma gaps, whose coefficient of variation is 1/√k. */
  readonly smoothness: number;
}

/** Arrivals of a process with one arrival a unit of time on average, one after another; the constant one begins at 0. */
export function unitArrivals({ process, smoothness }: GapProcess, rng: Rng): () => number {
  let at = 0;
  if (process === 'constant') return () => at++;
  const gap = process === 'poisson' ? () => -Math.log(1 - rng()) : gammaGap(smoothness, rng);
  return () => {
    at += gap();
    return at;
  };
}

/**
 * Gamma gaps of shape k and mean 1, by the method of Marsaglia and Tsang (2000, https://doi.org/10.1145/358407.358414);
 * a shape below 1 by its relation to that of k + 1.
 */
function gammaGap(k: number, rng: Rng): () => number {
  const shape = k < 1 ? k + 1 : k;
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  const normal = normals(rng);
  const draw = (): number => {
    for (;;) {
      const x = normal();
      const v = (1 + c * x) ** 3;
      if (v <= 0) continue;
      const u = 1 - rng();
      if (Math.log(u) < 0.5 * x * x + d * (1 - v + Math.log(v))) return d * v;
    }
  };
  return k < 1 ? () => (draw() * (1 - rng()) ** (1 / k)) / k : () => draw() / k;
}

/** Standard normal numbers by the polar method of Marsaglia. */
function normals(rng: Rng): () => number {
  let spare: number | null = null;
  return () => {
    if (spare !== null) {
      const kept = spare;
      spare = null;
      return kept;
    }
    for (;;) {
      const [x, y] = [2 * rng() - 1, 2 * rng() - 1];
      const s = x * x + y * y;
      if (s >= 1 || s === 0) continue;
      const scale = Math.sqrt((-2 * Math.log(s)) / s);
      spare = y * scale;
      return x * scale;
    }
  };
}
