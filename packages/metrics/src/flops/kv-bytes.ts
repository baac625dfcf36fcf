import type { ModelShape } from '../catalogue/catalogue-schema.js';
import { layerKinds } from './count-params.js';

/** Bytes of one cached element by cache type: two for 16 bits; block types carry their scale. */
export const kvElementBytes = {
  fp16: 2,
  bf16: 2,
  fp8: 1,
  q8_0: 34 / 32,
  q4_0: 18 / 32,
} as const;

export type KvType = keyof typeof kvElementBytes;

/** Elements that one more token adds to the cache, over all layers of a kind. */
export interface KvElements {
  readonly full: number;
  /** Up to `window` tokens. */
  readonly sliding: number;
  readonly window: number | null;
}

/** Cached elements for each token. Keys and values of the cache heads; layers without attention keep none. */
export function kvElements(shape: ModelShape): KvElements {
  const { full, sliding, window } = layerKinds(shape);
  const layer = 2 * shape.kv_heads * shape.head_dim;
  return { full: full * layer, sliding: sliding * layer, window };
}

/**
 * Bytes of one sequence's cache at a context of `tokens`. Null for an unknown shape. What an engine reserves is another
 * figure: it allocates by blocks, or takes every layer for a full one.
 */
export function kvBytes(shape: ModelShape | null, tokens: number, type: KvType = 'fp16'): number | null {
  if (shape === null || !(tokens >= 0)) return null;
  const { full, sliding, window } = kvElements(shape);
  return kvElementBytes[type] * (full * tokens + sliding * Math.min(tokens, window ?? 0));
}
