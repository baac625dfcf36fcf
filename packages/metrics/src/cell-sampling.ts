import type { Accuracy } from './cell-accuracy.js';
import { type CrossedSums, unitParts, WIDTH } from './cell-sums.js';
import { type FigurePowers, type RepeatTotalName, repeatTotalNames } from './energy-figures.js';
import { phaseTotalNames } from './phase-shares.js';
import type { IntervalScale } from './stats/crossed-estimate.js';
import {
  type CrossedParts,
  halfOfItems,
  joinParts,
  type VariancePart,
  variancePart,
} from './stats/crossed-variance.js';
import { influenceOf, type Powers } from './stats/product-figure.js';
import { FEWEST_REPEATS } from './stats/run-spread.js';

/** Totals of one repeat, in the order of `repeatTotalNames`; null where one isn't known. */
export type RepeatTotals = readonly (number | null)[];

/** What single queries of a cell say of the spread over items. */
export interface ItemSums {
  readonly queries: CrossedSums;
  /** By item where all energy was measured, by blocks of items where it was allocated; null for too few of those. */
  readonly units: CrossedSums | null;
  /** By the same units, of `phaseTotalNames`; null where energy by phase isn't known, and for too few units. */
  readonly phases: CrossedSums | null;
}

export interface SamplingInput {
  readonly figure: FigurePowers;
  readonly scale: IntervalScale;
  readonly value: number;
  readonly accuracy: Accuracy;
  readonly sums: ItemSums;
  readonly repeats: readonly RepeatTotals[];
}

/** The 95 % sampling interval of one figure and what it holds. */
export interface Sampling {
  readonly lo: number;
  readonly hi: number;
  /** Whether the spread between repeats is in it. */
  readonly over_repeats: boolean;
  /** What another draw of items would move: all of it, only accuracy, or nothing that could be told. */
  readonly items: 'all' | 'accuracy' | 'none';
}

const scoreTotals: ReadonlySet<RepeatTotalName> = new Set(['score', 'scored']);

const only = (powers: Powers, keep: (name: RepeatTotalName) => boolean): number[] =>
  repeatTotalNames.map((name, k) => (keep(name) ? (powers[k] ?? 0) : 0));

const isZero = (powers: Powers): boolean => powers.every((power) => power === 0);

type UnitParts = Omit<CrossedParts, 'repeats'>;

interface ItemParts {
  readonly parts: UnitParts | null;
  readonly items: Sampling['items'];
}

/** Whether every total of a figure is known of single queries. */
const knownOfQueries = ({ powers, complete }: FigurePowers): boolean =>
  complete && isZero(powers.slice(WIDTH));

const phaseNames: ReadonlySet<string> = new Set(phaseTotalNames);

/** The powers of a figure of phases in the order of `phaseTotalNames`; null for one that holds other totals too. */
function phasePowers({ powers, complete }: FigurePowers): number[] | null {
  const others = repeatTotalNames.some((name, k) => powers[k] !== 0 && !phaseNames.has(name));
  if (!complete || others) return null;
  return phaseTotalNames.map((name) => powers[repeatTotalNames.indexOf(name)] ?? 0);
}

/** Parts of a figure all of whose totals are known of single queries; null for another. */
function wholeParts({ units, phases }: ItemSums, figure: FigurePowers): UnitParts | null {
  if (knownOfQueries(figure)) return units && unitParts(units, figure.powers);
  const ofPhases = phasePowers(figure);
  return phases && ofPhases && unitParts(phases, ofPhases);
}

/** What items move: the whole figure where each one's (or each block's) energy is known, else its accuracy alone. */
function itemParts(sums: ItemSums, figure: FigurePowers): ItemParts {
  const { queries } = sums;
  const whole = wholeParts(sums, figure);
  if (whole !== null && whole.items !== null) return { parts: whole, items: 'all' };
  const ofScore = only(figure.powers, (name) => scoreTotals.has(name));
  const score = isZero(ofScore) ? null : unitParts(queries, ofScore);
  return score === null || score.items === null
    ? { parts: null, items: 'none' }
    : { parts: score, items: 'accuracy' };
}

/** Variance over items of the logarithm of accuracy alone; null for figures without it. */
function scoreVariance({ queries, units }: ItemSums, { powers }: FigurePowers): number | null {
  const ofScore = only(powers, (name) => scoreTotals.has(name));
  if (isZero(ofScore)) return null;
  return unitParts(units ?? queries, ofScore)?.items?.variance ?? null;
}

/**
 * A figure without its accuracy: what of it a run moves as a whole. Answers of one item in several repeats are draws of their
 * own, so that how accuracy differs between repeats is noise of queries, which the variance over items holds.
 */
const withoutScore = ({ powers, complete }: FigurePowers): FigurePowers => ({
  powers: only(powers, (name) => !scoreTotals.has(name)),
  complete,
});

/** What the noise of single queries adds to the variance between repeats. */
function noiseBetween(sums: ItemSums, figure: FigurePowers): VariancePart {
  const none = { variance: 0, df: 0 };
  return isZero(figure.powers) ? none : (wholeParts(sums, figure)?.residual ?? none);
}

/** Variance between repeats, from the totals of each; null for too few, or where one has no total. */
function betweenRepeats(repeats: readonly RepeatTotals[], { powers, complete }: FigurePowers) {
  if (repeats.length < FEWEST_REPEATS || !complete) return null;
  const rows = repeats.map((totals) => totals.map((total) => total ?? Number.NaN));
  const sums = repeatTotalNames.map((_, k) => rows.reduce((sum, totals) => sum + (totals[k] ?? 0), 0));
  return variancePart(rows.map((totals) => influenceOf(totals, sums, powers)));
}

interface Halves {
  readonly down: number;
  readonly up: number;
}

/** How far accuracy's own interval reaches on the logarithm, towards a smaller and a larger figure. */
function reachOfAccuracy({ value, lo, hi }: Accuracy, power: number): Halves | null {
  if (value === null || lo === null || hi === null || !(value > 0 && lo > 0)) return null;
  const [below, above] = [Math.log(value / lo), Math.log(hi / value)];
  return power > 0 ? { down: below, up: above } : { down: above, up: below };
}

/**
 * The half-widths with accuracy's part of them put in the place of its delta-method one (MOVER, Donner and Zou 2012):
 * Wilson's interval is the better one near 0 and 1 and for few items, and it is the one printed beside accuracy.
 */
function withAccuracy(half: number, ofScore: number, reach: Halves): Halves {
  const side = (own: number) => {
    const squared = half ** 2 - ofScore ** 2 + own ** 2;
    return squared > 0 ? Math.sqrt(squared) : half;
  };
  return { down: side(reach.down), up: side(reach.up) };
}

function ends(value: number, halves: Halves, scale: IntervalScale): [number, number] {
  const below = scale === 'log' ? Math.exp(-halves.down) : 1 - halves.down;
  const above = scale === 'log' ? Math.exp(halves.up) : 1 + halves.up;
  const [a, b] = [value * below, value * above];
  return [Math.min(a, b), Math.max(a, b)];
}

/**
 * The interval of a figure whose accuracy is 0: nothing up to what the upper bound of accuracy would give. `perAccuracy` is
 * the figure over accuracy, or null.
 */
export function samplingAtZero(
  input: Omit<SamplingInput, 'value'>,
  perAccuracy: number | null,
): Sampling | null {
  const { accuracy, figure } = input;
  if (perAccuracy === null || accuracy.hi === null) return null;
  const powers = only(figure.powers, (name) => !scoreTotals.has(name));
  const value = perAccuracy * accuracy.hi;
  const sampling = samplingOf({ ...input, figure: { ...figure, powers }, value });
  return {
    lo: 0,
    hi: sampling?.hi ?? value,
    over_repeats: sampling?.over_repeats ?? false,
    items: sampling?.items === 'all' ? 'all' : 'accuracy',
  };
}

/**
 * The 95 % interval of a figure over items and repeats, sensor bounds aside: items and repeats are crossed random factors,
 * joined by `joinParts`. With fewer than three repeats only items are in it. Gross figures on the logarithm, net ones, which
 * may be negative, as they are. Null where nothing spreads that could be told.
 */
export function samplingOf({
  figure,
  scale,
  value,
  accuracy,
  sums,
  repeats,
}: SamplingInput): Sampling | null {
  const { parts, items } = itemParts(sums, figure);
  const ofRuns = withoutScore(figure);
  const between = betweenRepeats(repeats, ofRuns);
  const joined = joinParts({
    items: parts?.items ?? null,
    repeats: between,
    residual: noiseBetween(sums, ofRuns),
  });
  if (joined === null) return null;
  const { half } = joined;
  const reach = reachOfAccuracy(accuracy, figure.powers[repeatTotalNames.indexOf('score')] ?? 0);
  const ofScore = reach && scoreVariance(sums, figure);
  const halves =
    reach === null || ofScore === null
      ? { down: half, up: half }
      : withAccuracy(half, halfOfItems(joined, ofScore), reach);
  const [lo, hi] = ends(value, halves, scale);
  return { lo, hi, over_repeats: between !== null, items };
}
