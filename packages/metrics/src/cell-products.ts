import { totalNames } from './energy-figures.js';

/** Totals of a query. */
export const WIDTH = totalNames.length;

/** What is taken off rows of `WIDTH` numbers before they are multiplied: a row of `inner` for each, one of `outer` a round. */
export interface Offsets {
  readonly inner: Float64Array;
  readonly outer: Float64Array;
}

const none: Offsets = { inner: new Float64Array(WIDTH), outer: new Float64Array(WIDTH) };

/**
 * Sums of products of every two of `WIDTH` numbers over rows of them, in the upper half of a square. `less` is taken off
 * first, `inner` beginning anew when it ends. Unrolled: it is hot.
 */
export function productSums(rows: Float64Array, { inner, outer }: Offsets = none): Float64Array {
  let [s00, s01, s02, s03, s04, s05, s06, s07] = [0, 0, 0, 0, 0, 0, 0, 0];
  let [s11, s12, s13, s14, s15, s16, s17] = [0, 0, 0, 0, 0, 0, 0];
  let [s22, s23, s24, s25, s26, s27] = [0, 0, 0, 0, 0, 0];
  let [s33, s34, s35, s36, s37] = [0, 0, 0, 0, 0];
  let [s44, s45, s46, s47] = [0, 0, 0, 0];
  let [s55, s56, s57] = [0, 0, 0];
  let [s66, s67] = [0, 0];
  let s77 = 0;
  for (let row = 0, a = 0, b = 0; row < rows.length; row += WIDTH, a += WIDTH) {
    if (a === inner.length) {
      a = 0;
      b = (b + WIDTH) % outer.length;
    }
    const v0 = at(rows, row) - (at(inner, a) + at(outer, b));
    const v1 = at(rows, row + 1) - (at(inner, a + 1) + at(outer, b + 1));
    const v2 = at(rows, row + 2) - (at(inner, a + 2) + at(outer, b + 2));
    const v3 = at(rows, row + 3) - (at(inner, a + 3) + at(outer, b + 3));
    const v4 = at(rows, row + 4) - (at(inner, a + 4) + at(outer, b + 4));
    const v5 = at(rows, row + 5) - (at(inner, a + 5) + at(outer, b + 5));
    const v6 = at(rows, row + 6) - (at(inner, a + 6) + at(outer, b + 6));
    const v7 = at(rows, row + 7) - (at(inner, a + 7) + at(outer, b + 7));
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
  // biome-ignore format: a square is read in columns
  return Float64Array.of(
    s00, s01, s02, s03, s04, s05, s06, s07,
      0, s11, s12, s13, s14, s15, s16, s17,
      0,   0, s22, s23, s24, s25, s26, s27,
      0,   0,   0, s33, s34, s35, s36, s37,
      0,   0,   0,   0, s44, s45, s46, s47,
      0,   0,   0,   0,   0, s55, s56, s57,
      0,   0,   0,   0,   0,   0, s66, s67,
      0,   0,   0,   0,   0,   0,   0, s77,
  );
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
