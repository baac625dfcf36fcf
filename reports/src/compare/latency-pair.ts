import { createRng, seedFrom } from '@perwatt/core';
import { type LatencyName, normalCdf, quantile } from '@perwatt/metrics';
import type { ItemLatency } from './comparable.js';
import type { CellPair } from './match-cells.js';
import type { PairEstimate } from './pair-estimate.js';

/** `ttft_any_p50_ns` in its parts; null for what is no quantile of a latency. */
function parsed(metric: string): { name: LatencyName; p: number } | null {
  const parts = /^(ttft_any|ttft_content|tpot|e2e_from_dispatch)_p(\d+)_ns$/.exec(metric);
  return parts === null ? null : { name: parts[1] as LatencyName, p: Number(parts[2]) / 100 };
}

interface Sorted {
  readonly ns: Float64Array;
  /** Index of the item of each. */
  readonly item: Uint32Array;
}

function sorted(latencies: readonly ItemLatency[], places: ReadonlyMap<string, number>): Sorted {
  const own = latencies.filter(({ item }) => places.has(item)).sort((a, b) => a.ns - b.ns);
  return {
    ns: Float64Array.from(own, ({ ns }) => ns),
    item: Uint32Array.from(own, ({ item }) => places.get(item) ?? 0),
  };
}

/** The quantile with each item as often as drawn: the least value that so much of the weight doesn't exceed. */
function weightedQuantile({ ns, item }: Sorted, weights: Float64Array, p: number): number {
  let total = 0;
  for (const place of item) total += weights[place] ?? 0;
  let sum = 0;
  for (let i = 0; i < ns.length; i++) {
    sum += weights[item[i] ?? 0] ?? 0;
    if (sum >= p * total && sum > 0) return ns[i] ?? Number.NaN;
  }
  return Number.NaN;
}

const DRAWS = 500;
const FEWEST_ITEMS = 10;
const MOST_ITEMS = 2000;

/** Ratios of B to A in draws of the shared items. */
function drawnRatios(
  [a, b]: readonly [Sorted, Sorted],
  items: number,
  { p, seed }: { p: number; seed: number },
): number[] {
  const random = createRng(seed);
  return Array.from({ length: DRAWS }, () => {
    const weights = new Float64Array(items);
    for (let i = 0; i < items - 1; i++) {
      const pick = Math.floor(random() * items);
      weights[pick] = (weights[pick] ?? 0) + 1;
    }
    return weightedQuantile(b, weights, p) / weightedQuantile(a, weights, p);
  }).filter((ratio) => Number.isFinite(ratio) && ratio > 0);
}

const Z95 = 1.959963984540054;
const Z80 = 0.8416212335729143;

const itemsOf = (latencies: readonly ItemLatency[]): Set<string> =>
  new Set(latencies.map(({ item }) => item));

/**
 * B over A of a quantile of latency on the calls of the items that both have: items are drawn again together, so that long
 * prompts are long on both sides. 95 % percentile interval over 500 draws; p from its width. Null for other metrics, other
 * items, fewer than 10 shared items or more than 2,000, where order statistics serve as well.
 */
export function pairedLatency({ baseline, other }: CellPair, metric: string): PairEstimate | null {
  const wanted = parsed(metric);
  const [all, more] = [baseline.latencies, other.latencies];
  if (wanted === null || all === null || more === null) return null;
  if (baseline.workload['items'] !== other.workload['items']) return null;
  const [own, theirs] = [all[wanted.name], more[wanted.name]];
  const [inOwn, inTheirs] = [itemsOf(own), itemsOf(theirs)];
  const shared = [...inOwn].filter((item) => inTheirs.has(item));
  if (shared.length < FEWEST_ITEMS || shared.length > MOST_ITEMS) return null;
  const places = new Map(shared.map((item, i) => [item, i]));
  const sides = [sorted(own, places), sorted(theirs, places)] as const;
  const [a, b] = [quantile(sides[0].ns, wanted.p), quantile(sides[1].ns, wanted.p)];
  const ratios = drawnRatios(sides, shared.length, { p: wanted.p, seed: seedFrom(0, metric) });
  const [lo, hi] = [quantile(ratios, 0.025), quantile(ratios, 0.975)];
  if (a === null || b === null || lo === null || hi === null || !(a > 0 && b > 0)) return null;
  const se = Math.log(hi / lo) / (2 * Z95);
  const value = b / a;
  return {
    scale: 'ratio',
    value,
    lo: Math.min(lo, value),
    hi: Math.max(hi, value),
    p: se === 0 ? Number(value === 1) : 2 * normalCdf(-Math.abs(Math.log(value)) / se),
    test: 'interval',
    pairing: 'paired',
    unpaired_reason: null,
    items: shared.length,
    repeats: Math.min(baseline.repeats ?? 1, other.repeats ?? 1),
    dropped_items: inOwn.size + inTheirs.size - 2 * shared.length,
    detectable: Math.expm1((Z95 + Z80) * se),
    discordant: null,
  };
}
