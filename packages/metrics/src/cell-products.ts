import { totalNames } from './energy-figures.js';

/** Totals of a query. */
export const WIDTH = totalNames.length;

/** Rows that are taken through at once: they stay in the nearest cache for all three passes over them. */
const BLOCK = 256 * WIDTH;

/** Rows from one place to another of an array of them. */
interface Rows {
  readonly rows: Float64Array;
  readonly from: number;
  readonly to: number;
}

// The square is added to in three passes of few sums each, which fit the registers of a processor. Unrolled: they are hot.

/** Products of the first two numbers with all that follow. */
function addFirst(square: Float64Array, { rows, from, to }: Rows): void {
  let [s00, s01, s02, s03] = [at(square, 0), at(square, 1), at(square, 2), at(square, 3)];
  let [s04, s05, s06, s07] = [at(square, 4), at(square, 5), at(square, 6), at(square, 7)];
  let [s11, s12, s13, s14] = [at(square, 9), at(square, 10), at(square, 11), at(square, 12)];
  let [s15, s16, s17] = [at(square, 13), at(square, 14), at(square, 15)];
  for (let row = from; row < to; row += WIDTH) {
    const v0 = at(rows, row);
    const v1 = at(rows, row + 1);
    const v2 = at(rows, row + 2);
    const v3 = at(rows, row + 3);
    const v4 = at(rows, row + 4);
    const v5 = at(rows, row + 5);
    const v6 = at(rows, row + 6);
    const v7 = at(rows, row + 7);
    s00 += v0 * v0;
    s01 += v0 * v1;
    s02 += v0 * v2;
    s03 += v0 * v3;
    s04 += v0 * v4;
    s05 += v0 * v5;
    s06 += v0 * v6;
    s07 += v0 * v7;
    s11 += v1 * v1;
    s12 += v1 * v2;
    s13 += v1 * v3;
    s14 += v1 * v4;
    s15 += v1 * v5;
    s16 += v1 * v6;
    s17 += v1 * v7;
  }
  square.set([s00, s01, s02, s03, s04, s05, s06, s07, 0, s11, s12, s13, s14, s15, s16, s17]);
}

/** Products of the third and the fourth number with all that follow. */
function addMiddle(square: Float64Array, { rows, from, to }: Rows): void {
  let [s22, s23, s24] = [at(square, 18), at(square, 19), at(square, 20)];
  let [s25, s26, s27] = [at(square, 21), at(square, 22), at(square, 23)];
  let [s33, s34, s35] = [at(square, 27), at(square, 28), at(square, 29)];
  let [s36, s37] = [at(square, 30), at(square, 31)];
  for (let row = from; row < to; row += WIDTH) {
    const v2 = at(rows, row + 2);
    const v3 = at(rows, row + 3);
    const v4 = at(rows, row + 4);
    const v5 = at(rows, row + 5);
    const v6 = at(rows, row + 6);
    const v7 = at(rows, row + 7);
    s22 += v2 * v2;
    s23 += v2 * v3;
    s24 += v2 * v4;
    s25 += v2 * v5;
    s26 += v2 * v6;
    s27 += v2 * v7;
    s33 += v3 * v3;
    s34 += v3 * v4;
    s35 += v3 * v5;
    s36 += v3 * v6;
    s37 += v3 * v7;
  }
  square.set([s22, s23, s24, s25, s26, s27], 18);
  square.set([s33, s34, s35, s36, s37], 27);
}

/** Products of the last four numbers. */
function addLast(square: Float64Array, { rows, from, to }: Rows): void {
  let [s44, s45, s46, s47] = [at(square, 36), at(square, 37), at(square, 38), at(square, 39)];
  let [s55, s56, s57] = [at(square, 45), at(square, 46), at(square, 47)];
  let [s66, s67, s77] = [at(square, 54), at(square, 55), at(square, 63)];
  for (let row = from; row < to; row += WIDTH) {
    const v4 = at(rows, row + 4);
    const v5 = at(rows, row + 5);
    const v6 = at(rows, row + 6);
    const v7 = at(rows, row + 7);
    s44 += v4 * v4;
    s45 += v4 * v5;
    s46 += v4 * v6;
    s47 += v4 * v7;
    s55 += v5 * v5;
    s56 += v5 * v6;
    s57 += v5 * v7;
    s66 += v6 * v6;
    s67 += v6 * v7;
    s77 += v7 * v7;
  }
  square.set([s44, s45, s46, s47], 36);
  square.set([s55, s56, s57], 45);
  square.set([s66, s67], 54);
  square[63] = s77;
}

function addProducts(square: Float64Array, rows: Rows): void {
  addFirst(square, rows);
  addMiddle(square, rows);
  addLast(square, rows);
}

/** Sums of products of every two of `WIDTH` numbers over rows of them, in the upper half of a square. */
export function productSums(rows: Float64Array): Float64Array {
  const square = new Float64Array(WIDTH * WIDTH);
  for (let from = 0; from < rows.length; from += BLOCK)
    addProducts(square, { rows, from, to: Math.min(from + BLOCK, rows.length) });
  return square;
}

/** What is taken off rows of `WIDTH` numbers: a row of `inner` for each, beginning anew when it ends, one of `outer` a round. */
export interface Offsets {
  readonly inner: Float64Array;
  readonly outer: Float64Array;
}

/** `productSums` of what is left of rows without their offsets. */
export function productSumsLess(rows: Float64Array, { inner, outer }: Offsets): Float64Array {
  const square = new Float64Array(WIDTH * WIDTH);
  const left = new Float64Array(BLOCK);
  let filled = 0;
  for (let row = 0, a = 0, b = 0; row < rows.length; row += WIDTH) {
    left[filled] = at(rows, row) - (at(inner, a) + at(outer, b));
    left[filled + 1] = at(rows, row + 1) - (at(inner, a + 1) + at(outer, b + 1));
    left[filled + 2] = at(rows, row + 2) - (at(inner, a + 2) + at(outer, b + 2));
    left[filled + 3] = at(rows, row + 3) - (at(inner, a + 3) + at(outer, b + 3));
    left[filled + 4] = at(rows, row + 4) - (at(inner, a + 4) + at(outer, b + 4));
    left[filled + 5] = at(rows, row + 5) - (at(inner, a + 5) + at(outer, b + 5));
    left[filled + 6] = at(rows, row + 6) - (at(inner, a + 6) + at(outer, b + 6));
    left[filled + 7] = at(rows, row + 7) - (at(inner, a + 7) + at(outer, b + 7));
    filled += WIDTH;
    if (filled === BLOCK) {
      addProducts(square, { rows: left, from: 0, to: filled });
      filled = 0;
    }
    a += WIDTH;
    if (a === inner.length) [a, b] = [0, b + WIDTH];
  }
  addProducts(square, { rows: left, from: 0, to: filled });
  return square;
}

const at = (values: Float64Array, i: number): number => values[i] ?? 0;

function addTo(to: Float64Array, i: number, value: number): void {
  to[i] = (to[i] ?? 0) + value;
}

/** Adds the `WIDTH` numbers from `row` on to those from `place` on. */
export function addRow(to: Float64Array, place: number, from: Float64Array, row: number): void {
  addTo(to, place, at(from, row));
  addTo(to, place + 1, at(from, row + 1));
  addTo(to, place + 2, at(from, row + 2));
  addTo(to, place + 3, at(from, row + 3));
  addTo(to, place + 4, at(from, row + 4));
  addTo(to, place + 5, at(from, row + 5));
  addTo(to, place + 6, at(from, row + 6));
  addTo(to, place + 7, at(from, row + 7));
}
