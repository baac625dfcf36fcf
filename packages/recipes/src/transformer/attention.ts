import type { Reals } from './reals.js';

/** Rows of sequences that lie one after the other. */
export interface AttentionRows {
  /** Where each sequence starts; one more for the end of the last. */
  readonly starts: Int32Array;
  readonly width: number;
  readonly heads: number;
  /** The longest sequence that `shares` has places for. */
  readonly positions: number;
}

/** Turns the first `n` of `p` from `from` on into shares that sum to 1. */
export function softmaxSpan(p: Reals, from: number, n: number): void {
  let most = Number.NEGATIVE_INFINITY;
  for (let j = 0; j < n; j++) most = Math.max(most, p[from + j] as number);
  let sum = 0;
  for (let j = 0; j < n; j++) {
    const e = Math.exp((p[from + j] as number) - most);
    p[from + j] = e;
    sum += e;
  }
  for (let j = 0; j < n; j++) p[from + j] = (p[from + j] as number) / sum;
}

/** Product of two spans of `n`. */
export function dot(
  a: Reals,
  b: Reals,
  { i, j, n }: { readonly i: number; readonly j: number; readonly n: number },
): number {
  let sum = 0;
  for (let c = 0; c < n; c++) sum += (a[i + c] as number) * (b[j + c] as number);
  return sum;
}

/** Adds a span of `b` times `weight` to one of `a`. */
export function addSpan(
  a: Reals,
  b: Reals,
  {
    i,
    j,
    n,
    weight,
  }: { readonly i: number; readonly j: number; readonly n: number; readonly weight: number },
): void {
  for (let c = 0; c < n; c++) a[i + c] = (a[i + c] as number) + weight * (b[j + c] as number);
}

/** Calls `each` for every row and head, with the places of its queries and shares. */
function eachHead(
  { starts, width, heads, positions }: AttentionRows,
  each: (place: {
    readonly first: number;
    readonly row: number;
    /** Place of the head within a row. */
    readonly head: number;
    readonly share: number;
  }) => void,
): void {
  const span = width / heads;
  for (let s = 0; s + 1 < starts.length; s++) {
    const first = starts[s] as number;
    for (let row = first; row < (starts[s + 1] as number); row++)
      for (let h = 0; h < heads; h++)
        each({ first, row, head: h * span, share: (row * heads + h) * positions });
  }
}

/**
 * Causal attention: each row looks at the rows of its sequence up to itself. `qkv` holds a query, a key and a value a row;
 * what each head looked at is kept in `shares`.
 */
export function attentionForward(out: Reals, qkv: Reals, shares: Reals, rows: AttentionRows): void {
  const { width, heads } = rows;
  const n = width / heads;
  const scale = 1 / Math.sqrt(n);
  eachHead(rows, ({ first, row, head, share }) => {
    const query = row * 3 * width + head;
    const seen = row - first + 1;
    for (let j = 0; j < seen; j++)
      shares[share + j] = scale * dot(qkv, qkv, { i: query, j: (first + j) * 3 * width + width + head, n });
    softmaxSpan(shares, share, seen);
    const to = row * width + head;
    out.fill(0, to, to + n);
    for (let j = 0; j < seen; j++) {
      const value = (first + j) * 3 * width + 2 * width + head;
      addSpan(out, qkv, { i: to, j: value, n, weight: shares[share + j] as number });
    }
  });
}

/** Writes the gradient of queries, keys and values to `d_qkv`, given that of what attention gave. */
export function attentionBackward(
  d_qkv: Reals,
  { qkv, shares, d_out }: { readonly qkv: Reals; readonly shares: Reals; readonly d_out: Reals },
  rows: AttentionRows,
): void {
  const { starts, width, heads } = rows;
  const n = width / heads;
  const scale = 1 / Math.sqrt(n);
  d_qkv.fill(0, 0, (starts[starts.length - 1] as number) * 3 * width);
  eachHead(rows, ({ first, row, head, share }) => {
    const query = row * 3 * width + head;
    const from = row * width + head;
    const seen = row - first + 1;
    let mean = 0;
    for (let j = 0; j < seen; j++) {
      const value = (first + j) * 3 * width + 2 * width + head;
      mean += (shares[share + j] as number) * dot(d_out, qkv, { i: from, j: value, n });
    }
    for (let j = 0; j < seen; j++) {
      const key = (first + j) * 3 * width + width + head;
      const own = shares[share + j] as number;
      const d_share = dot(d_out, qkv, { i: from, j: key + width, n });
      const weight = scale * own * (d_share - mean);
      addSpan(d_qkv, d_out, { i: key + width, j: from, n, weight: own });
      addSpan(d_qkv, qkv, { i: query, j: key, n, weight });
      addSpan(d_qkv, qkv, { i: key, j: query, n, weight });
    }
  });
}
