import {
  blocks,
  type Contribution,
  FEWEST_REPEATS,
  mcnemar,
  normalCdf,
  type Paired,
  type PairedEstimate,
  type ProductName,
  pairedDifference,
  pairedRatio,
  powersOf,
  type SensorBand,
  sensorBandOf,
  totalNames,
} from '@perwatt/metrics';
import type { ComparableCell, ComparableFigure } from './comparable.js';
import { pairedLatency } from './latency-pair.js';
import type { CellPair } from './match-cells.js';

/** B against A with a 95 % sampling interval, and how it was made. */
export interface PairEstimate {
  readonly scale: 'ratio' | 'difference';
  readonly value: number;
  readonly lo: number;
  readonly hi: number;
  readonly p: number;
  /** `mcnemar` where right-or-wrong answers were tested; else the p of the interval. */
  readonly test: 'interval' | 'mcnemar';
  readonly pairing: 'paired' | 'unpaired' | 'declared';
  /** Why not paired; null where it is. */
  readonly unpaired_reason: string | null;
  readonly items: number | null;
  readonly repeats: number | null;
  readonly dropped_items: number;
  /** Smallest effect seen in 80 of 100 cases; null where it can't be told. */
  readonly detectable: number | null;
  /** Items that just one of the two gets right, over the shared ones; null but for McNemar. */
  readonly discordant: number | null;
}

const names: readonly ProductName[] = [
  'accuracy',
  'power_w',
  'energy_per_query_j',
  'ipw_per_w',
  'ipj_per_j',
  'energy_per_correct_j',
  'energy_per_output_token_j',
  'energy_per_token_j',
  'tokens_per_j',
  'tokens_per_s',
];

/** A metric as a product of totals; null for those that are none (quantiles). */
export interface Product {
  readonly name: ProductName;
  readonly kind: 'gross' | 'net';
  readonly powers: readonly number[];
  /** Power of energy in it: 1, −1, or 0 for figures without. */
  readonly energy: number;
}

/** How a metric is made of the totals of queries; null where it isn't. */
export function productOf(metric: string): Product | null {
  const kind = metric.startsWith('net_') ? 'net' : 'gross';
  const bare = kind === 'net' ? metric.slice(4) : metric;
  const name = names.find((candidate) => candidate === bare);
  if (name === undefined) return null;
  const powers = powersOf(name, kind);
  const energy = powers[totalNames.indexOf(kind === 'net' ? 'net_j' : 'gross_j')] ?? 0;
  return { name, kind, powers, energy };
}

/** Ratios for what has a zero of its own; accuracies are told apart by their difference. */
export const scaleOf = (metric: string): PairEstimate['scale'] =>
  metric === 'accuracy' ? 'difference' : 'ratio';

const keyOf = ({ item, repeat }: Contribution): string => `${repeat} ${item}`;

interface SharedUnits {
  readonly a: readonly Contribution[];
  readonly b: readonly Contribution[];
  readonly items: number;
  readonly repeats: number;
  readonly dropped_items: number;
}

/** What both have of the same item in the same repeat. */
function sharedUnits(a: readonly Contribution[], b: readonly Contribution[]): SharedUnits {
  const [inA, inB] = [new Set(a.map(keyOf)), new Set(b.map(keyOf))];
  const ownA = a.filter((entry) => inB.has(keyOf(entry)));
  const itemsOf = (entries: readonly Contribution[]) => new Set(entries.map(({ item }) => item)).size;
  return {
    a: ownA,
    b: b.filter((entry) => inA.has(keyOf(entry))),
    items: itemsOf(ownA),
    repeats: new Set(ownA.map(({ repeat }) => repeat)).size,
    dropped_items: itemsOf(a) + itemsOf(b) - 2 * itemsOf(ownA),
  };
}

/** Blocks of consecutive items that hold the same items on both sides; null with too few items for blocks. */
function commonBlocks({ a, b }: SharedUnits): Pick<SharedUnits, 'a' | 'b'> | null {
  const shift = 1 + Math.max(0, ...a.map(({ repeat }) => repeat));
  const joined = blocks([...a, ...b.map((entry) => ({ ...entry, repeat: entry.repeat + shift }))]);
  if (joined === null) return null;
  return {
    a: joined.slice(0, a.length),
    b: joined.slice(a.length).map((entry) => ({ ...entry, repeat: entry.repeat - shift })),
  };
}

/** Every repeat as one unit. */
const byRepeat = ({ a, b }: SharedUnits): Pick<SharedUnits, 'a' | 'b'> => ({
  a: a.map((entry) => ({ ...entry, item: 'all' })),
  b: b.map((entry) => ({ ...entry, item: 'all' })),
});

/** Items where every joule is known by item, blocks or repeats where it was shared out among several. */
function unitsOf(pair: CellPair, shared: SharedUnits, product: Product): Pick<SharedUnits, 'a' | 'b'> {
  const isolated =
    product.name === 'accuracy' ||
    [pair.baseline, pair.other].every(({ contributions }) => contributions?.isolated === true);
  return isolated ? shared : (commonBlocks(shared) ?? byRepeat(shared));
}

const isRight = (score: number): boolean => score === 0 || score === 1;

/** Discordant items of right-or-wrong answers, one an item; null where answers are of another kind. */
function discordantOf({ a, b, items, repeats }: SharedUnits): { onlyA: number; onlyB: number } | null {
  const scored = [...a, ...b].every(({ totals }) => totals[1] === 1 && isRight(totals[0] ?? Number.NaN));
  if (!scored || repeats !== 1 || a.length !== items || b.length !== items) return null;
  const ofB = new Map(b.map(({ item, totals }) => [item, totals[0]]));
  const differ = a.filter(({ item, totals }) => totals[0] !== ofB.get(item));
  const onlyA = differ.filter(({ totals }) => totals[0] === 1).length;
  return { onlyA, onlyB: differ.length - onlyA };
}

const reasons: Readonly<Record<string, string>> = {
  nothing_shared: 'no item in common',
  one_item_one_repeat: 'one item in one repeat tells nothing of spread',
  no_value: 'a figure is missing, 0, or not known by item',
};

const isEstimate = (paired: Paired): paired is PairedEstimate => 'value' in paired;

/** What a pair shares for a metric, or why there is nothing to pair. */
function pairable({ baseline, other }: CellPair, product: Product | null): SharedUnits | string {
  const [a, b] = [baseline.contributions, other.contributions];
  if (a === null || b === null) return 'published figures have no items';
  if (product === null) return 'its calls are too few or too many to be drawn again by item';
  if (baseline.workload['items'] !== other.workload['items']) return 'the items differ';
  const shared = sharedUnits(a.queries, b.queries);
  return shared.items === 0 ? 'no item in common' : shared;
}

function testOf(shared: SharedUnits, product: Product) {
  const discordant = product.name === 'accuracy' ? discordantOf(shared) : null;
  if (discordant === null) return { test: 'interval', p: null, discordant: null } as const;
  const { onlyA, onlyB } = discordant;
  const p = mcnemar(onlyA, onlyB)?.p ?? null;
  return { test: 'mcnemar', p, discordant: (onlyA + onlyB) / shared.items } as const;
}

function pairedEstimate(pair: CellPair, metric: string): PairEstimate | string {
  const product = productOf(metric);
  const shared = pairable(pair, product);
  if (typeof shared === 'string' || product === null) return String(shared);
  const units = unitsOf(pair, shared, product);
  const scale = scaleOf(metric);
  const paired = (scale === 'difference' ? pairedDifference : pairedRatio)(units.a, units.b, product.powers);
  if (!isEstimate(paired)) return reasons[paired.reason] ?? paired.reason;
  const { test, p, discordant } = testOf(shared, product);
  return {
    scale,
    value: paired.value,
    lo: paired.lo,
    hi: paired.hi,
    p: p ?? paired.p,
    test,
    pairing: 'paired',
    unpaired_reason: null,
    items: shared.items,
    repeats: shared.repeats,
    dropped_items: shared.dropped_items,
    detectable: paired.detectable,
    discordant,
  };
}

interface Known {
  readonly value: number;
  readonly lo: number;
  readonly hi: number;
}

/** The sampling interval of one side; that of an imported figure is as it was published. */
function knownOf({ value, sampling_lo, sampling_hi }: ComparableFigure): Known | null {
  if (value === null || sampling_lo === null || sampling_hi === null) return null;
  return { value, lo: sampling_lo, hi: sampling_hi };
}

const Z95 = 1.959963984540054;
const Z80 = 0.8416212335729143;

/** B less A, or the logarithm of B over A, of two independent figures, each with its own interval (MOVER). */
function apart(a: Known, b: Known, scale: PairEstimate['scale']): Known | null {
  const on = scale === 'ratio' ? Math.log : (x: number) => x;
  const value = on(b.value) - on(a.value);
  const [below, above] = [on(b.value) - on(b.lo), on(b.hi) - on(b.value)];
  const [belowA, aboveA] = [on(a.value) - on(a.lo), on(a.hi) - on(a.value)];
  const [lo, hi] = [value - Math.hypot(below, aboveA), value + Math.hypot(above, belowA)];
  return Number.isFinite(value + lo + hi) ? { value, lo, hi } : null;
}

/** Two figures from their own intervals alone; null where one has none. */
function unpairedEstimate(pair: CellPair, metric: string, reason: string): PairEstimate | null {
  const [figureA, figureB] = [pair.baseline.figures[metric], pair.other.figures[metric]];
  const a = figureA && knownOf(figureA);
  const b = figureB && knownOf(figureB);
  const scale = scaleOf(metric);
  const difference = a && b ? apart(a, b, scale) : null;
  if (difference === null) return null;
  const { value, lo, hi } = difference;
  const back = scale === 'ratio' ? Math.exp : (x: number) => x;
  const se = Math.max(hi - lo, 0) / (2 * Z95);
  const declared = [figureA, figureB].every((figure) => figure?.spread?.source === 'declared');
  const reach = (Z95 + Z80) * se;
  return {
    scale,
    value: back(value),
    lo: back(lo),
    hi: back(hi),
    p: se === 0 ? Number(value === 0) : 2 * normalCdf(-Math.abs(value) / se),
    test: 'interval',
    pairing: declared ? 'declared' : 'unpaired',
    unpaired_reason: declared ? null : reason,
    items: null,
    repeats: fewestRepeats(pair),
    dropped_items: 0,
    detectable: scale === 'ratio' ? Math.expm1(reach) : reach,
    discordant: null,
  };
}

function fewestRepeats({ baseline, other }: CellPair): number | null {
  if (baseline.repeats === null || other.repeats === null) return null;
  return Math.min(baseline.repeats, other.repeats);
}

/** B against A in one metric: paired where items match, from their own intervals otherwise; or why there is nothing. */
export function pairEstimate(pair: CellPair, metric: string): PairEstimate | string {
  const paired = pairedLatency(pair, metric) ?? pairedEstimate(pair, metric);
  if (typeof paired !== 'string') return paired;
  return unpairedEstimate(pair, metric, paired) ?? noInterval(pair, metric, paired);
}

/** Why neither side's own interval helps: what it says of its spread, else why nothing is paired. */
function noInterval({ baseline, other }: CellPair, metric: string, paired: string): string {
  const figures = [baseline.figures[metric], other.figures[metric]];
  const open = figures.find((figure) => figure !== undefined && figure.sampling_lo === null);
  if (open?.spread?.source === 'declared')
    return 'how many runs are behind the published spread is not known, or they are fewer than three';
  return open?.spread?.reason ?? `no interval to judge by; not paired: ${paired}`;
}

/** What the sensors allow for the energy in a metric; null for figures without energy, or where it isn't known. */
export function bandOf(cell: ComparableCell, product: Product): SensorBand | null {
  if (cell.energy === null || product.energy === 0) return null;
  if (product.kind === 'gross') return sensorBandOf(cell.energy, cell.host);
  const { net_j, net_lo_j, net_hi_j } = cell.energy;
  if (net_j === null || net_lo_j === null || net_hi_j === null) return null;
  const sensor = sensorBandOf(cell.energy, cell.host)?.sensor ?? '';
  return { energy_j: net_j, lo_j: net_lo_j, hi_j: net_hi_j, scale_error_ratio: null, sensor };
}

/** Repeats behind an energy figure of a pair, and whether they suffice to tell a spread. */
export const spreadKnown = ({ repeats, pairing }: PairEstimate): boolean =>
  pairing === 'declared' || (repeats ?? 0) >= FEWEST_REPEATS;
