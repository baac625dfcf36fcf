import type { Reals } from './reals.js';

/** State of AdamW (Loshchilov and Hutter, 2019): first and second moments, and the number of steps taken. */
export interface AdamW {
  readonly first: Reals;
  readonly second: Reals;
  readonly steps: Float64Array;
}

/** One step: how long, how strongly weights decay, and the length above which a gradient is cut. */
export interface AdamWStep {
  readonly lr: number;
  readonly decay: number;
  readonly clip: number;
}

/** Euclidean length of a gradient. */
export function lengthOf(gradient: Reals): number {
  let squares = 0;
  for (let i = 0; i < gradient.length; i++) squares += (gradient[i] as number) ** 2;
  return Math.sqrt(squares);
}

/**
 * One descent step against a gradient that is cut to the length `clip`: β₁ 0.9, β₂ 0.98, ε 1e-8, decay apart from the
 * gradient. Returns the gradient's length before; nothing moves where that is no number.
 */
export function adamwStep(
  parameters: Reals,
  gradient: Reals,
  { adam, step }: { readonly adam: AdamW; readonly step: AdamWStep },
): number {
  const { first, second, steps } = adam;
  const length = lengthOf(gradient);
  if (!Number.isFinite(length)) return length;
  const cut = length > step.clip ? step.clip / length : 1;
  const t = (steps[0] ?? 0) + 1;
  steps[0] = t;
  const [bias1, bias2] = [1 - 0.9 ** t, 1 - 0.98 ** t];
  const keep = 1 - step.lr * step.decay;
  for (let i = 0; i < parameters.length; i++) {
    const g = cut * (gradient[i] as number);
    const m = 0.9 * (first[i] as number) + 0.1 * g;
    const v = 0.98 * (second[i] as number) + 0.02 * g * g;
    first[i] = m;
    second[i] = v;
    const move = (step.lr * (m / bias1)) / (Math.sqrt(v / bias2) + 1e-8);
    parameters[i] = keep * (parameters[i] as number) - move;
  }
  return length;
}

/** Share of the full step length: rises to 1 over `warmup` steps, then falls to 0.1 along half a cosine. `step` is from 0. */
export function warmCosine(
  step: number,
  { warmup, total }: { readonly warmup: number; readonly total: number },
): number {
  if (step < warmup) return (step + 1) / warmup;
  const share = Math.min(1, (step - warmup) / Math.max(1, total - warmup));
  return 0.1 + 0.45 * (1 + Math.cos(Math.PI * share));
}
