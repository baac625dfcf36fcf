import { studentQuantile } from '../distributions.js';
import { aroundValue, type IntervalScale } from './crossed-estimate.js';
import { createExactSum, type ExactSum } from './exact-sum.js';
import { type Powers, productFigure } from './product-figure.js';

/** A figure over clusters by the delta method. */
export interface DeltaEstimate {
  readonly value: number;
  readonly lo: number;
  readonly hi: number;
  /** Standard error over the value. */
  readonly relative_se: number;
  readonly clusters: number;
}

/**
 * Sums over clusters in one pass: every total, and every product of two. Nothing is rounded in adding up, so that merged
 * parts give the same bytes as one pass, however the clusters are split and in whatever order they come.
 */
export interface ClusterSums {
  /** Adds one whole cluster's totals: all rows of one item belong to one call. */
  readonly add: (totals: ArrayLike<number>) => void;
  readonly merge: (other: ClusterSums) => void;
  readonly clusters: () => number;
  /** The totals, each rounded once. */
  readonly totals: () => number[];
  /**
   * A product of totals to powers with its 95 % interval: clustered standard error with C/(C − 1) and Student's t with
   * C − 1 degrees of freedom. Null below two clusters and where the figure is 0, divides by 0 or isn't finite.
   */
  readonly estimate: (powers: Powers, scale?: IntervalScale) => DeltaEstimate | null;
  /** The sums themselves, for `merge`. */
  readonly parts: () => { readonly sums: readonly ExactSum[]; readonly products: readonly ExactSum[] };
}

/** Σ of squared influences from the sums of products, one for every pair of totals in order. */
function squaredInfluence(totals: readonly number[], products: readonly number[], powers: Powers): number {
  const pairs = totals.flatMap((_, k) => totals.slice(k).map((_, i): [number, number] => [k, k + i]));
  const terms = pairs.map(([k, l], at) => {
    const weight = (powers[k] ?? 0) * (powers[l] ?? 0) * (k === l ? 1 : 2);
    return weight === 0 ? 0 : (weight * (products[at] ?? 0)) / (totals[k] ?? 0) / (totals[l] ?? 0);
  });
  return Math.max(
    terms.reduce((sum, term) => sum + term, 0),
    0,
  );
}

/** Empty sums of clusters with so many totals each. */
export function createClusterSums(width: number): ClusterSums {
  const sums = Array.from({ length: width }, createExactSum);
  const products = Array.from({ length: (width * (width + 1)) / 2 }, createExactSum);
  let count = 0;
  const addProducts = (totals: ArrayLike<number>) => {
    let at = 0;
    for (let k = 0; k < width; k++) {
      for (let l = k; l < width; l++, at++) products[at]?.add((totals[k] ?? 0) * (totals[l] ?? 0));
    }
  };
  const rounded = (exact: readonly ExactSum[]) => exact.map((sum) => sum.value());
  return {
    add: (totals) => {
      for (let k = 0; k < width; k++) sums[k]?.add(totals[k] ?? Number.NaN);
      addProducts(totals);
      count += 1;
    },
    merge: (other) => {
      const more = other.parts();
      sums.forEach((sum, k) => {
        const part = more.sums[k];
        if (part !== undefined) sum.merge(part);
      });
      products.forEach((sum, k) => {
        const part = more.products[k];
        if (part !== undefined) sum.merge(part);
      });
      count += other.clusters();
    },
    clusters: () => count,
    totals: () => rounded(sums),
    estimate: (powers, scale = 'log') => {
      const totals = rounded(sums);
      const value = count < 2 ? null : productFigure(totals, powers);
      if (value === null || value === 0) return null;
      const squares = squaredInfluence(totals, rounded(products), powers);
      const relative_se = Math.sqrt((count / (count - 1)) * squares);
      if (!Number.isFinite(relative_se)) return null;
      const half = studentQuantile(0.975, count - 1) * relative_se;
      return { value, ...aroundValue(value, half, scale), relative_se, clusters: count };
    },
    parts: () => ({ sums, products }),
  };
}
