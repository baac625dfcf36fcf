import { createRng } from '@perwatt/core';
import { quantile } from './statistics.js';

/** What one cluster adds to the two sums of a ratio. */
export interface RatioCluster {
  readonly numerator: number;
  readonly denominator: number;
}

/** Draws of a bootstrap unless told otherwise. */
const BOOTSTRAP_DRAWS = 10_000;

/** One draw of all clusters with replacement; null when there is nothing to divide by. */
function drawRatio(above: Float64Array, below: Float64Array, random: () => number): number | null {
  let numerator = 0;
  let denominator = 0;
  for (let i = 0; i < above.length; i++) {
    const pick = Math.floor(random() * above.length);
    numerator += above[pick] ?? 0;
    denominator += below[pick] ?? 0;
  }
  return denominator === 0 ? null : numerator / denominator;
}

/**
 * Percentile 95 % interval of Σ numerators / Σ denominators when whole clusters are drawn again with replacement.
 * The same seed gives the same interval. Null below two clusters, for numbers that aren't finite, and where more than
 * 2.5 % of the draws have nothing to divide by.
 */
export function bootstrapRatio(
  clusters: readonly RatioCluster[],
  options: { readonly seed: number; readonly draws?: number },
): { lo: number; hi: number } | null {
  const above = Float64Array.from(clusters, (c) => c.numerator);
  const below = Float64Array.from(clusters, (c) => c.denominator);
  if (clusters.length < 2 || ![...above, ...below].every(Number.isFinite)) return null;
  const random = createRng(options.seed);
  const draws = options.draws ?? BOOTSTRAP_DRAWS;
  const ratios = Array.from({ length: draws }, () => drawRatio(above, below, random)).filter(
    (ratio) => ratio !== null,
  );
  if (ratios.length < 0.975 * draws) return null;
  const [lo, hi] = [quantile(ratios, 0.025), quantile(ratios, 0.975)];
  return lo === null || hi === null ? null : { lo, hi };
}

/** `bootstrapRatio` of a mean: every cluster holds the values of one item. */
export const bootstrapMean = (
  clusters: readonly (readonly number[])[],
  options: { readonly seed: number; readonly draws?: number },
): { lo: number; hi: number } | null =>
  bootstrapRatio(
    clusters.map((values) => ({
      numerator: values.reduce((sum, value) => sum + value, 0),
      denominator: values.length,
    })),
    options,
  );
