/**
 * What one item (or a group of them) in one repeat adds to the totals that figures are made of: right answers, queries,
 * joules, seconds … in an order of the caller's. Several with the same item and repeat add up.
 */
export interface Contribution {
  readonly item: string;
  readonly repeat: number;
  readonly totals: readonly number[];
}

/**
 * Powers of a figure, one for each total: the figure is the product of the totals to their powers. A ratio of two totals is
 * [1, −1]; IPJ over (score, scored, queries, joules) is [1, −1, 1, −1]. They add up to 0, so that everything twice
 * over is the same figure.
 */
export type Powers = readonly number[];

/** Sum of every total, in order. */
export function totalsOf(contributions: readonly Contribution[], count: number): number[] {
  const sums = new Array<number>(count).fill(0);
  for (const { totals } of contributions) {
    for (let k = 0; k < count; k++) sums[k] = (sums[k] ?? 0) + (totals[k] ?? Number.NaN);
  }
  return sums;
}

/** Product of totals to their powers; null where it divides by 0 or isn't finite. */
export function productFigure(totals: readonly number[], powers: Powers): number | null {
  let value = 1;
  for (const [k, power] of powers.entries()) {
    if (power !== 0) value *= (totals[k] ?? Number.NaN) ** power;
  }
  return Number.isFinite(value) ? value : null;
}

/** Influence on the figure's logarithm of one part of the totals: Σ power · part / total. */
export function influenceOf(part: readonly number[], totals: readonly number[], powers: Powers): number {
  let influence = 0;
  for (const [k, power] of powers.entries()) {
    if (power !== 0) influence += (power * (part[k] ?? Number.NaN)) / (totals[k] ?? Number.NaN);
  }
  return influence;
}
