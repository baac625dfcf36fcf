/** Real numbers of a model: 32 bits in training, 64 where gradients are checked against finite differences. */
export type Reals = Float32Array | Float64Array;

/** How many bits a model's numbers have. */
export type Precision = 'f32' | 'f64';

/** Zeros. */
export const createReals = (length: number, precision: Precision): Reals =>
  precision === 'f32' ? new Float32Array(length) : new Float64Array(length);
