import type { ModelShape } from '../catalogue/catalogue-schema.js';
import { countParams, layerKinds } from './count-params.js';

/** Positions that `tokens` tokens attend to in one layer, each to itself and at most `window − 1` before it. */
function attendedPositions(tokens: number, window: number | null): number {
  if (window === null || tokens <= window) return (tokens * (tokens + 1)) / 2;
  return (window * (window + 1)) / 2 + (tokens - window) * window;
}

/** Attention FLOP of all layers for the tokens after `before` and up to `after`. */
function attentionFlop(shape: ModelShape, before: number, after: number): number {
  const { full, sliding, window } = layerKinds(shape);
  const position = 4 * shape.heads * shape.head_dim;
  const span = (limit: number | null) => attendedPositions(after, limit) - attendedPositions(before, limit);
  return position * (full * span(null) + (sliding === 0 ? 0 : sliding * span(window)));
}

const isCount = (value: number): boolean => Number.isInteger(value) && value >= 0;

/**
 * FLOP of one decode step at a context of `context` tokens, the new one included: 2 for each matrix weight that the token
 * meets, the head, and attention by what each layer attends to. Norms, softmax, activations and sampling are left out
 * (about 1 % together). Null for an unknown shape or a context that is no count from 1.
 */
export function decodeFlop(shape: ModelShape | null, context: number): number | null {
  if (shape === null || !isCount(context) || context < 1) return null;
  const { layer_matmul_active, head_matmul } = countParams(shape);
  return 2 * layer_matmul_active + 2 * head_matmul + attentionFlop(shape, context - 1, context);
}

/** What one prefill works on. */
export interface Prefill {
  /** All prompt tokens. */
  readonly tokens: number;
  /** Of these, tokens whose cache was there already. Default 0. */
  readonly cached?: number;
  /** Positions whose logits are worked out: 1 to generate, all of them to score. Default 1. */
  readonly logits?: number;
}

/** FLOP of a prefill that skips what causal masks hide. Null for an unknown shape or figures that are no counts. */
export function prefillFlop(
  shape: ModelShape | null,
  { tokens, cached = 0, logits = 1 }: Prefill,
): number | null {
  if (shape === null || ![tokens, cached, logits].every(isCount) || cached > tokens) return null;
  const { layer_matmul_active, head_matmul } = countParams(shape);
  return (
    2 * layer_matmul_active * (tokens - cached) +
    2 * head_matmul * logits +
    attentionFlop(shape, cached, tokens)
  );
}

/** Tokens of one call. */
export interface CallTokens {
  readonly prompt_tokens: number | null;
  readonly completion_tokens: number | null;
  readonly cached_tokens?: number | null;
}

/**
 * FLOP of one call: a prefill that yields the first token, then one decode step for each further token. Null for an
 * unknown shape or unknown counts.
 */
export function callFlop(shape: ModelShape | null, call: CallTokens): number | null {
  const { prompt_tokens: prompt, completion_tokens: completion } = call;
  if (prompt === null || completion === null || !isCount(completion)) return null;
  const prefill = prefillFlop(shape, { tokens: prompt, cached: call.cached_tokens ?? 0 });
  if (shape === null || prefill === null) return null;
  const steps = Math.max(0, completion - 1);
  const { layer_matmul_active, head_matmul } = countParams(shape);
  return (
    prefill + 2 * steps * (layer_matmul_active + head_matmul) + attentionFlop(shape, prompt, prompt + steps)
  );
}
