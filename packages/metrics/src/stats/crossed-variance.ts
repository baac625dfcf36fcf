import { studentQuantile } from '../distributions.js';

/** One influence on the logarithm of a figure, of one item in one repeat. */
export interface CrossedInfluence {
  readonly item: string;
  readonly repeat: number;
  readonly influence: number;
}

/** Variance of the logarithm of a figure over items and repeats. */
export interface CrossedVariance {
  /** Variance of the figure's logarithm: its square root is the relative standard error. */
  readonly variance: number;
  /** Degrees of freedom of Student's t, after Satterthwaite. */
  readonly df: number;
  /** Half of the 95 % interval of the figure's logarithm. */
  readonly half: number;
  /** Part that another draw of items would move; null for one item. */
  readonly items: VariancePart | null;
  /** Part that other repeats would move; null for one repeat. */
  readonly repeats: VariancePart | null;
  /** What both parts have in common: noise of one item in one repeat. */
  readonly residual: VariancePart;
}

interface Margin {
  sum: number;
  count: number;
}

function margins<K>(cells: readonly CrossedInfluence[], key: (cell: CrossedInfluence) => K): Map<K, Margin> {
  const sums = new Map<K, Margin>();
  for (const cell of cells) {
    const margin = sums.get(key(cell));
    if (margin === undefined) sums.set(key(cell), { sum: cell.influence, count: 1 });
    else {
      margin.sum += cell.influence;
      margin.count += 1;
    }
  }
  return sums;
}

/** Cells with the same item and repeat made one. */
function merged(cells: readonly CrossedInfluence[]): CrossedInfluence[] {
  const byKey = new Map<string, CrossedInfluence>();
  for (const cell of cells) {
    const key = `${cell.repeat} ${cell.item}`;
    const known = byKey.get(key);
    byKey.set(key, known === undefined ? cell : { ...known, influence: known.influence + cell.influence });
  }
  return [...byKey.values()];
}

/** A part of a variance with the degrees of freedom it was estimated with. */
export interface VariancePart {
  readonly variance: number;
  readonly df: number;
}

/** The parts that the variance of a crossed figure is put together from; null where nothing can spread. */
export interface CrossedParts {
  readonly items: VariancePart | null;
  readonly repeats: VariancePart | null;
  readonly residual: VariancePart;
}

/** Items + repeats − what they share, with Satterthwaite's degrees of freedom. */
function joint(items: VariancePart, repeats: VariancePart, residual: VariancePart): VariancePart {
  const variance = items.variance + repeats.variance - residual.variance;
  const parts = [items, repeats, residual].filter((part) => part.df > 0);
  const spreadOfParts = parts.reduce((sum, part) => sum + part.variance ** 2 / part.df, 0);
  return { variance, df: spreadOfParts === 0 ? 1 : Math.max(variance ** 2 / spreadOfParts, 1) };
}

function residualOf(
  cells: readonly CrossedInfluence[],
  items: ReadonlyMap<string, Margin>,
  repeats: ReadonlyMap<number, Margin>,
): VariancePart {
  const df = cells.length - items.size - repeats.size + 1;
  if (df <= 0) return { variance: 0, df: 0 };
  let squares = 0;
  for (const { item, repeat, influence } of cells) {
    const own = items.get(item);
    const run = repeats.get(repeat);
    const expected = (own?.sum ?? 0) / (own?.count ?? 1) + (run?.sum ?? 0) / (run?.count ?? 1);
    squares += (influence - expected) ** 2;
  }
  return { variance: (cells.length * squares) / df, df };
}

/** C/(C − 1) · Σ squares of influences that add up to 0; null below two, or where one isn't finite. */
export function variancePart(influences: readonly number[]): VariancePart | null {
  const count = influences.length;
  if (count < 2 || !influences.every(Number.isFinite)) return null;
  const squares = influences.reduce((sum, influence) => sum + influence ** 2, 0);
  return { variance: (count / (count - 1)) * squares, df: count - 1 };
}

/** The parts of the variance of a figure, from influences that add up to 0; null where one isn't finite. */
export function crossedParts(influences: readonly CrossedInfluence[]): CrossedParts | null {
  const cells = merged(influences);
  if (!cells.every(({ influence }) => Number.isFinite(influence))) return null;
  const byItem = margins(cells, ({ item }) => item);
  const byRepeat = margins(cells, ({ repeat }) => repeat);
  return {
    items: variancePart([...byItem.values()].map(({ sum }) => sum)),
    repeats: variancePart([...byRepeat.values()].map(({ sum }) => sum)),
    residual: residualOf(cells, byItem, byRepeat),
  };
}

const t95 = (df: number): number => studentQuantile(0.975, df);

/** Half of a 95 % interval by Student's t. */
const halfOf = ({ variance, df }: VariancePart): number => t95(df) * Math.sqrt(variance);

/** Each part by its own Student's t, in quadrature; what items and repeats share counts with the repeats (after Howe 1974). */
function halfByParts(items: VariancePart, repeats: VariancePart, residual: VariancePart): number {
  const beyond = Math.max(items.variance - residual.variance, 0);
  return Math.hypot(halfOf({ variance: beyond, df: items.df }), halfOf(repeats));
}

/** How much the shorter of two half-widths counts in their mean square: where one of few repeats and many items spreads as the other. */
const SHORTER = 0.75;

const between = (shorter: number, longer: number): number =>
  Math.sqrt(SHORTER * shorter ** 2 + (1 - SHORTER) * longer ** 2);

/** One variance of its parts: see `crossedVariance`. Null where neither items nor repeats spread. */
export function joinParts(parts: CrossedParts): CrossedVariance | null {
  const { items, repeats, residual } = parts;
  const only = items ?? repeats;
  if (only === null) return null;
  if (items === null || repeats === null) return { ...parts, ...only, half: halfOf(only) };
  const sum = joint(items, repeats, residual);
  const one = sum.variance > items.variance ? sum : items;
  const half = between(halfOf(one), halfByParts(items, repeats, residual));
  return { ...parts, ...one, half };
}

/**
 * Variance of a figure that is measured on the same items in every repeat, from influences that add up to 0.
 *
 * Items and repeats are both random and crossed: the variance over whole items and that over whole repeats each hold the
 * noise of single queries, so it is taken off their sum once (analysis of variance of a two-way layout), and a
 * variance between repeats below 0 counts as 0. The half-width is the root of a weighted mean square of two approximations that
 * err on opposite sides when few repeats spread as much as many items: Student's t with Satterthwaite's degrees of
 * freedom (too short, at worst 92 % of three repeats) counts thrice, each part by its own t in quadrature (too long, at worst
 * 98 %) once: with noise of single queries that is small, 94 to 96 %. With one repeat only items spread, with one item
 * only repeats. Null for one of each, or where an influence isn't finite.
 */
export function crossedVariance(influences: readonly CrossedInfluence[]): CrossedVariance | null {
  const parts = crossedParts(influences);
  return parts && joinParts(parts);
}

/** How much of `joined.half` items of variance `part` make up: what a better interval of that part replaces. */
export function halfOfItems(joined: CrossedVariance, part: number): number {
  const own = joined.items?.df ?? joined.df;
  return Math.sqrt(part) * between(t95(joined.df), t95(own));
}
