import { createRng } from '@perwatt/core';
import { bcaInterval, percentileInterval } from './stats/bca.js';

/** What one cluster adds to the two sums of a ratio. */
export interface RatioCluster {
  readonly numerator: number;
  readonly denominator: number;
}

export interface BootstrapOptions {
  /** The same seed gives the same interval. */
  readonly seed: number;
  /** Default 10,000. */
  readonly draws?: number;
  /** `bca` (default): bias-corrected and accelerated; `percentile`: the plain one. */
  readonly method?: 'bca' | 'percentile';
}

/** Draws of a bootstrap unless told otherwise. */
export const BOOTSTRAP_DRAWS = 10_000;

/** Draws that must have something to divide by: below that the interval would be one of the lucky draws. */
export const FEWEST_DEFINED = 0.975;

/** One draw of all clusters with replacement; NaN when there is nothing to divide by. */
function drawRatio(above: Float64Array, below: Float64Array, random: () => number): number {
  let numerator = 0;
  let denominator = 0;
  for (let i = 0; i < above.length; i++) {
    const pick = Math.floor(random() * above.length);
    numerator += above[pick] ?? 0;
    denominator += below[pick] ?? 0;
  }
  return denominator === 0 ? Number.NaN : numerator / denominator;
}

const total = (values: Float64Array): number => values.reduce((sum, value) => sum + value, 0);

/** The ratio with each cluster left out in turn; null where one leaves nothing to divide by. */
function leaveOneOut(above: Float64Array, below: Float64Array): Float64Array | null {
  const [numerator, denominator] = [total(above), total(below)];
  const ratios = above.map((part, i) => (numerator - part) / (denominator - (below[i] ?? 0)));
  return ratios.every(Number.isFinite) ? ratios : null;
}

/**
 * 95 % interval of Σ numerators / Σ denominators when whole clusters are drawn again with replacement, bias-corrected and
 * accelerated unless told otherwise. Null below two clusters, for numbers that aren't finite, nothing to divide by, and
 * where more than 2.5 % of the draws have nothing to divide by.
 */
export function bootstrapRatio(
  clusters: readonly RatioCluster[],
  options: BootstrapOptions,
): { lo: number; hi: number } | null {
  const above = Float64Array.from(clusters, (c) => c.numerator);
  const below = Float64Array.from(clusters, (c) => c.denominator);
  const value = total(above) / total(below);
  if (
    clusters.length < 2 ||
    !Number.isFinite(value) ||
    !(above.every(Number.isFinite) && below.every(Number.isFinite))
  )
    return null;
  const random = createRng(options.seed);
  const draws = options.draws ?? BOOTSTRAP_DRAWS;
  const ratios = Float64Array.from({ length: draws }, () => drawRatio(above, below, random)).filter(
    Number.isFinite,
  );
  if (ratios.length < FEWEST_DEFINED * draws) return null;
  const leftOut = options.method === 'percentile' ? null : leaveOneOut(above, below);
  return leftOut === null ? percentileInterval(ratios) : bcaInterval(ratios, value, leftOut);
}

/** `bootstrapRatio` of a mean: every cluster holds the values of one item. */
export const bootstrapMean = (
  clusters: readonly (readonly number[])[],
  options: BootstrapOptions,
): { lo: number; hi: number } | null =>
  bootstrapRatio(
    clusters.map((values) => ({
      numerator: values.reduce((sum, value) => sum + value, 0),
      denominator: values.length,
    })),
    options,
  );
