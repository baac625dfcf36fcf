import type { ModelShape } from '../catalogue/catalogue-schema.js';
import { countParams } from './count-params.js';

/** Bits of one weight in types whose blocks have a fixed size. Block sizes of GGUF types after llama.cpp's structs. */
export const weightBits = {
  f32: 32,
  f16: 16,
  bf16: 16,
  fp8: 8,
  q8_0: 8.5,
  q6_k: 6.5625,
  q5_k: 5.5,
  q4_1: 5,
  q4_0: 4.5,
  q4_k: 4.5,
  nvfp4: 4.5,
  mxfp4: 4.25,
  iq4_xs: 4.25,
} as const;

export type WeightType = keyof typeof weightBits;

/**
 * Bits of one weight in file types that mix block types, as measured for Llama 3.1 8B with metadata. Another model's
 * mixture differs, so these serve estimates only.
 */
export const mixedWeightBits = {
  q4_k_s: 4.6672,
  q4_k_m: 4.8944,
  q5_k_s: 5.5704,
  q5_k_m: 5.7036,
} as const;

/** How the weights of a model are stored. */
export interface WeightFormat {
  /** Bits of one weight; expert matrices aside where `expert_bits` is given. */
  readonly bits: number;
  /** Bits of one weight of the expert matrices. Default: `bits`. */
  readonly expert_bits?: number;
}

/** Bytes of all weights of the text decoder. Null for an unknown shape. */
export function weightBytes(shape: ModelShape | null, format: WeightFormat): number | null {
  if (shape === null) return null;
  const { total, expert_matrices } = countParams(shape);
  return bytesOf(total, expert_matrices, format);
}

/** Bytes of the weights that one decode step of one sequence reads at the least. Null for an unknown shape. */
export function decodeReadBytes(shape: ModelShape | null, format: WeightFormat): number | null {
  if (shape === null) return null;
  const { decode_read, active_expert_matrices } = countParams(shape);
  return bytesOf(decode_read, active_expert_matrices, format);
}

const bytesOf = (weights: number, experts: number, { bits, expert_bits }: WeightFormat): number =>
  ((weights - experts) * bits + experts * (expert_bits ?? bits)) / 8;

/**
 * Distinct experts that a batch of `sequences` touches in one layer, if routing is even: E·(1 − (1 − k/E)^B). An
 * expectation for estimates; routing that repeats itself reads fewer. Null for a dense model.
 */
export function expectedExperts({ moe }: ModelShape, sequences: number): number | null {
  if (moe === null) return null;
  return moe.experts * (1 - (1 - moe.experts_per_token / moe.experts) ** sequences);
}
