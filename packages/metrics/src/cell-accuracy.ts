import { type Verdict, verdicts } from '@perwatt/core';
import { bootstrapRatio } from './bootstrap.js';
import { type Codes, codeOf, type QueryColumns } from './cell-columns.js';
import type { CellCounts, IntervalMethod } from './cell-types.js';
import { t95, wilson } from './statistics.js';
import { exactBootstrapMean } from './stats/exact-bootstrap.js';

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

/** Scores by item: their sum and their number, items without a score left out. */
export interface ItemScores {
  readonly sums: Float64Array;
  readonly counts: Uint32Array;
}

/** What the scores of a cell add up to. */
export interface ScoreSums {
  readonly items: ItemScores;
  readonly total: number;
  readonly n: number;
  /** Whether all scores are 0 or 1. */
  readonly binary: boolean;
  /** Whether all scores are the same. */
  readonly same: boolean;
}

/** Items without a score left out. */
function scoredOnly({ sums, counts }: ItemScores): ItemScores {
  if (!counts.includes(0)) return { sums, counts };
  return { sums: sums.filter((_, i) => (counts[i] ?? 0) > 0), counts: counts.filter((count) => count > 0) };
}

/** Scores of the rows that `keep` takes, by item. */
export function scoreSums(
  { length, item, items, score }: Pick<QueryColumns, 'length' | 'item' | 'items' | 'score'>,
  keep: (row: number) => boolean = () => true,
): ScoreSums {
  const sums = new Float64Array(items);
  const counts = new Uint32Array(items);
  let [total, n, binary, same, first] = [0, 0, true, true, Number.NaN];
  for (let row = 0; row < length; row++) {
    const own = score[row] ?? Number.NaN;
    if (Number.isNaN(own) || !keep(row)) continue;
    const at = item[row] ?? 0;
    sums[at] = (sums[at] ?? 0) + own;
    counts[at] = (counts[at] ?? 0) + 1;
    if (n === 0) first = own;
    total += own;
    n += 1;
    binary &&= own === 0 || own === 1;
    same &&= own === first;
  }
  return {
    items: scoredOnly({ sums, counts }),
    total,
    n,
    binary,
    same,
  };
}

const within = ({ lo, hi }: Interval): Interval => ({ lo: Math.max(lo, 0), hi: Math.min(hi, 1) });

/** Mean over all scores with the standard error of whole items, and its interval by Student's t with C − 1 degrees of freedom. */
function clusteredInterval({ sums, counts }: ItemScores, { total, n }: ScoreSums): Interval {
  const value = total / n;
  let squares = 0;
  for (let i = 0; i < sums.length; i++) squares += ((sums[i] ?? 0) - (counts[i] ?? 0) * value) ** 2;
  const half = t95(sums.length - 1) * (Math.sqrt((sums.length / (sums.length - 1)) * squares) / n);
  return { lo: value - half, hi: value + half };
}

/** Whole items drawn again: exactly where sums are whole numbers over equally many scores, else by seeded draws. */
function drawnInterval({ items: { sums, counts }, binary }: ScoreSums, seed: number): Interval | null {
  const [size = 0] = counts;
  if (binary && counts.every((count) => count === size)) {
    const histogram = new Float64Array(size + 1);
    for (const sum of sums) histogram[sum] = (histogram[sum] ?? 0) + 1;
    return exactBootstrapMean(histogram, size);
  }
  const clusters = Array.from(sums, (numerator, i) => ({ numerator, denominator: counts[i] ?? 0 }));
  return bootstrapRatio(clusters, { seed });
}

function intervalOf(scores: ScoreSums, seed: number): (Interval & { interval: IntervalMethod }) | null {
  const { items, total, n, binary, same } = scores;
  const clusters = items.sums.length;
  const share = same ? total / n : 0;
  const [right, of] = binary && clusters === n ? [total, n] : [share * clusters, clusters];
  if (binary && (clusters === n || same)) {
    const proportion = wilson(Math.round(right), of);
    return proportion && { lo: proportion.lo, hi: proportion.hi, interval: 'wilson' };
  }
  if (clusters < MANY_CLUSTERS) {
    const bounds = drawnInterval(scores, seed);
    return bounds && { ...within(bounds), interval: 'item_bootstrap' };
  }
  return { ...within(clusteredInterval(items, scores)), interval: 'item_clustered' };
}

/**
 * Accuracy: mean score of the scored queries, with its 95 % interval. Wilson for right-or-wrong scores of one query an
 * item, and over items where all scores are 0 or all are 1; else whole items are resampled (bootstrap below 2,000 items,
 * clustered standard error above).
 */
export function accuracyOf(scores: ScoreSums, seed: number): Accuracy {
  const { total, n } = scores;
  if (n === 0) return { value: null, lo: null, hi: null, interval: null, n };
  return { value: total / n, n, ...(intervalOf(scores, seed) ?? { lo: null, hi: null, interval: null }) };
}

/** How many queries got each verdict; a verdict nobody knows counts as `unscored`. */
export function countVerdicts({ codes, names }: Codes): CellCounts['verdicts'] {
  const counts = Object.fromEntries(verdicts.map((verdict) => [verdict, 0])) as Record<Verdict, number>;
  const known = new Set<string>(verdicts);
  const ofCode = new Float64Array(names.length);
  for (let row = 0; row < codes.length; row++) {
    const code = codes[row] ?? -1;
    if (code >= 0) ofCode[code] = (ofCode[code] ?? 0) + 1;
  }
  names.forEach((name, code) => {
    counts[known.has(name) ? (name as Verdict) : 'unscored'] += ofCode[code] ?? 0;
  });
  return counts;
}

/** Accuracy over the queries that did not fail; null where none is scored. */
export function completedAccuracy(queries: QueryColumns): {
  readonly value: number | null;
  readonly n: number;
} {
  const failed = codeOf(queries.status, 'failed');
  let [total, n] = [0, 0];
  for (let row = 0; row < queries.length; row++) {
    const own = queries.score[row] ?? Number.NaN;
    if (Number.isNaN(own) || queries.status.codes[row] === failed) continue;
    total += own;
    n += 1;
  }
  return { value: n === 0 ? null : total / n, n };
}
