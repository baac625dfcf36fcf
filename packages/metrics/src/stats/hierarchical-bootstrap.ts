import { createRng } from '@perwatt/core';
import { BOOTSTRAP_DRAWS, FEWEST_DEFINED } from '../bootstrap.js';
import { percentileInterval } from './bca.js';
import { type Contribution, type Powers, productFigure, totalsOf } from './product-figure.js';

interface Table {
  readonly items: number;
  readonly repeats: number;
  readonly width: number;
  /** Totals of (repeat, item, total), 0 where there is nothing. */
  readonly values: Float64Array;
}

function tableOf(contributions: readonly Contribution[], width: number): Table {
  const place = <K>(keys: readonly K[]) => new Map([...new Set(keys)].map((key, i) => [key, i]));
  const items = place(contributions.map(({ item }) => item));
  const repeats = place(contributions.map(({ repeat }) => repeat));
  const values = new Float64Array(items.size * repeats.size * width);
  for (const { item, repeat, totals } of contributions) {
    const at = ((repeats.get(repeat) ?? 0) * items.size + (items.get(item) ?? 0)) * width;
    for (let k = 0; k < width; k++) values[at + k] = (values[at + k] ?? 0) + (totals[k] ?? Number.NaN);
  }
  return { items: items.size, repeats: repeats.size, width, values };
}

/** How often each of `size` was drawn in `size` draws with replacement. */
function drawCounts(size: number, random: () => number): Float64Array {
  const counts = new Float64Array(size);
  for (let i = 0; i < size; i++) {
    const pick = Math.floor(random() * size);
    counts[pick] = (counts[pick] ?? 0) + 1;
  }
  return counts;
}

/** Adds one repeat's items, each as often as drawn, to totals. */
function addRepeat(
  { items, width, values }: Table,
  repeat: number,
  draw: { times: number; ofItem: Float64Array; totals: Float64Array },
): void {
  const { times, ofItem, totals } = draw;
  for (let i = 0; i < items; i++) {
    const weight = times * (ofItem[i] ?? 0);
    const at = (repeat * items + i) * width;
    for (let k = 0; weight > 0 && k < width; k++)
      totals[k] = (totals[k] ?? 0) + weight * (values[at + k] ?? 0);
  }
}

function drawTotals(table: Table, random: () => number): number[] {
  const [ofRepeat, ofItem] = [drawCounts(table.repeats, random), drawCounts(table.items, random)];
  const totals = new Float64Array(table.width);
  ofRepeat.forEach((times, repeat) => {
    if (times > 0) addRepeat(table, repeat, { times, ofItem, totals });
  });
  return [...totals];
}

/**
 * 95 % percentile interval of a product of totals to powers: repeats are drawn with replacement first, then items, the same
 * items in every repeat drawn (Owen 2007). Where energy is allocated the items are groups of at least 20 (`blocks`).
 *
 * Drawing three repeats again shows too small a spread (by a factor of √(2/3), and without Student's t): below some
 * ten repeats this interval is too short, and `crossedEstimate` is the one to use. Null without two items or two repeats,
 * for a figure that isn't finite, and where more than 2.5 % of the draws have nothing to divide by.
 */
export function hierarchicalBootstrap(
  contributions: readonly Contribution[],
  powers: Powers,
  options: { readonly seed: number; readonly draws?: number },
): { lo: number; hi: number } | null {
  const table = tableOf(contributions, powers.length);
  if (table.items < 2 && table.repeats < 2) return null;
  if (productFigure(totalsOf(contributions, powers.length), powers) === null) return null;
  const random = createRng(options.seed);
  const draws = options.draws ?? BOOTSTRAP_DRAWS;
  const values = Float64Array.from(
    { length: draws },
    () => productFigure(drawTotals(table, random), powers) ?? Number.NaN,
  ).filter(Number.isFinite);
  return values.length < FEWEST_DEFINED * draws ? null : percentileInterval(values);
}
