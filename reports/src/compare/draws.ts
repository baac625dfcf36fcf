import { createRng, seedFrom } from '@perwatt/core';
import { blocks, type Contribution, productFigure, totalNames } from '@perwatt/metrics';
import type { ComparableCell } from './comparable.js';
import { productOf } from './pair-estimate.js';

/** Draws of a front's and a split's bootstrap. */
export const DRAWS = 1000;

interface Table {
  readonly width: number;
  /** By unit of the cell: repeat, item, totals. */
  readonly rows: readonly Contribution[];
}

/** Queries where all energy is known by item, blocks of consecutive ones where it was shared out. */
const unitsOf = ({ contributions }: ComparableCell): readonly Contribution[] => {
  if (contributions === null) return [];
  return contributions.isolated
    ? contributions.queries
    : (blocks(contributions.queries) ?? contributions.queries);
};

/**
 * How often each name was drawn, with replacement, in one draw less than there are names (Rao and Wu 1988): as many draws
 * as names would show too small a spread, by a factor of √(2/3) for three repeats. A single name is always drawn.
 */
function drawn<K>(names: readonly K[], random: () => number): Map<K, number> {
  const counts = new Map<K, number>();
  for (let i = 0; i < Math.max(1, names.length - 1); i++) {
    const pick = names[Math.floor(random() * names.length)];
    if (pick !== undefined) counts.set(pick, (counts.get(pick) ?? 0) + 1);
  }
  return counts;
}

/** One standard normal deviate (Box and Muller). */
const normal = (random: () => number): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

const Z95 = 1.959963984540054;

/** Draws of a figure that has an interval and no items: a logarithm as wide as that. Null without one. */
function ofInterval(cell: ComparableCell, metric: string, draws: number): (number | null)[] | null {
  const figure = cell.figures[metric];
  if (figure === undefined || figure.value === null) return null;
  const { value, sampling_lo: lo, sampling_hi: hi } = figure;
  if (lo === null || hi === null || !(lo > 0 && value > 0)) return null;
  const sd = Math.log(hi / lo) / (2 * Z95);
  const random = createRng(seedFrom(0, 'draws', cell.record, metric));
  return Array.from({ length: draws }, () => value * Math.exp(sd * normal(random)));
}

function weighted(
  { width, rows }: Table,
  items: Map<string, number>,
  repeats: Map<number, number>,
): number[] {
  const totals = new Array<number>(width).fill(0);
  for (const { item, repeat, totals: own } of rows) {
    const weight = (items.get(item) ?? 0) * (repeats.get(repeat) ?? 0);
    for (let k = 0; weight > 0 && k < width; k++) totals[k] = (totals[k] ?? 0) + weight * (own[k] ?? 0);
  }
  return totals;
}

/** A cell's metrics in each draw; empty where nothing tells how they spread. */
export type CellDraws = Readonly<Record<string, readonly (number | null)[]>>;

/**
 * Bootstrap draws of metrics of several cells: repeats with replacement, then items, the same in every cell, so that what
 * cells share moves them together. Figures without items (latencies, published ones) are drawn from their own interval,
 * each by itself. By record of the cell.
 */
export function drawCells(
  cells: readonly ComparableCell[],
  metrics: readonly string[],
  { seed = 0, draws = DRAWS }: { readonly seed?: number; readonly draws?: number } = {},
): Map<string, CellDraws> {
  const tables = cells.map((cell) => ({
    record: cell.record,
    width: totalNames.length,
    rows: unitsOf(cell),
  }));
  const all = tables.flatMap(({ rows }) => rows);
  const items = [...new Set(all.map(({ item }) => item))].sort();
  const repeats = [...new Set(all.map(({ repeat }) => repeat))].sort((a, b) => a - b);
  const products = metrics.flatMap((metric) => {
    const product = productOf(metric);
    return product === null ? [] : [{ metric, powers: product.powers }];
  });
  const values = new Map(cells.map(({ record }) => [record, emptyDraws(metrics)] as const));
  const filled = tables.filter(({ rows }) => rows.length > 0);
  const random = createRng(seedFrom(seed, 'draws'));
  for (let draw = 0; draw < (all.length > 0 ? draws : 0); draw++) {
    const [ofRepeat, ofItem] = [drawn(repeats, random), drawn(items, random)];
    for (const table of filled) {
      const totals = weighted(table, ofItem, ofRepeat);
      const own = values.get(table.record);
      for (const { metric, powers } of products) own?.[metric]?.push(productFigure(totals, powers));
    }
  }
  return new Map(cells.map((cell) => [cell.record, completed(cell, values.get(cell.record) ?? {}, draws)]));
}

const emptyDraws = (metrics: readonly string[]): Record<string, (number | null)[]> =>
  Object.fromEntries(metrics.map((metric) => [metric, []]));

function completed(cell: ComparableCell, own: Record<string, (number | null)[]>, draws: number): CellDraws {
  return Object.fromEntries(
    Object.entries(own).map(([metric, values]) => [
      metric,
      values.length > 0 && values.some((value) => value !== null)
        ? values
        : (ofInterval(cell, metric, draws) ?? []),
    ]),
  );
}
