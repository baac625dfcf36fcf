import type { Reals } from './reals.js';

/** Shape of a product of an m × k and a k × n matrix, and how far apart neighbours of each lie. */
export interface ProductShape {
  readonly m: number;
  readonly k: number;
  /** A multiple of 4. */
  readonly n: number;
  /** From one row of the left matrix to the next, and from one column of it to the next. */
  readonly a_m: number;
  readonly a_k: number;
  /** From one row of the right matrix to the next, and from one column of it to the next. */
  readonly b_k: number;
  readonly b_n: number;
  /** Whether the product is added to what `out` holds. */
  readonly add: boolean;
}

/**
 * Writes or adds a product to `out`, which lies row after row. Works on blocks of four by four: sixteen sums stay in
 * registers while two strips pass by. Every sum runs over k in order, whatever block it is in, so that a row's product
 * doesn't depend on the rows beside it.
 */
export function multiply(out: Reals, a: Reals, b: Reals, shape: ProductShape): void {
  const { m, n, add } = shape;
  if (!add) out.fill(0, 0, m * n);
  const whole = m - (m % 4);
  for (let i = 0; i < whole; i += 4) fourRows(out, a, b, { ...shape, m: i });
  for (let i = whole; i < m; i++) oneRow(out, a, b, { ...shape, m: i });
}

/** Four rows of a product, from row `m` on. */
function fourRows(out: Reals, a: Reals, b: Reals, { m, k, n, a_m, a_k, b_k, b_n }: ProductShape): void {
  const [b2, b3] = [2 * b_n, 3 * b_n];
  const [a2, a3] = [2 * a_m, 3 * a_m];
  for (let j = 0; j < n; j += 4) {
    let ia = m * a_m;
    let ib = j * b_n;
    let s00 = 0,
      s01 = 0,
      s02 = 0,
      s03 = 0;
    let s10 = 0,
      s11 = 0,
      s12 = 0,
      s13 = 0;
    let s20 = 0,
      s21 = 0,
      s22 = 0,
      s23 = 0;
    let s30 = 0,
      s31 = 0,
      s32 = 0,
      s33 = 0;
    for (let p = 0; p < k; p++) {
      const v0 = b[ib] as number;
      const v1 = b[ib + b_n] as number;
      const v2 = b[ib + b2] as number;
      const v3 = b[ib + b3] as number;
      const u0 = a[ia] as number;
      s00 += u0 * v0;
      s01 += u0 * v1;
      s02 += u0 * v2;
      s03 += u0 * v3;
      const u1 = a[ia + a_m] as number;
      s10 += u1 * v0;
      s11 += u1 * v1;
      s12 += u1 * v2;
      s13 += u1 * v3;
      const u2 = a[ia + a2] as number;
      s20 += u2 * v0;
      s21 += u2 * v1;
      s22 += u2 * v2;
      s23 += u2 * v3;
      const u3 = a[ia + a3] as number;
      s30 += u3 * v0;
      s31 += u3 * v1;
      s32 += u3 * v2;
      s33 += u3 * v3;
      ia += a_k;
      ib += b_k;
    }
    let at = m * n + j;
    out[at] = (out[at] as number) + s00;
    out[at + 1] = (out[at + 1] as number) + s01;
    out[at + 2] = (out[at + 2] as number) + s02;
    out[at + 3] = (out[at + 3] as number) + s03;
    at += n;
    out[at] = (out[at] as number) + s10;
    out[at + 1] = (out[at + 1] as number) + s11;
    out[at + 2] = (out[at + 2] as number) + s12;
    out[at + 3] = (out[at + 3] as number) + s13;
    at += n;
    out[at] = (out[at] as number) + s20;
    out[at + 1] = (out[at + 1] as number) + s21;
    out[at + 2] = (out[at + 2] as number) + s22;
    out[at + 3] = (out[at + 3] as number) + s23;
    at += n;
    out[at] = (out[at] as number) + s30;
    out[at + 1] = (out[at + 1] as number) + s31;
    out[at + 2] = (out[at + 2] as number) + s32;
    out[at + 3] = (out[at + 3] as number) + s33;
  }
}

/** One row of a product, from row `m` on. */
function oneRow(out: Reals, a: Reals, b: Reals, { m, k, n, a_m, a_k, b_k, b_n }: ProductShape): void {
  const [b2, b3] = [2 * b_n, 3 * b_n];
  for (let j = 0; j < n; j += 4) {
    let ia = m * a_m;
    let ib = j * b_n;
    let s00 = 0,
      s01 = 0,
      s02 = 0,
      s03 = 0;
    for (let p = 0; p < k; p++) {
      const v0 = b[ib] as number;
      const v1 = b[ib + b_n] as number;
      const v2 = b[ib + b2] as number;
      const v3 = b[ib + b3] as number;
      const u0 = a[ia] as number;
      s00 += u0 * v0;
      s01 += u0 * v1;
      s02 += u0 * v2;
      s03 += u0 * v3;
      ia += a_k;
      ib += b_k;
    }
    const at = m * n + j;
    out[at] = (out[at] as number) + s00;
    out[at + 1] = (out[at + 1] as number) + s01;
    out[at + 2] = (out[at + 2] as number) + s02;
    out[at + 3] = (out[at + 3] as number) + s03;
  }
}
