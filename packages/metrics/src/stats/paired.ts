import { studentCdf, studentQuantile, Z95 } from '../distributions.js';
import { wilson } from '../statistics.js';
import { aroundValue, influencesOf } from './crossed-estimate.js';
import {
  type CrossedInfluence,
  type CrossedParts,
  type CrossedVariance,
  crossedParts,
  joinParts,
  type VariancePart,
} from './crossed-variance.js';
import { mcnemar } from './mcnemar.js';
import { type Contribution, type Powers, productFigure, totalsOf } from './product-figure.js';

/** Two systems on what they share, with a 95 % interval. */
export interface PairedEstimate {
  /** B over A, or B less A. */
  readonly value: number;
  readonly lo: number;
  readonly hi: number;
  /** The figure of either on the shared items and repeats. */
  readonly a: number;
  readonly b: number;
  /** Two-sided p of no difference, from the same standard error and degrees of freedom. */
  readonly p: number;
  readonly items: number;
  readonly repeats: number;
  /** Items of either that the other lacks. */
  readonly dropped_items: number;
  /** Smallest true effect that this comparison sees in 80 of 100 cases, in the unit of `value` (a ratio less 1). */
  readonly detectable: number;
}

/** Why two systems can't be compared pairwise. */
export type UnpairedReason = 'nothing_shared' | 'one_item_one_repeat' | 'no_value';

export type Paired = PairedEstimate | { readonly reason: UnpairedReason };

const keyOf = ({ item, repeat }: Contribution): string => `${repeat} ${item}`;

/** Entries of either whose item and repeat the other has too. */
function shared(a: readonly Contribution[], b: readonly Contribution[]): [Contribution[], Contribution[]] {
  const [inA, inB] = [new Set(a.map(keyOf)), new Set(b.map(keyOf))];
  return [a.filter((entry) => inB.has(keyOf(entry))), b.filter((entry) => inA.has(keyOf(entry)))];
}

const itemsOf = (entries: readonly Contribution[]): Set<string> => new Set(entries.map(({ item }) => item));

const negated = (influences: readonly CrossedInfluence[]): CrossedInfluence[] =>
  influences.map((cell) => ({ ...cell, influence: -cell.influence }));

/** The repeats of two systems as if they had nothing to do with one another, with Welch's degrees of freedom. */
function apart(a: VariancePart, b: VariancePart): VariancePart {
  const variance = a.variance + b.variance;
  const squares = a.variance ** 2 / a.df + b.variance ** 2 / b.df;
  return { variance, df: squares === 0 ? a.df : variance ** 2 / squares };
}

/**
 * The variance of a difference: items are paired, and so is one query's noise. Which repeat of A stands beside which of B is
 * a matter of numbering, so their part is that of independent runs.
 */
function varianceOf(
  paired: CrossedParts,
  a: CrossedParts | null,
  b: CrossedParts | null,
): CrossedVariance | null {
  const repeats = a?.repeats && b?.repeats ? apart(a.repeats, b.repeats) : paired.repeats;
  return joinParts({ ...paired, repeats });
}

/** 80 % quantile of the normal distribution. */
const Z80 = 0.8416212335729143;

/** Two-sided p of an effect so many standard errors from none; 1 where neither differs nor spreads. */
function twoSided(effect: number, se: number, df: number): number {
  if (se === 0) return effect === 0 ? 1 : 0;
  return 2 * studentCdf(-Math.abs(effect) / se, df);
}

interface Sides {
  readonly a: number;
  readonly b: number;
  readonly cells: readonly CrossedInfluence[];
  readonly cellsA: readonly CrossedInfluence[];
  readonly cellsB: readonly CrossedInfluence[];
  readonly items: number;
  readonly repeats: number;
  readonly dropped_items: number;
}

/** Both figures on what is shared, and what every item and repeat adds to their difference. */
function sidesOf(
  [a, b]: readonly [readonly Contribution[], readonly Contribution[]],
  powers: Powers,
  weigh: (influences: readonly CrossedInfluence[], value: number) => CrossedInfluence[],
): Sides | { readonly reason: UnpairedReason } {
  const [ownA, ownB] = shared(a, b);
  if (ownA.length === 0) return { reason: 'nothing_shared' };
  const [totalsA, totalsB] = [totalsOf(ownA, powers.length), totalsOf(ownB, powers.length)];
  const [valueA, valueB] = [productFigure(totalsA, powers), productFigure(totalsB, powers)];
  if (valueA === null || valueB === null) return { reason: 'no_value' };
  const cellsA = weigh(influencesOf(ownA, totalsA, powers), valueA);
  const cellsB = weigh(influencesOf(ownB, totalsB, powers), valueB);
  const items = itemsOf(ownA);
  return {
    a: valueA,
    b: valueB,
    cells: [...negated(cellsA), ...cellsB],
    cellsA,
    cellsB,
    items: items.size,
    repeats: new Set(ownA.map(({ repeat }) => repeat)).size,
    dropped_items: itemsOf(a).size + itemsOf(b).size - 2 * items.size,
  };
}

interface Spread {
  /** Half of the 95 % interval, and the standard error that gives it with `df` degrees of freedom. */
  readonly half: number;
  readonly se: number;
  readonly df: number;
}

function spreadOf({ cells, cellsA, cellsB }: Sides): Spread | null {
  const paired = crossedParts(cells);
  const joined = paired && varianceOf(paired, crossedParts(cellsA), crossedParts(cellsB));
  if (joined === null) return null;
  const { half, df } = joined;
  return { half, se: half / studentQuantile(0.975, df), df };
}

/**
 * B over A of a figure on the items and repeats that both have, with its 95 % interval (delta method on the logarithm,
 * items and repeats crossed, Student's t). What is common to an item in both (its length, its hardness) cancels; runs of
 * one system are taken to have nothing in common with those of the other.
 */
export function pairedRatio(a: readonly Contribution[], b: readonly Contribution[], powers: Powers): Paired {
  const sides = sidesOf([a, b], powers, (cells) => [...cells]);
  if ('reason' in sides) return sides;
  if (sides.a === 0 || !(sides.b / sides.a > 0)) return { reason: 'no_value' };
  const spread = spreadOf(sides);
  if (spread === null) return { reason: 'one_item_one_repeat' };
  const { half, se, df } = spread;
  const value = sides.b / sides.a;
  return {
    value,
    ...aroundValue(value, half, 'log'),
    a: sides.a,
    b: sides.b,
    p: twoSided(Math.log(value), se, df),
    items: sides.items,
    repeats: sides.repeats,
    dropped_items: sides.dropped_items,
    detectable: Math.expm1(half + Z80 * se),
  };
}

/** A figure's influences on the figure itself, not its logarithm; those of a figure that is 0 are its totals' own. */
const linear = (cells: readonly CrossedInfluence[], value: number): CrossedInfluence[] =>
  cells.map((cell) => ({ ...cell, influence: cell.influence * value }));

/** Per item and repeat: how far a mean of a total over another lies from the whole mean. */
function meanInfluences(entries: readonly Contribution[], value: number, size: number): CrossedInfluence[] {
  return entries.map(({ item, repeat, totals }) => ({
    item,
    repeat,
    influence: ((totals[0] ?? Number.NaN) - value * (totals[1] ?? Number.NaN)) / size,
  }));
}

function differenceOf(sides: Sides): Paired {
  const spread = spreadOf(sides);
  if (spread === null) return { reason: 'one_item_one_repeat' };
  const { half, se, df } = spread;
  const value = sides.b - sides.a;
  return {
    value,
    lo: value - half,
    hi: value + half,
    a: sides.a,
    b: sides.b,
    p: twoSided(value, se, df),
    items: sides.items,
    repeats: sides.repeats,
    dropped_items: sides.dropped_items,
    detectable: half + Z80 * se,
  };
}

const isScore = ({ totals: [score = Number.NaN, scored = Number.NaN] }: Contribution): boolean =>
  score >= 0 && score <= scored;

/** Below this a spread is the rounding of sums, of scores that are at most 1. */
const ROUNDING = 1e-12;

/**
 * A difference of scores that is the same on every item. That items agree so far says that few differ, not that none does: the
 * share of others is at most what Wilson's interval leaves, and each of them moves the difference by at most its range. The
 * p is that of the sign test.
 */
function withoutSpread(paired: PairedEstimate): PairedEstimate {
  const { value, items } = paired;
  const others = 1 - (wilson(items, items)?.lo ?? 0);
  const [lo, hi] = [value - others * (1 + value), value + others * (1 - value)];
  const half = Math.max(value - lo, hi - value);
  const p = Math.abs(value) < ROUNDING ? 1 : (mcnemar(0, items)?.p_mid ?? 1);
  return { ...paired, lo, hi, p, detectable: half * (1 + Z80 / Z95) };
}

/**
 * B less A of a figure on the items and repeats that both have, with its 95 % interval. For ratios of one total to another
 * (accuracy: [score, scored], powers [1, −1]) a figure may be 0; for other powers it must not be (`no_value`). Where scores
 * of 0…1 differ by the same on every item, the interval is that of a share that was seen on all of them.
 */
export function pairedDifference(
  a: readonly Contribution[],
  b: readonly Contribution[],
  powers: Powers = [1, -1],
): Paired {
  if (isMean(powers)) return meanDifference(a.filter(isDivided), b.filter(isDivided), powers);
  const sides = sidesOf([a, b], powers, linear);
  if ('reason' in sides) return sides;
  return sides.a === 0 || sides.b === 0 ? { reason: 'no_value' } : differenceOf(sides);
}

/** Whether a figure is the first total over the second, whatever other totals there are. */
const isMean = (powers: Powers): boolean =>
  powers.every((power, k) => power === (k === 0 ? 1 : k === 1 ? -1 : 0));

/** Whether there is something to divide by: an answer that nobody scored is in neither mean. */
const isDivided = ({ totals }: Contribution): boolean => totals[1] !== 0;

function meanDifference(a: readonly Contribution[], b: readonly Contribution[], powers: Powers): Paired {
  const [ownA, ownB] = shared(a, b);
  const sides = sidesOf([a, b], powers, linear);
  if ('reason' in sides) return sides;
  const [sizeA, sizeB] = [totalsOf(ownA, 2)[1] ?? 0, totalsOf(ownB, 2)[1] ?? 0];
  const cellsA = meanInfluences(ownA, sides.a, sizeA);
  const cellsB = meanInfluences(ownB, sides.b, sizeB);
  const paired = differenceOf({ ...sides, cellsA, cellsB, cells: [...negated(cellsA), ...cellsB] });
  const still = 'value' in paired && paired.hi - paired.lo < ROUNDING && [...ownA, ...ownB].every(isScore);
  return still ? withoutSpread(paired) : paired;
}
