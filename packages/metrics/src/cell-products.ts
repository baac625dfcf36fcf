import { totalNames } from './energy-figures.js';

/** Totals of a query. */
export const WIDTH = totalNames.length;

/** Rows that are put together before their products are added up. */
export const BLOCK_ROWS = 256;

/** Room for `BLOCK_ROWS` rows. */
export const newBlock = (): Float64Array => new Float64Array(BLOCK_ROWS * WIDTH);

/** A square of sums of products, empty. */
export const newSquare = (): Float64Array => new Float64Array(WIDTH * WIDTH);

/**
 * Adds the products of every two numbers of the first `count` of `rows` to a square of sums, to its upper half. Unrolled: it
 * is hot.
 */
export function addProducts(square: Float64Array, rows: Float64Array, count: number): void {
  let [s00, s01, s02, s03, s04, s05, s06, s07] = [0, 0, 0, 0, 0, 0, 0, 0];
  let [s11, s12, s13, s14, s15, s16, s17] = [0, 0, 0, 0, 0, 0, 0];
  let [s22, s23, s24, s25, s26, s27] = [0, 0, 0, 0, 0, 0];
  let [s33, s34, s35, s36, s37] = [0, 0, 0, 0, 0];
  let [s44, s45, s46, s47] = [0, 0, 0, 0];
  let [s55, s56, s57] = [0, 0, 0];
  let [s66, s67] = [0, 0];
  let s77 = 0;
  for (let row = 0; row < count * WIDTH; row += WIDTH) {
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
  addTo(square, 0, s00);
  addTo(square, 1, s01);
  addTo(square, 2, s02);
  addTo(square, 3, s03);
  addTo(square, 4, s04);
  addTo(square, 5, s05);
  addTo(square, 6, s06);
  addTo(square, 7, s07);
  addTo(square, 9, s11);
  addTo(square, 10, s12);
  addTo(square, 11, s13);
  addTo(square, 12, s14);
  addTo(square, 13, s15);
  addTo(square, 14, s16);
  addTo(square, 15, s17);
  addTo(square, 18, s22);
  addTo(square, 19, s23);
  addTo(square, 20, s24);
  addTo(square, 21, s25);
  addTo(square, 22, s26);
  addTo(square, 23, s27);
  addTo(square, 27, s33);
  addTo(square, 28, s34);
  addTo(square, 29, s35);
  addTo(square, 30, s36);
  addTo(square, 31, s37);
  addTo(square, 36, s44);
  addTo(square, 37, s45);
  addTo(square, 38, s46);
  addTo(square, 39, s47);
  addTo(square, 45, s55);
  addTo(square, 46, s56);
  addTo(square, 47, s57);
  addTo(square, 54, s66);
  addTo(square, 55, s67);
  addTo(square, 63, s77);
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

/** Writes the `WIDTH` numbers from `row` on to the places from `place` on. */
export function copyRow(to: Float64Array, place: number, from: Float64Array, row: number): void {
  to[place] = at(from, row);
  to[place + 1] = at(from, row + 1);
  to[place + 2] = at(from, row + 2);
  to[place + 3] = at(from, row + 3);
  to[place + 4] = at(from, row + 4);
  to[place + 5] = at(from, row + 5);
  to[place + 6] = at(from, row + 6);
  to[place + 7] = at(from, row + 7);
}

/** Takes the `WIDTH` numbers from `row` on from those from `place` on. */
export function subtractRow(to: Float64Array, place: number, from: Float64Array, row: number): void {
  addTo(to, place, -at(from, row));
  addTo(to, place + 1, -at(from, row + 1));
  addTo(to, place + 2, -at(from, row + 2));
  addTo(to, place + 3, -at(from, row + 3));
  addTo(to, place + 4, -at(from, row + 4));
  addTo(to, place + 5, -at(from, row + 5));
  addTo(to, place + 6, -at(from, row + 6));
  addTo(to, place + 7, -at(from, row + 7));
}
