import {
  addProducts,
  addRow,
  BLOCK_ROWS,
  copyRow,
  newBlock,
  newSquare,
  subtractRow,
  WIDTH,
} from './cell-products.js';

/** Items, or blocks of them: the number of each row's own. */
export interface Units {
  readonly of: Int32Array;
  readonly count: number;
}

interface Crossing {
  readonly units: Units;
  readonly repeats: Units;
}

interface Pairs {
  /** How many pairs of unit and repeat have a query. */
  readonly length: number;
  /** `WIDTH` sums a pair. */
  readonly rows: Float64Array;
  readonly unit: Int32Array;
  readonly repeat: Int32Array;
}

interface Margin {
  readonly sums: Float64Array;
  /** Pairs in each. */
  readonly counts: Uint32Array;
}

/** A two-way table of units and repeats: `WIDTH` sums a pair, and those of each unit and of each repeat. */
export interface CrossTable extends Pairs {
  readonly units: Margin;
  readonly repeats: Margin;
}

/** Number of each row's pair, in the order in which pairs first appear. */
function pairNumbers({ units, repeats }: Crossing): { readonly of: Int32Array; readonly count: number } {
  const numbers = new Int32Array(units.count * repeats.count).fill(-1);
  const of = new Int32Array(units.of.length);
  let count = 0;
  for (let row = 0; row < of.length; row++) {
    const pair = (repeats.of[row] ?? 0) * units.count + (units.of[row] ?? 0);
    if (numbers[pair] === -1) {
      numbers[pair] = count;
      count += 1;
    }
    of[row] = numbers[pair] ?? 0;
  }
  return { of, count };
}

/** The rows of queries summed by pair; the rows themselves where no pair has two. */
function pairsOf(table: Float64Array, { units, repeats }: Crossing): Pairs {
  const { of, count } = pairNumbers({ units, repeats });
  if (count === of.length) return { length: count, rows: table, unit: units.of, repeat: repeats.of };
  const rows = new Float64Array(count * WIDTH);
  const [unit, repeat] = [new Int32Array(count), new Int32Array(count)];
  for (let row = 0; row < of.length; row++) {
    const pair = of[row] ?? 0;
    addRow(rows, pair * WIDTH, table, row * WIDTH);
    unit[pair] = units.of[row] ?? 0;
    repeat[pair] = repeats.of[row] ?? 0;
  }
  return { length: count, rows, unit, repeat };
}

/** The rows of queries (`WIDTH` numbers each) as a table of units and repeats. */
export function crossTable(table: Float64Array, crossing: Crossing): CrossTable {
  const pairs = pairsOf(table, crossing);
  const margin = ({ count }: Units): Margin => ({
    sums: new Float64Array(count * WIDTH),
    counts: new Uint32Array(count),
  });
  const [units, repeats] = [margin(crossing.units), margin(crossing.repeats)];
  for (let pair = 0; pair < pairs.length; pair++) {
    const [unit, repeat] = [pairs.unit[pair] ?? 0, pairs.repeat[pair] ?? 0];
    addRow(units.sums, unit * WIDTH, pairs.rows, pair * WIDTH);
    addRow(repeats.sums, repeat * WIDTH, pairs.rows, pair * WIDTH);
    units.counts[unit] = (units.counts[unit] ?? 0) + 1;
    repeats.counts[repeat] = (repeats.counts[repeat] ?? 0) + 1;
  }
  return { ...pairs, units, repeats };
}

/** Means of `WIDTH` sums over as many pairs as each has. */
function meansOf({ sums, counts }: Margin): Float64Array {
  const means = new Float64Array(sums.length);
  for (let of = 0; of < counts.length; of++) {
    const count = counts[of] ?? 1;
    for (let at = of * WIDTH; at < (of + 1) * WIDTH; at++) means[at] = (sums[at] ?? 0) / count;
  }
  return means;
}

/** Sums over pairs of products of what is left of each when the means of its unit and its repeat are taken off. */
export function residualSquare({ length, rows, unit, repeat, ...margins }: CrossTable): Float64Array {
  const [ofUnits, ofRepeats] = [meansOf(margins.units), meansOf(margins.repeats)];
  const [square, left] = [newSquare(), newBlock()];
  for (let from = 0; from < length; from += BLOCK_ROWS) {
    const end = Math.min(from + BLOCK_ROWS, length);
    for (let pair = from; pair < end; pair++) {
      const at = (pair - from) * WIDTH;
      copyRow(left, at, rows, pair * WIDTH);
      subtractRow(left, at, ofUnits, (unit[pair] ?? 0) * WIDTH);
      subtractRow(left, at, ofRepeats, (repeat[pair] ?? 0) * WIDTH);
    }
    addProducts(square, left, end - from);
  }
  return square;
}

/** The units of one label. */
interface Labelled {
  readonly items: number;
  readonly totals: Float64Array;
  /** Sums over units of products of two of their sums. */
  readonly square: Float64Array;
}

/** Units that have a query by label: the numbers of each label's own, in order; those of none come last. */
function unitsByLabel({ counts }: Margin, label: Units | null): Int32Array[] {
  const others = label?.count ?? 0;
  const labelOf = (unit: number): number => {
    const own = label?.of[unit] ?? -1;
    return own < 0 ? others : own;
  };
  const sizes = new Uint32Array(others + 1);
  for (let unit = 0; unit < counts.length; unit++)
    if (counts[unit] !== 0) sizes[labelOf(unit)] = (sizes[labelOf(unit)] ?? 0) + 1;
  const lists = Array.from(sizes, (size) => new Int32Array(size));
  sizes.fill(0);
  for (let unit = 0; unit < counts.length; unit++) {
    if (counts[unit] === 0) continue;
    const own = labelOf(unit);
    const list = lists[own];
    if (list !== undefined) list[sizes[own] ?? 0] = unit;
    sizes[own] = (sizes[own] ?? 0) + 1;
  }
  return lists;
}

/** Sums of each label over its units, and last those over units without one. */
export function labelSquares({ units }: CrossTable, label: Units | null): Labelled[] {
  const block = newBlock();
  return unitsByLabel(units, label).map((own) => {
    const [totals, square] = [new Float64Array(WIDTH), newSquare()];
    for (let from = 0; from < own.length; from += BLOCK_ROWS) {
      const end = Math.min(from + BLOCK_ROWS, own.length);
      for (let i = from; i < end; i++) {
        const row = (own[i] ?? 0) * WIDTH;
        copyRow(block, (i - from) * WIDTH, units.sums, row);
        addRow(totals, 0, units.sums, row);
      }
      addProducts(square, block, end - from);
    }
    return { items: own.length, totals, square };
  });
}

/** Lists of equal length added up. */
export function summed(lists: readonly Float64Array[]): Float64Array {
  const sums = new Float64Array(lists[0]?.length ?? 0);
  for (const list of lists) for (let i = 0; i < sums.length; i++) sums[i] = (sums[i] ?? 0) + (list[i] ?? 0);
  return sums;
}
