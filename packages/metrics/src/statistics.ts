import { binomialCdf, studentQuantile, Z95 } from './distributions.js';
import { valuesAtRanks } from './stats/values-at-ranks.js';

/** An estimate with its 95 % interval. */
export interface Estimate {
  readonly value: number;
  readonly lo: number;
  readonly hi: number;
  readonly n: number;
}

/** Smallest of the 97.5 % quantiles in use: t with n − 1 degrees of freedom. */
export const t95 = (df: number): number => studentQuantile(0.975, df);

/** Wilson's 95 % interval of a proportion; null for n = 0 and for counts that are no counts. */
export function wilson(successes: number, n: number): Estimate | null {
  if (!(Number.isInteger(successes) && Number.isInteger(n) && n > 0 && successes >= 0 && successes <= n))
    return null;
  const p = successes / n;
  const z2 = Z95 * Z95;
  const scale = 1 + z2 / n;
  const centre = (p + z2 / (2 * n)) / scale;
  const half = (Z95 * Math.sqrt((p * (1 - p)) / n + z2 / (4 * n * n))) / scale;
  return {
    value: p,
    lo: successes === 0 ? 0 : centre - half,
    hi: successes === n ? 1 : centre + half,
    n,
  };
}

const sum = (values: readonly number[]): number => values.reduce((acc, value) => acc + value, 0);

/** Mean of values; null for none, or where one isn't finite. */
export const mean = (values: readonly number[]): number | null =>
  values.length > 0 && values.every(Number.isFinite) ? sum(values) / values.length : null;

/** Sample standard deviation (n − 1); null below two values or where one isn't finite. */
export function standardDeviation(values: readonly number[]): number | null {
  const centre = mean(values);
  if (centre === null || values.length < 2) return null;
  return Math.sqrt(sum(values.map((value) => (value - centre) ** 2)) / (values.length - 1));
}

/** Mean with its 95 % interval by Student's t; null below two values or where one isn't finite. */
export function studentT(values: readonly number[]): Estimate | null {
  const value = mean(values);
  const deviation = standardDeviation(values);
  if (value === null || deviation === null) return null;
  const half = (t95(values.length - 1) * deviation) / Math.sqrt(values.length);
  return { value, lo: value - half, hi: value + half, n: values.length };
}

/** A mean over clusters of values, with the standard error that clusters allow. */
export interface ClusteredEstimate extends Estimate {
  readonly se: number;
  readonly clusters: number;
}

/**
 * Mean over all values with the standard error of whole clusters (items over repeats), and its 95 % interval by
 * Student's t with C − 1 degrees of freedom. Null below two clusters, for an empty cluster or a value that isn't finite.
 */
export function clusteredMean(clusters: readonly (readonly number[])[]): ClusteredEstimate | null {
  const values = clusters.flat();
  const value = mean(values);
  const count = clusters.length;
  if (value === null || count < 2 || clusters.some((cluster) => cluster.length === 0)) return null;
  const squares = clusters.map((cluster) => sum(cluster.map((score) => score - value)) ** 2);
  const se = Math.sqrt((count / (count - 1)) * sum(squares)) / values.length;
  const half = t95(count - 1) * se;
  return { value, lo: value - half, hi: value + half, n: values.length, se, clusters: count };
}

/** Numbers in any kind of array; large ones come as `Float64Array`. */
type Numbers = ArrayLike<number>;

/** A sorted copy; null where nothing is in it or a value isn't finite. */
function sortedFinite(values: Numbers): Float64Array | null {
  const sorted = (values instanceof Float64Array ? values.slice() : Float64Array.from(values)).sort();
  const [least, most] = [sorted[0], sorted.at(-1)];
  return least !== undefined && Number.isFinite(least) && Number.isFinite(most) ? sorted : null;
}

const isShare = (p: number): boolean => p > 0 && p <= 1;

const rankOf = (n: number, p: number): number => Math.max(Math.ceil(p * n - 1e-9), 1) - 1;

const atShare = (sorted: Float64Array, p: number): number | null => sorted[rankOf(sorted.length, p)] ?? null;

/**
 * The p-quantile of the empirical distribution: the smallest value that at least a share `p` of all values does not
 * exceed. Nothing is interpolated. Null for no values, a value that isn't finite, or p outside (0, 1].
 */
export function quantile(values: Numbers, p: number): number | null {
  const sorted = isShare(p) ? sortedFinite(values) : null;
  return sorted && atShare(sorted, p);
}

/** A quantile with the order statistics that hold the true one with at least 95 % confidence. */
export interface QuantileEstimate {
  readonly value: number;
  /** Null where there are too few values for a bound on that side. */
  readonly lo: number | null;
  readonly hi: number | null;
  readonly n: number;
}

/** Ranks, from 0, of the order statistics that hold the p-quantile of n values; −1 and n where there is none. */
function ranksAround(n: number, p: number): readonly [below: number, above: number] {
  const smallest = (reached: (k: number) => boolean): number => {
    let [low, high] = [0, n];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (reached(middle)) high = middle;
      else low = middle + 1;
    }
    return low;
  };
  const below = smallest((k) => binomialCdf(k, n, p) > 0.025) - 1;
  return [below, smallest((k) => binomialCdf(k, n, p) >= 0.975)];
}

const knownRanks = new Map<string, readonly [number, number]>();

function ranksOf(n: number, p: number): readonly [number, number] {
  const key = `${n} ${p}`;
  const ranks = knownRanks.get(key) ?? ranksAround(n, p);
  if (knownRanks.size < 10_000) knownRanks.set(key, ranks);
  return ranks;
}

/** What a sort would put at the ranks of shares and of their intervals; null for no values or one that isn't finite. */
function valuesAround(values: Numbers, ps: readonly number[]): Map<number, number> | null {
  const n = values.length;
  const wanted = ps.flatMap((p) => [rankOf(n, p), ...ranksOf(n, p)]).filter((rank) => rank >= 0 && rank < n);
  const ranks = [...new Set(wanted)].sort((a, b) => a - b);
  const own = values instanceof Float64Array ? values : Float64Array.from(values);
  const found = valuesAtRanks(own, ranks);
  return found && new Map(ranks.map((rank, i) => [rank, found[i] ?? Number.NaN]));
}

/**
 * Several quantiles with their distribution-free 95 % intervals (binomial, 2.5 % on either side), without a sort: for
 * millions of values. An entry is null where `quantile` is.
 */
export function quantileIntervals(values: Numbers, ps: readonly number[]): (QuantileEstimate | null)[] {
  const n = values.length;
  const around = valuesAround(values, ps.filter(isShare));
  return ps.map((p) => {
    const value = isShare(p) ? around?.get(rankOf(n, p)) : undefined;
    if (value === undefined || around === null) return null;
    const [below, above] = ranksOf(n, p);
    return { value, lo: around.get(below) ?? null, hi: around.get(above) ?? null, n };
  });
}

/** `quantile` with its distribution-free 95 % interval (binomial, 2.5 % on either side). Null when `quantile` is. */
export const quantileInterval = (values: Numbers, p: number): QuantileEstimate | null =>
  quantileIntervals(values, [p])[0] ?? null;
