import { PerwattError, type Rng } from '@perwatt/core';

/**
 * How long a step of the mock takes, in ms: always the same; drawn from a gamma distribution; by how many answers are being
 * written at the moment, this one included; or by the tokens of the prompt.
 */
export type MockDelay =
  | { readonly kind: 'constant'; readonly ms: number }
  | { readonly kind: 'gamma'; readonly mean_ms: number; readonly shape: number }
  | { readonly kind: 'batch'; readonly base_ms: number; readonly each_ms: number }
  | { readonly kind: 'prompt'; readonly base_ms: number; readonly each_ms: number };

/** What a delay may depend on. */
export interface DelayContext {
  readonly rng: Rng;
  /** Answers being written, this one included. */
  readonly active: number;
  readonly prompt_tokens: number;
}

const FORMS =
  '20, gamma:20:2 (mean, shape), batch:8:0.5 (base, each answer) or prompt:5:0.1 (base, each token)';

/** Reads a delay as the command line has it, in ms. Throws `INPUT_INVALID` naming the text. */
export function parseMockDelay(text: string): MockDelay {
  const [, word = '', first = '', second] = /^(?:(\w+):)?([\d.]+)(?::([\d.]+))?$/.exec(text.trim()) ?? [];
  const numbers = [first, second ?? '1'].map((part) =>
    /^\d+(\.\d+)?$/.test(part) ? Number(part) : Number.NaN,
  );
  const [a = Number.NaN, b = Number.NaN] = numbers;
  if (numbers.every((number) => Number.isFinite(number)) && (second !== undefined) === (word !== '')) {
    if (word === '') return { kind: 'constant', ms: a };
    if (word === 'gamma' && b > 0) return { kind: 'gamma', mean_ms: a, shape: b };
    if (word === 'batch' || word === 'prompt') return { kind: word, base_ms: a, each_ms: b };
  }
  throw new PerwattError('INPUT_INVALID', `"${text}" is not a delay`, {
    hint: `Write ms in one of these forms: ${FORMS}.`,
  });
}

/** The delay of one step, ms. */
export function delayMs(delay: MockDelay, { rng, active, prompt_tokens }: DelayContext): number {
  switch (delay.kind) {
    case 'constant':
      return delay.ms;
    case 'gamma':
      return (gamma(delay.shape, rng) * delay.mean_ms) / delay.shape;
    case 'batch':
      return delay.base_ms + delay.each_ms * active;
    case 'prompt':
      return delay.base_ms + delay.each_ms * prompt_tokens;
  }
}

/** A gamma variate of scale 1 by Marsaglia and Tsang (2000); shapes below 1 by their boost. */
function gamma(shape: number, rng: Rng): number {
  if (shape < 1) return gamma(shape + 1, rng) * (1 - rng()) ** (1 / shape);
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = Math.sqrt(-2 * Math.log(1 - rng())) * Math.cos(2 * Math.PI * rng());
    const v = (1 + c * x) ** 3;
    if (v > 0 && Math.log(1 - rng()) < 0.5 * x * x + d - d * v + d * Math.log(v)) return d * v;
  }
}
