import { addSpan, attentionForward, softmaxSpan } from './attention.js';
import type { Batch } from './batch.js';
import type { Model } from './model.js';
import { multiply } from './multiply.js';
import { normForward } from './norm.js';
import type { Reals } from './reals.js';
import type { LayerSpace, Workspace } from './workspace.js';

/** Rows that pass through a model at once: one token each. */
export interface Rows {
  readonly rows: number;
  readonly tokens: Int32Array;
  readonly positions: Int32Array;
}

/** How the rows of a layer look at others: writes `attended` from `qkv`. */
export type Attend = (space: LayerSpace, layer: number) => void;

/** Writes x · wᵀ, or adds it: `w` has a row an output. */
export function mapRows(
  out: Reals,
  x: Reals,
  w: Reals,
  {
    rows,
    from,
    to,
    add = false,
  }: { readonly rows: number; readonly from: number; readonly to: number; readonly add?: boolean },
): void {
  multiply(out, x, w, { m: rows, k: from, n: to, a_m: from, a_k: 1, b_k: 1, b_n: from, add });
}

/** Runs rows through a model up to their logits. */
export function runRows({ size, weights }: Model, space: Workspace, input: Rows, attend: Attend): void {
  const { rows, tokens, positions } = input;
  const { width, hidden, vocabulary } = size;
  const first = space.layers[0]?.x ?? space.x;
  for (let i = 0; i < rows; i++) {
    const at = i * width;
    first.set(weights.token.subarray((tokens[i] ?? 0) * width, ((tokens[i] ?? 0) + 1) * width), at);
    addSpan(first, weights.position, { i: at, j: (positions[i] ?? 0) * width, n: width, weight: 1 });
  }
  for (const [l, own] of weights.layers.entries()) {
    const layer = space.layers[l] as LayerSpace;
    const next = space.layers[l + 1]?.x ?? space.x;
    normForward(layer.normed1, layer.x, own.norm1, { rows, width, scale: layer.scale1 });
    mapRows(layer.qkv, layer.normed1, own.qkv, { rows, from: width, to: 3 * width });
    attend(layer, l);
    layer.middle.set(layer.x.subarray(0, rows * width));
    mapRows(layer.middle, layer.attended, own.out, { rows, from: width, to: width, add: true });
    normForward(layer.normed2, layer.middle, own.norm2, { rows, width, scale: layer.scale2 });
    mapRows(layer.hidden, layer.normed2, own.up, { rows, from: width, to: hidden });
    rectify(layer.hidden, own.bias, { rows, hidden });
    next.set(layer.middle.subarray(0, rows * width));
    mapRows(next, layer.hidden, own.down, { rows, from: hidden, to: width, add: true });
  }
  normForward(space.normed, space.x, weights.norm, { rows, width, scale: space.scale });
  mapRows(space.logits, space.normed, weights.head, { rows, from: width, to: vocabulary });
}

function rectify(
  x: Reals,
  bias: Reals,
  { rows, hidden }: { readonly rows: number; readonly hidden: number },
): void {
  for (let i = 0; i < rows; i++)
    for (let c = 0; c < hidden; c++)
      x[i * hidden + c] = Math.max(0, (x[i * hidden + c] as number) + (bias[c] as number));
}

/** Runs whole sequences through a model; logits and all that the way back needs are in `space` then. */
export function forward(model: Model, space: Workspace, batch: Batch): void {
  const { width, heads, positions } = model.size;
  const rows = { starts: batch.starts, width, heads, positions };
  runRows(model, space, batch, ({ attended, qkv, shares }) => attentionForward(attended, qkv, shares, rows));
}

/**
 * Turns logits into probabilities, and writes the log-probability of each target; 0 where there is none. Returns how many
 * targets were the likeliest token of their row.
 */
export function toProbabilities(
  { size }: Model,
  space: Workspace,
  batch: Batch,
  logProbs: Float64Array,
): number {
  const { vocabulary } = size;
  const { logits } = space;
  let likeliest = 0;
  for (let i = 0; i < batch.rows; i++) {
    const at = i * vocabulary;
    const target = batch.targets[i] ?? -1;
    logProbs[i] = 0;
    if (target < 0) continue;
    softmaxSpan(logits, at, vocabulary);
    const own = logits[at + target] as number;
    logProbs[i] = Math.log(Math.max(own, Number.MIN_VALUE));
    let most = 0;
    for (let v = 0; v < vocabulary; v++) most = Math.max(most, logits[at + v] as number);
    if (own === most) likeliest += 1;
  }
  return likeliest;
}
