/** Rows of logits, one softmax policy a row. */
export interface SoftmaxTable {
  readonly rows: number;
  readonly actions: number;
  /** Row after row. */
  readonly logits: Float64Array;
}

/** A table of zeros: every action as likely. */
export const createTable = (rows: number, actions: number): SoftmaxTable => ({
  rows,
  actions,
  logits: new Float64Array(rows * actions),
});

/** Turns `out` from logits into probabilities, in place. */
export function normalise(out: Float64Array): void {
  let most = Number.NEGATIVE_INFINITY;
  for (let a = 0; a < out.length; a++) most = Math.max(most, out[a] ?? 0);
  let sum = 0;
  for (let a = 0; a < out.length; a++) {
    const e = Math.exp((out[a] ?? 0) - most);
    out[a] = e;
    sum += e;
  }
  for (let a = 0; a < out.length; a++) out[a] = (out[a] ?? 0) / sum;
}

/** Writes a row's probabilities into `out`, which has one place an action. */
export function probabilities({ logits, actions }: SoftmaxTable, row: number, out: Float64Array): void {
  const at = row * actions;
  for (let a = 0; a < actions; a++) out[a] = logits[at + a] ?? 0;
  normalise(out);
}

/** The action that a number in [0, 1) falls on; the last one for what rounding leaves over. */
export function actionAt(p: Float64Array, u: number): number {
  let sum = 0;
  for (let a = 0; a < p.length - 1; a++) {
    sum += p[a] ?? 0;
    if (u < sum) return a;
  }
  return p.length - 1;
}

/** `actionAt` of the row of `n` probabilities that begins at `from`. */
export function actionFrom(
  p: Float64Array,
  { from, n, u }: { readonly from: number; readonly n: number; readonly u: number },
): number {
  let sum = 0;
  for (let a = 0; a < n - 1; a++) {
    sum += p[from + a] ?? 0;
    if (u < sum) return a;
  }
  return n - 1;
}

/** One action of one row, with the probabilities it was drawn by. */
export interface Choice {
  readonly row: number;
  readonly action: number;
  readonly p: Float64Array;
}

/** Adds weight × (1[a = chosen] − p(a)) to a row: weight times the gradient of the choice's log-probability. */
export function ascend({ logits, actions }: SoftmaxTable, choice: Choice, weight: number): void {
  const at = choice.row * actions;
  for (let a = 0; a < actions; a++) {
    const own = a === choice.action ? 1 : 0;
    logits[at + a] = (logits[at + a] ?? 0) + weight * (own - (choice.p[a] ?? 0));
  }
}

/** Adds `scale` times another table, then keeps every logit within ±`limit`. */
export function addTable(
  { logits }: SoftmaxTable,
  gradient: SoftmaxTable,
  { scale, limit }: { readonly scale: number; readonly limit: number },
): void {
  for (let i = 0; i < logits.length; i++) {
    const next = (logits[i] ?? 0) + scale * (gradient.logits[i] ?? 0);
    logits[i] = Math.min(limit, Math.max(-limit, next));
  }
}

/** Keeps every logit of a row within ±`limit`. */
export function clampRow({ logits, actions }: SoftmaxTable, row: number, limit: number): void {
  for (let i = row * actions; i < (row + 1) * actions; i++)
    logits[i] = Math.min(limit, Math.max(-limit, logits[i] ?? 0));
}

/** Σ p ln(p / q), nats; terms with p = 0 add nothing. Infinite where q is 0 and p is not. */
export function klDivergence(p: Float64Array, q: Float64Array): number {
  let sum = 0;
  for (let a = 0; a < p.length; a++) {
    const own = p[a] ?? 0;
    if (own > 0) sum += own * Math.log(own / (q[a] ?? 0));
  }
  return sum;
}

/** −Σ p ln p, nats. */
export function entropy(p: Float64Array): number {
  let sum = 0;
  for (const own of p) if (own > 0) sum -= own * Math.log(own);
  return sum;
}
