import { type CellColumns, codeOf } from './cell-columns.js';
import { addRow, type Offsets, productSums, productSumsLess, WIDTH } from './cell-products.js';
import { orderOf, shareOfTime } from './cell-spans.js';
import { TIME_BLOCKS } from './stats/blocks.js';
import type { CrossedParts, VariancePart } from './stats/crossed-variance.js';

export { WIDTH } from './cell-products.js';

/** What every query of a cell adds to its totals: `WIDTH` numbers a row in the order of `totalNames`, NaN where not known. */
export function queryTotals({ queries, calls }: CellColumns): Float64Array {
  const { length, score, gross_j, net_j } = queries;
  const seconds = shareOfTime(calls, length);
  const table = new Float64Array(length * WIDTH);
  for (let i = 0, at = 0; i < length; i++, at += WIDTH) {
    const own = score[i] ?? Number.NaN;
    const scored = !Number.isNaN(own);
    table[at] = scored ? own : 0;
    table[at + 1] = scored ? 1 : 0;
    table[at + 2] = 1;
    table[at + 3] = seconds[i] ?? 0;
    table[at + 4] = gross_j[i] ?? Number.NaN;
    table[at + 5] = net_j[i] ?? Number.NaN;
  }
  addTokens(table, calls);
  return table;
}

/** Tokens by query; a call without a count adds none, as in the totals. */
function addTokens(table: Float64Array, { length, query, ...calls }: CellColumns['calls']): void {
  for (let call = 0; call < length; call++) {
    const at = (query[call] ?? 0) * WIDTH;
    const output = calls.completion_tokens[call] ?? Number.NaN;
    const all = output + (calls.prompt_tokens[call] ?? Number.NaN);
    if (!Number.isNaN(output)) table[at + 6] = (table[at + 6] ?? 0) + output;
    if (!Number.isNaN(all)) table[at + 7] = (table[at + 7] ?? 0) + all;
  }
}

/** Whether every query's own energy was measured, not a share of what several had. */
export const isIsolated = ({ queries: { method } }: CellColumns): boolean => {
  const own = codeOf(method, 'isolated');
  for (let row = 0; row < method.codes.length; row++) if (method.codes[row] !== own) return false;
  return true;
};

/** Items, or blocks of them: the number of each row's own. */
export interface Units {
  readonly of: Int32Array;
  readonly count: number;
}

/**
 * Blocks of consecutive items as `blocks` makes them, in order of start in the first repeat; null below 20 items.
 */
export function blockUnits({ queries }: CellColumns): Units | null {
  const { item, items, repeat, start, length } = queries;
  if (items < TIME_BLOCKS) return null;
  const order = orderOf(start);
  const first = Array.from(repeat).reduce((least, own) => Math.min(least, own), Number.POSITIVE_INFINITY);
  const place = new Int32Array(items).fill(-1);
  let placed = 0;
  const visit = (row: number) => {
    const own = item[row] ?? 0;
    if (place[own] !== -1) return;
    place[own] = placed;
    placed += 1;
  };
  for (const row of order) if (repeat[row] === first) visit(row);
  for (const row of order) visit(row);
  const block = place.map((at) => Math.floor((at * TIME_BLOCKS) / items));
  return { of: Int32Array.from({ length }, (_, row) => block[item[row] ?? 0] ?? 0), count: TIME_BLOCKS };
}

/** Sums over a two-way table of units and repeats: what the variance of every product of totals is made of. */
export interface CrossedSums {
  readonly units: number;
  readonly repeats: number;
  /** Pairs of unit and repeat that have a query. */
  readonly cells: number;
  readonly totals: Float64Array;
  /** `WIDTH` × `WIDTH`: sums over units of products of two of their totals. */
  readonly ofUnits: Float64Array;
  /** The same over cells, of what neither their unit nor their repeat accounts for. */
  readonly residual: Float64Array;
}

interface Margins {
  readonly cells: Float64Array;
  readonly inCell: Uint32Array;
  readonly units: Float64Array;
  readonly inUnit: Uint32Array;
  readonly repeats: Float64Array;
  readonly inRepeat: Uint32Array;
}

/** Whether there is one row for every unit in every repeat, repeat after repeat, units in order. */
function isCrossed({ of, count }: Units, repeats: Units): boolean {
  if (of.length !== count * repeats.count) return false;
  for (let row = 0; row < of.length; row++)
    if ((repeats.of[row] ?? 0) * count + (of[row] ?? 0) !== row) return false;
  return true;
}

/** Rows that are cells of the two-way table as they are. */
function crossedMargins(cells: Float64Array, units: number, repeats: number): Margins {
  return withSums(
    {
      cells,
      inCell: new Uint32Array(units * repeats).fill(1),
      units: new Float64Array(units * WIDTH),
      inUnit: new Uint32Array(units).fill(repeats),
      repeats: new Float64Array(repeats * WIDTH),
      inRepeat: new Uint32Array(repeats).fill(units),
    },
    { units, repeats },
  );
}

function marginsOf(table: Float64Array, units: Units, repeats: Units): Margins {
  if (isCrossed(units, repeats)) return crossedMargins(table, units.count, repeats.count);
  const size = units.count * repeats.count;
  const margins: Margins = {
    cells: new Float64Array(size * WIDTH),
    inCell: new Uint32Array(size),
    units: new Float64Array(units.count * WIDTH),
    inUnit: new Uint32Array(units.count),
    repeats: new Float64Array(repeats.count * WIDTH),
    inRepeat: new Uint32Array(repeats.count),
  };
  const { cells, inCell, inUnit, inRepeat } = margins;
  for (let row = 0; row < units.of.length; row++) {
    const unit = units.of[row] ?? 0;
    const repeat = repeats.of[row] ?? 0;
    const cell = repeat * units.count + unit;
    if (inCell[cell] === 0) {
      inUnit[unit] = (inUnit[unit] ?? 0) + 1;
      inRepeat[repeat] = (inRepeat[repeat] ?? 0) + 1;
    }
    inCell[cell] = (inCell[cell] ?? 0) + 1;
    addRow(cells, cell * WIDTH, table, row * WIDTH);
  }
  return withSums(margins, { units: units.count, repeats: repeats.count });
}

/** Adds the cells of each unit and of each repeat. */
function withSums(
  margins: Margins,
  { units, repeats }: { readonly units: number; readonly repeats: number },
) {
  const { cells } = margins;
  for (let repeat = 0; repeat < repeats; repeat++) {
    for (let unit = 0; unit < units; unit++) {
      const at = (repeat * units + unit) * WIDTH;
      addRow(margins.units, unit * WIDTH, cells, at);
      addRow(margins.repeats, repeat * WIDTH, cells, at);
    }
  }
  return margins;
}

/** Means of `WIDTH` sums over as many cells as there are of each. */
function meansOf(sums: Float64Array, counts: Uint32Array): Float64Array {
  const means = new Float64Array(sums.length);
  for (let of = 0; of < counts.length; of++) {
    const count = counts[of] ?? 1;
    for (let at = of * WIDTH; at < (of + 1) * WIDTH; at++) means[at] = (sums[at] ?? 0) / count;
  }
  return means;
}

/** What is left of a cell when the means of its unit and its repeat are taken off, over all cells. */
function residualSquare(margins: Margins): Float64Array {
  const inner = meansOf(margins.units, margins.inUnit);
  const outer = meansOf(margins.repeats, margins.inRepeat);
  const { cells, inCell } = margins;
  return inCell.includes(0)
    ? productSums(leftOf(margins, { inner, outer }))
    : productSumsLess(cells, { inner, outer });
}

/** The same where some cells have no query: nothing is left of those. */
function leftOf({ cells, inCell }: Margins, { inner, outer }: Offsets): Float64Array {
  const left = new Float64Array(cells.length);
  for (let cell = 0; cell < inCell.length; cell++) {
    if (inCell[cell] === 0) continue;
    const own = cell * WIDTH;
    const [unit, repeat] = [own % inner.length, Math.floor(own / inner.length) * WIDTH];
    for (let k = 0; k < WIDTH; k++)
      left[own + k] = (cells[own + k] ?? 0) - ((inner[unit + k] ?? 0) + (outer[repeat + k] ?? 0));
  }
  return left;
}

/** Sums of a cell by label of its items, for figures of the label alone. */
export interface LabelSums {
  readonly items: number;
  readonly queries: number;
  readonly totals: Float64Array;
  readonly ofUnits: Float64Array;
}

interface Sums extends CrossedSums {
  /** By label, where labels were given. */
  readonly labels: readonly LabelSums[];
}

interface Labels {
  /** Number of each unit's label, below 0 for none. */
  readonly of: Int32Array;
  readonly count: number;
}

/** Sums of each label over its units, in their order. */
function labelSums({ units, inUnit }: Margins, { of, count }: Labels): LabelSums[] {
  const items = new Uint32Array(count);
  const labelOf = (unit: number): number => (inUnit[unit] === 0 ? -1 : (of[unit] ?? -1));
  for (let unit = 0; unit < inUnit.length; unit++) {
    const label = labelOf(unit);
    if (label >= 0) items[label] = (items[label] ?? 0) + 1;
  }
  const rows = Array.from(items, (n) => new Float64Array(n * WIDTH));
  items.fill(0);
  for (let unit = 0; unit < inUnit.length; unit++) {
    const label = labelOf(unit);
    const own = rows[label];
    if (own === undefined) continue;
    addRow(own, (items[label] ?? 0) * WIDTH, units, unit * WIDTH);
    items[label] = (items[label] ?? 0) + 1;
  }
  return rows.map((own, label) => {
    const totals = new Float64Array(WIDTH);
    for (let row = 0; row < own.length; row += WIDTH) addRow(totals, 0, own, row);
    return { items: items[label] ?? 0, queries: totals[2] ?? 0, totals, ofUnits: productSums(own) };
  });
}

/** One pass over the queries of a cell for all its figures. `label` has the number of each unit's label, below 0 for none. */
export function crossedSums(
  table: Float64Array,
  { units, repeats }: { readonly units: Units; readonly repeats: Units },
  label: Labels | null = null,
): Sums {
  const margins = marginsOf(table, units, repeats);
  const totals = new Float64Array(WIDTH);
  for (let repeat = 0; repeat < repeats.count; repeat++) addRow(totals, 0, margins.repeats, repeat * WIDTH);
  const ofUnits = productSums(margins.units);
  const labels = label === null ? [] : labelSums(margins, label);
  let present = 0;
  for (let unit = 0; unit < units.count; unit++) if (margins.inUnit[unit] !== 0) present += 1;
  let cells = 0;
  for (let cell = 0; cell < margins.inCell.length; cell++) if (margins.inCell[cell] !== 0) cells += 1;
  const residual = repeats.count < 2 ? new Float64Array(WIDTH * WIDTH) : residualSquare(margins);
  return { units: present, repeats: repeats.count, cells, totals, ofUnits, residual, labels };
}

/** Weights of a product of totals: its influence is their product with what a part adds to the totals. */
const weightsOf = (totals: Float64Array, powers: readonly number[]): Float64Array =>
  totals.map((total, k) => ((powers[k] ?? 0) === 0 ? 0 : (powers[k] ?? 0) / total));

/** Σ of squared influences, never below 0; totals of power 0 are no part of it, known or not. */
function squaresOf(square: Float64Array, weights: Float64Array): number {
  let sum = 0;
  for (let at = 0; at < square.length; at++) {
    const [k, l] = [Math.floor(at / WIDTH), at % WIDTH];
    const [own, other] = [weights[k] ?? 0, weights[l] ?? 0];
    if (l >= k && own !== 0 && other !== 0) sum += (k === l ? 1 : 2) * own * other * (square[at] ?? 0);
  }
  return Math.max(sum, 0);
}

const partOf = (squares: number, count: number): VariancePart | null =>
  count < 2 ? null : { variance: (count / (count - 1)) * squares, df: count - 1 };

/** Variance over units of a product of totals to powers, and what of it is noise of single queries; null where it isn't finite. */
export function unitParts(
  sums: CrossedSums,
  powers: readonly number[],
): Omit<CrossedParts, 'repeats'> | null {
  const weights = weightsOf(sums.totals, powers);
  const [squares, left] = [squaresOf(sums.ofUnits, weights), squaresOf(sums.residual, weights)];
  if (!Number.isFinite(squares) || !Number.isFinite(left)) return null;
  const df = sums.cells - sums.units - sums.repeats + 1;
  const residual = df <= 0 ? { variance: 0, df: 0 } : { variance: (sums.cells * left) / df, df };
  return { items: partOf(squares, sums.units), residual };
}

/** Variance over items of a product of totals within one label; null below two items and where it isn't finite. */
export function labelPart(
  { totals, ofUnits, items }: LabelSums,
  powers: readonly number[],
): VariancePart | null {
  const squares = squaresOf(ofUnits, weightsOf(totals, powers));
  return Number.isFinite(squares) ? partOf(squares, items) : null;
}
