import { type QueryRow, type Verdict, verdicts } from '@perwatt/core';
import { bootstrapMean } from './bootstrap.js';
import type { CellCounts, IntervalMethod } from './cell-types.js';
import { clusteredMean, wilson } from './statistics.js';

/** Clusters from which the delta method takes the bootstrap's place. */
const MANY_CLUSTERS = 2_000;

export interface Accuracy {
  readonly value: number | null;
  readonly lo: number | null;
  readonly hi: number | null;
  readonly interval: IntervalMethod | null;
  readonly n: number;
}

interface Interval {
  readonly lo: number;
  readonly hi: number;
}

const isBinary = (score: number): boolean => score === 0 || score === 1;

function byItem(scored: readonly { readonly item_id: string; readonly score: number }[]): number[][] {
  const items = new Map<string, number[]>();
  for (const { item_id, score } of scored) {
    const scores = items.get(item_id);
    if (scores === undefined) items.set(item_id, [score]);
    else scores.push(score);
  }
  return [...items.values()];
}

const within = ({ lo, hi }: Interval): Interval => ({ lo: Math.max(lo, 0), hi: Math.min(hi, 1) });

/** Interval of a mean over items; Wilson over the items where all scores are the same and nothing spreads. */
function clusteredInterval(
  clusters: readonly (readonly number[])[],
  seed: number,
): (Interval & { interval: IntervalMethod }) | null {
  const flat = clusters.flat();
  const first = flat[0] ?? 0;
  if (flat.every((score) => score === first) && isBinary(first)) {
    const proportion = wilson(first * clusters.length, clusters.length);
    return proportion && { lo: proportion.lo, hi: proportion.hi, interval: 'wilson' };
  }
  if (clusters.length < MANY_CLUSTERS) {
    const bounds = bootstrapMean(clusters, { seed });
    return bounds && { ...within(bounds), interval: 'item_bootstrap' };
  }
  const estimate = clusteredMean(clusters);
  return estimate && { ...within(estimate), interval: 'item_clustered' };
}

/**
 * Accuracy: mean score of the scored queries, with its 95 % interval. Wilson for right-or-wrong scores of one query an
 * item; else whole items are resampled (bootstrap below 2,000 items, clustered standard error above).
 */
export function accuracyOf(queries: readonly QueryRow[], seed: number): Accuracy {
  const scored = queries.flatMap(({ item_id, score }) => (score === null ? [] : [{ item_id, score }]));
  const n = scored.length;
  if (n === 0) return { value: null, lo: null, hi: null, interval: null, n };
  const total = scored.reduce((sum, { score }) => sum + score, 0);
  const clusters = byItem(scored);
  const single = clusters.length === n && scored.every(({ score }) => isBinary(score));
  const proportion = single ? wilson(total, n) : null;
  const bounds = proportion
    ? { lo: proportion.lo, hi: proportion.hi, interval: 'wilson' as const }
    : clusteredInterval(clusters, seed);
  return { value: total / n, n, ...(bounds ?? { lo: null, hi: null, interval: null }) };
}

/** How many queries got each verdict; a verdict nobody knows counts as `unscored`. */
export function countVerdicts(queries: readonly QueryRow[]): CellCounts['verdicts'] {
  const counts = Object.fromEntries(verdicts.map((verdict) => [verdict, 0])) as Record<Verdict, number>;
  const known = new Set<string>(verdicts);
  for (const { verdict } of queries) counts[known.has(verdict) ? (verdict as Verdict) : 'unscored'] += 1;
  return counts;
}
