import type { SimulatedAccelerator, SimulatedDataset, SimulatedModel } from '@perwatt/core';

/** What one model costs on one accelerator. Times in seconds at mean pace. */
export interface DeviceLaw {
  /** To read a prompt and give the first token. */
  prefillS(promptTokens: number): number;
  /** One token of each of `batch` sequences. */
  stepS(batch: number): number;
  readonly prefill_w: number;
  decodeW(batch: number): number;
}

/**
 * Prefill is bound by arithmetic, 2 FLOP for each active parameter and token; a decode step reads the weights once and
 * computes for every sequence.
 */
export function deviceLaw(model: SimulatedModel, accelerator: SimulatedAccelerator): DeviceLaw {
  const { tflops, gb_per_s, step_ms, prefill_w, decode_w, decode_w_per_sequence } = accelerator;
  const most_w = accelerator.most_w ?? Number.POSITIVE_INFINITY;
  const token_s = (2 * model.active_b) / (1000 * tflops);
  const read_s = step_ms / 1000 + model.weight_gb / gb_per_s;
  return {
    prefillS: (promptTokens) => promptTokens * token_s,
    stepS: (batch) => read_s + batch * token_s,
    prefill_w,
    decodeW: (batch) => Math.min(decode_w + (batch - 1) * decode_w_per_sequence, most_w),
  };
}

export const sigmoid = (logit: number): number => 1 / (1 + Math.exp(-logit));

/** Chance that a model answers an item right: guessing, else a logit of skill less difficulty. */
export const chanceOf = (skill: number, difficulty: number, guess_rate: number): number =>
  guess_rate + (1 - guess_rate) * sigmoid(skill - difficulty);

/** σ of a lognormal of mean 1 with this standard deviation. */
const sigmaOf = (cv: number): number => Math.sqrt(Math.log1p(cv ** 2));

/** A lognormal number of mean 1, from a standard normal one. */
export const lognormal = (cv: number, z: number): number => Math.exp(sigmaOf(cv) * z - sigmaOf(cv) ** 2 / 2);

type Lengths = Pick<SimulatedDataset, 'prompt_tokens' | 'output_tokens' | 'tokens_cv'>;

/** Prompt tokens of an item whose length is `z` standard deviations off; at least 1. */
export const promptTokens = ({ prompt_tokens, tokens_cv }: Lengths, z: number): number =>
  Math.max(Math.round(prompt_tokens * lognormal(tokens_cv, z)), 1);

/** Output tokens of an item for a model; at least 2, so that there is a decode phase. */
export const outputTokens = (
  { output_tokens, tokens_cv }: Lengths,
  { verbosity }: Pick<SimulatedModel, 'verbosity'>,
  z: number,
): number => Math.max(Math.round(output_tokens * verbosity * lognormal(tokens_cv, z)), 2);

/** A standard normal number from a generator (Box and Muller). */
export const normal = (random: () => number): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
