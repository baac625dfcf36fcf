import { normal, type Random } from '../numeric/random.js';
import { createReals, type Precision, type Reals } from './reals.js';

/** Sizes of a model. All but `layers` and `heads` are multiples of 4. */
export interface ModelSize {
  readonly vocabulary: number;
  /** The longest sequence. */
  readonly positions: number;
  /** The position that is counted on from after what is given, wherever that ends. */
  readonly answer_at: number;
  readonly width: number;
  /** Divides the width. */
  readonly heads: number;
  /** Width between the two maps of a feed-forward layer. */
  readonly hidden: number;
  readonly layers: number;
}

/** Parameters of one layer. A matrix lies row after row, one row an output. */
export interface LayerWeights {
  /** Gains of a norm, less 1. */
  readonly norm1: Reals;
  /** Queries, keys and values below each other: 3 · width × width. */
  readonly qkv: Reals;
  readonly out: Reals;
  readonly norm2: Reals;
  readonly up: Reals;
  readonly bias: Reals;
  readonly down: Reals;
}

/** A decoder's parameters, or their gradients: views of one array. */
export interface Weights {
  readonly flat: Reals;
  readonly token: Reals;
  readonly position: Reals;
  readonly layers: readonly LayerWeights[];
  readonly norm: Reals;
  /** Vocabulary × width; not tied to `token`. */
  readonly head: Reals;
}

/** A decoder: norm before attention and before the feed-forward layer, each added to what passes by. */
export interface Model {
  readonly size: ModelSize;
  readonly precision: Precision;
  readonly weights: Weights;
}

/** Number of a model's parameters. */
export function parameterCount({ vocabulary, positions, width, hidden, layers }: ModelSize): number {
  const layer = 4 * width * width + 2 * width * hidden + hidden + 2 * width;
  return (2 * vocabulary + positions) * width + layers * layer + width;
}

/** Names the parts of an array of parameters or gradients. */
export function weightsOf(flat: Reals, { vocabulary, positions, width, hidden, layers }: ModelSize): Weights {
  let at = 0;
  const take = (length: number): Reals => {
    at += length;
    return flat.subarray(at - length, at);
  };
  const token = take(vocabulary * width);
  const position = take(positions * width);
  const own = Array.from({ length: layers }, () => ({
    norm1: take(width),
    qkv: take(3 * width * width),
    out: take(width * width),
    norm2: take(width),
    up: take(hidden * width),
    bias: take(hidden),
    down: take(width * hidden),
  }));
  return { flat, token, position, layers: own, norm: take(width), head: take(vocabulary * width) };
}

/** A model of zeros. */
export function createModel(size: ModelSize, precision: Precision = 'f32'): Model {
  return { size, precision, weights: weightsOf(createReals(parameterCount(size), precision), size) };
}

/**
 * Draws a model's weights: normal with a standard deviation of 1 over the root of the inputs, that of the maps back into
 * the stream divided by the root of twice the number of layers as well; gains 1, biases 0.
 */
export function drawWeights({ size, weights }: Model, random: Random): void {
  const fill = (part: Reals, sd: number) => {
    for (let i = 0; i < part.length; i++) part[i] = sd * normal(random);
  };
  const back = 1 / Math.sqrt(2 * size.layers);
  const [wide, deep] = [1 / Math.sqrt(size.width), 1 / Math.sqrt(size.hidden)];
  fill(weights.token, 0.5);
  fill(weights.position, 0.5);
  for (const layer of weights.layers) {
    fill(layer.qkv, wide);
    fill(layer.out, back * wide);
    fill(layer.up, wide);
    fill(layer.down, back * deep);
  }
  fill(weights.head, 0.2 * wide);
}
