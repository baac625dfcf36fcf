import { addSpan, attentionBackward } from './attention.js';
import type { Batch } from './batch.js';
import type { LayerWeights, Model, Weights } from './model.js';
import { multiply } from './multiply.js';
import { normBackward } from './norm.js';
import type { Reals } from './reals.js';
import type { LayerSpace, Workspace } from './workspace.js';

/** A map's shape. */
interface MapShape {
  readonly rows: number;
  readonly from: number;
  readonly to: number;
}

/** Gradient of a map's input, d_y · w. */
function mapInput(d_x: Reals, d_y: Reals, w: Reals, { rows, from, to }: MapShape): void {
  multiply(d_x, d_y, w, { m: rows, k: to, n: from, a_m: to, a_k: 1, b_k: from, b_n: 1, add: false });
}

/** Adds the gradient of a map's matrix, d_yᵀ · x. */
function mapWeights(d_w: Reals, d_y: Reals, x: Reals, { rows, from, to }: MapShape): void {
  multiply(d_w, d_y, x, { m: to, k: rows, n: from, a_m: 1, a_k: to, b_k: from, b_n: 1, add: true });
}

/**
 * Writes the gradient of −Σ weight · log-probability of each target to `space.d_logits`, from the probabilities that are in
 * `space.logits`. A row without target has none.
 */
export function targetGradient({ size }: Model, space: Workspace, batch: Batch, weights: Float64Array): void {
  const { vocabulary } = size;
  for (let i = 0; i < batch.rows; i++) {
    const at = i * vocabulary;
    const target = batch.targets[i] ?? -1;
    const weight = target < 0 ? 0 : (weights[i] ?? 0);
    for (let v = 0; v < vocabulary; v++)
      space.d_logits[at + v] = weight === 0 ? 0 : weight * (space.logits[at + v] as number);
    if (weight !== 0) space.d_logits[at + target] = (space.d_logits[at + target] as number) - weight;
  }
}

/** Goes back through a model from `space.d_logits`, and adds the gradient of every parameter to `gradient`. */
export function backward(model: Model, space: Workspace, batch: Batch, gradient: Weights): void {
  const { size, weights } = model;
  const { rows, tokens, positions } = batch;
  const { width, vocabulary } = size;
  const { d_x, d_wide, d_logits } = space;
  const head = { rows, from: width, to: vocabulary };
  mapWeights(gradient.head, d_logits, space.normed, head);
  mapInput(d_wide, d_logits, weights.head, head);
  d_x.fill(0, 0, rows * width);
  normBackward(d_x, {
    rows,
    width,
    scale: space.scale,
    x: space.x,
    gain: weights.norm,
    d_out: d_wide,
    d_gain: gradient.norm,
  });
  for (let l = size.layers - 1; l >= 0; l--)
    layerBackward(model, space, batch, {
      layer: space.layers[l] as LayerSpace,
      own: weights.layers[l] as LayerWeights,
      theirs: gradient.layers[l] as LayerWeights,
    });
  for (let i = 0; i < rows; i++) {
    const from = { j: i * width, n: width, weight: 1 };
    addSpan(gradient.token, d_x, { i: (tokens[i] ?? 0) * width, ...from });
    addSpan(gradient.position, d_x, { i: (positions[i] ?? 0) * width, ...from });
  }
}

interface LayerParts {
  readonly layer: LayerSpace;
  readonly own: LayerWeights;
  /** Gradients of `own`. */
  readonly theirs: LayerWeights;
}

/** Takes `space.d_x` from after a layer to before it. */
function layerBackward(
  { size }: Model,
  space: Workspace,
  { rows, starts }: Batch,
  { layer, own, theirs }: LayerParts,
): void {
  const { width, hidden, heads, positions } = size;
  const { d_x, d_wide, d_qkv, d_hidden } = space;
  const down = { rows, from: hidden, to: width };
  mapWeights(theirs.down, d_x, layer.hidden, down);
  mapInput(d_hidden, d_x, own.down, down);
  rectifyBackward(d_hidden, layer.hidden, theirs.bias, rows);
  const up = { rows, from: width, to: hidden };
  mapWeights(theirs.up, d_hidden, layer.normed2, up);
  mapInput(d_wide, d_hidden, own.up, up);
  const norm = { rows, width, d_out: d_wide };
  normBackward(d_x, {
    ...norm,
    scale: layer.scale2,
    x: layer.middle,
    gain: own.norm2,
    d_gain: theirs.norm2,
  });
  const out = { rows, from: width, to: width };
  mapWeights(theirs.out, d_x, layer.attended, out);
  mapInput(d_wide, d_x, own.out, out);
  attentionBackward(
    d_qkv,
    { qkv: layer.qkv, shares: layer.shares, d_out: d_wide },
    { starts, width, heads, positions },
  );
  const qkv = { rows, from: width, to: 3 * width };
  mapWeights(theirs.qkv, d_qkv, layer.normed1, qkv);
  mapInput(d_wide, d_qkv, own.qkv, qkv);
  normBackward(d_x, { ...norm, scale: layer.scale1, x: layer.x, gain: own.norm1, d_gain: theirs.norm1 });
}

/** Lets no gradient through where nothing came through, and adds the rest to the bias's. */
function rectifyBackward(d_x: Reals, out: Reals, d_bias: Reals, rows: number): void {
  const hidden = d_bias.length;
  for (let i = 0; i < rows; i++)
    for (let c = 0; c < hidden; c++) {
      const at = i * hidden + c;
      if ((out[at] as number) > 0) d_bias[c] = (d_bias[c] as number) + (d_x[at] as number);
      else d_x[at] = 0;
    }
}
