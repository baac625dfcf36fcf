import type { Reals } from './reals.js';

const EPSILON = 1e-6;

/** Rows of a norm, each with what it was divided by. */
export interface NormRows {
  readonly rows: number;
  readonly width: number;
  /** One over the root mean square of each row; written forward, read backward. */
  readonly scale: Reals;
}

/** Divides each row by its root mean square, times 1 + `gain` (Zhang and Sennrich, 2019). */
export function normForward(out: Reals, x: Reals, gain: Reals, { rows, width, scale }: NormRows): void {
  for (let i = 0; i < rows; i++) {
    const at = i * width;
    let squares = 0;
    for (let c = 0; c < width; c++) squares += (x[at + c] as number) ** 2;
    const own = 1 / Math.sqrt(squares / width + EPSILON);
    scale[i] = own;
    for (let c = 0; c < width; c++) out[at + c] = (1 + (gain[c] as number)) * (x[at + c] as number) * own;
  }
}

/** What a norm's gradient is computed from, and where it goes. */
export interface NormGradient extends NormRows {
  readonly x: Reals;
  readonly gain: Reals;
  /** Gradient of what the norm gave. */
  readonly d_out: Reals;
  /** Added to. */
  readonly d_gain: Reals;
}

/** Adds the gradient of a norm's input to `d_x`. */
export function normBackward(d_x: Reals, gradient: NormGradient): void {
  const { rows, width, scale, x, gain, d_out, d_gain } = gradient;
  for (let i = 0; i < rows; i++) {
    const at = i * width;
    const own = scale[i] as number;
    let along = 0;
    for (let c = 0; c < width; c++) {
      const product = (d_out[at + c] as number) * (x[at + c] as number);
      d_gain[c] = (d_gain[c] as number) + product * own;
      along += product * (1 + (gain[c] as number));
    }
    const pull = (along * own ** 3) / width;
    for (let c = 0; c < width; c++) {
      const direct = (d_out[at + c] as number) * (1 + (gain[c] as number)) * own;
      d_x[at + c] = (d_x[at + c] as number) + direct - (x[at + c] as number) * pull;
    }
  }
}
