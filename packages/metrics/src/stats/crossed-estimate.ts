import { type CrossedInfluence, type CrossedVariance, crossedVariance } from './crossed-variance.js';
import { type Contribution, influenceOf, type Powers, productFigure, totalsOf } from './product-figure.js';

/** A figure with its 95 % interval over items and repeats. */
export interface CrossedEstimate {
  readonly value: number;
  readonly lo: number;
  readonly hi: number;
  readonly items: number;
  readonly repeats: number;
  readonly variance: CrossedVariance;
}

/** On which scale an interval is symmetric: ratios of positive totals on the logarithm, what may be negative as it is. */
export type IntervalScale = 'log' | 'linear';

/** The ends of an interval of relative half-width `half` around a value. */
export function aroundValue(value: number, half: number, scale: IntervalScale): { lo: number; hi: number } {
  const [a, b] =
    scale === 'log'
      ? [value * Math.exp(-half), value * Math.exp(half)]
      : [value * (1 - half), value * (1 + half)];
  return { lo: Math.min(a, b), hi: Math.max(a, b) };
}

/** How much every contribution moves the logarithm of the figure. */
export const influencesOf = (
  contributions: readonly Contribution[],
  totals: readonly number[],
  powers: Powers,
): CrossedInfluence[] =>
  contributions.map(({ item, repeat, totals: part }) => ({
    item,
    repeat,
    influence: influenceOf(part, totals, powers),
  }));

/**
 * A product of totals to powers with its 95 % interval, items and repeats both counting as random (delta method on the
 * logarithm, `crossedVariance`). Null where the figure divides by 0, is 0 or isn't finite,
 * and where neither two items nor two repeats are there.
 */
export function crossedEstimate(
  contributions: readonly Contribution[],
  powers: Powers,
  scale: IntervalScale = 'log',
): CrossedEstimate | null {
  const totals = totalsOf(contributions, powers.length);
  const value = productFigure(totals, powers);
  if (value === null || value === 0) return null;
  const variance = crossedVariance(influencesOf(contributions, totals, powers));
  if (variance === null) return null;
  return {
    value,
    ...aroundValue(value, variance.half, scale),
    items: new Set(contributions.map(({ item }) => item)).size,
    repeats: new Set(contributions.map(({ repeat }) => repeat)).size,
    variance,
  };
}
