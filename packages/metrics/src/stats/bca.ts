import { normalCdf, normalQuantile, Z95 } from '../distributions.js';
import { quantile } from '../statistics.js';

interface Interval {
  readonly lo: number;
  readonly hi: number;
}

/** Skewness of the influence of leaving one cluster out, over 6; 0 where nothing spreads. */
function acceleration(leftOut: ArrayLike<number>): number {
  let centre = 0;
  for (let i = 0; i < leftOut.length; i++) centre += (leftOut[i] ?? 0) / leftOut.length;
  let [squares, cubes] = [0, 0];
  for (let i = 0; i < leftOut.length; i++) {
    const away = centre - (leftOut[i] ?? 0);
    squares += away ** 2;
    cubes += away ** 3;
  }
  return squares === 0 ? 0 : cubes / (6 * squares ** 1.5);
}

/** Share of draws below the estimate, ties counting half. */
function shareBelow(draws: Float64Array, value: number): number {
  let below = 0;
  for (const draw of draws) below += draw < value ? 1 : draw === value ? 0.5 : 0;
  return below / draws.length;
}

const between = (draws: Float64Array, low: number, high: number): Interval | null => {
  const [lo, hi] = [quantile(draws, low), quantile(draws, high)];
  return lo === null || hi === null ? null : { lo, hi };
};

/** The plain percentile 95 % interval of bootstrap draws; null for none or where one isn't finite. */
export const percentileInterval = (draws: Float64Array): Interval | null => between(draws, 0.025, 0.975);

/**
 * Bias-corrected and accelerated 95 % interval (Efron 1987) from bootstrap draws, the estimate and the estimates with one
 * cluster left out each. The percentile interval where all draws lie on one side of the estimate. Null as that.
 */
export function bcaInterval(draws: Float64Array, value: number, leftOut: ArrayLike<number>): Interval | null {
  const bias = normalQuantile(shareBelow(draws, value));
  if (!Number.isFinite(bias)) return percentileInterval(draws);
  const skew = acceleration(leftOut);
  const level = (z: number) => normalCdf(bias + (bias + z) / (1 - skew * (bias + z)));
  const [low, high] = [level(-Z95), level(Z95)];
  const least = 1 / (2 * draws.length);
  return low > 0 && high > low
    ? between(draws, Math.max(low, least), Math.min(high, 1))
    : percentileInterval(draws);
}
