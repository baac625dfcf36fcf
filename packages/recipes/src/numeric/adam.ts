/** State of Adam (Kingma and Ba, 2014) for one array of parameters. */
export interface Adam {
  /** First and second moments, and the number of steps taken. */
  readonly m: Float64Array;
  readonly v: Float64Array;
  readonly steps: Float64Array;
}

export const createAdam = (size: number): Adam => ({
  m: new Float64Array(size),
  v: new Float64Array(size),
  steps: new Float64Array(1),
});

/** One ascent step along `gradient`: β₁ 0.9, β₂ 0.999, ε 1e-8, both moments corrected for their start at 0. */
export function adamStep(
  parameters: Float64Array,
  gradient: Float64Array,
  { adam, lr }: { readonly adam: Adam; readonly lr: number },
): void {
  const { m, v, steps } = adam;
  const t = (steps[0] ?? 0) + 1;
  steps[0] = t;
  const [first, second] = [1 - 0.9 ** t, 1 - 0.999 ** t];
  for (let i = 0; i < parameters.length; i++) {
    const g = gradient[i] ?? 0;
    const m1 = 0.9 * (m[i] ?? 0) + 0.1 * g;
    const v1 = 0.999 * (v[i] ?? 0) + 0.001 * g * g;
    m[i] = m1;
    v[i] = v1;
    parameters[i] = (parameters[i] ?? 0) + (lr * (m1 / first)) / (Math.sqrt(v1 / second) + 1e-8);
  }
}
