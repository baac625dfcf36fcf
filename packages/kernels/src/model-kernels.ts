import { type ActivationType, activationTypes, PerwattError, type WeightType } from '@perwatt/core';
import { type KernelSpec, specText } from './kernel-spec.js';
import type { ModelFacts } from './model-facts.js';

/** A step of inference whose kernels are wanted. */
export interface ModelStep {
  /** Name for messages. */
  readonly model: string;
  readonly facts: ModelFacts;
  /** `decode` is one new token for every sequence, `prefill` the whole prompt. */
  readonly phase: 'decode' | 'prefill';
  /** Sequences. */
  readonly batch: number;
  /** Tokens of context: those attended to by a decode step, its own included, or those of the prompt. */
  readonly context: number;
  readonly weights: WeightType;
  /** Type of the head's weights. Default: that of the others. */
  readonly head_weights?: WeightType;
  /** Type of activations and cache. Default: that of the weights where it is a floating one of 16 or 32 bits, else `f16`. */
  readonly activations?: ActivationType;
}

/** One kernel of a step, and how often the step launches it. */
export interface ModelKernel {
  readonly spec: KernelSpec;
  /** Launches in one step of all sequences. */
  readonly launches: number;
  /** What of the model it stands for: `q`, `k`, `gate`, `attention` … */
  readonly parts: readonly string[];
}

/** Vectors up to which a product of weights and activations is a GEMV; above, it is a GEMM. */
export const GEMV_MOST_BATCH = 32;
/** Weights that share a scale in int4 kernels, as in common 4-bit files. */
const INT4_GROUP = 32;

interface Types {
  readonly weights: WeightType;
  readonly head: WeightType;
  readonly activations: ActivationType;
}

/** One entry before equal shapes are joined. */
interface Piece {
  readonly part: string;
  readonly spec: KernelSpec;
  readonly launches: number;
}

/**
 * The kernels of one step of a model, equal shapes joined, in the order that the step meets them. Rotary embedding, residual
 * sums, the gate's activation and sampling are no kernels here; their time is part of what kernels don't explain. Experts are
 * those that even routing would touch: E·(1 − (1 − k/E)^tokens), each with its share of the tokens. Throws `INPUT_INVALID` for
 * layers that no kernel stands for, and for a prefill with int4 weights.
 */
export function modelKernels(step: ModelStep): ModelKernel[] {
  const { facts, model, phase, weights } = step;
  if (facts.attention.kind === 'hybrid')
    throw new PerwattError(
      'INPUT_INVALID',
      `model ${model} has state-space layers, which no kernel stands for`,
    );
  const int4 = [weights, step.head_weights].find(isInt4);
  if (phase === 'prefill' && int4 !== undefined)
    throw new PerwattError('INPUT_INVALID', `prefill of ${model} with ${int4} weights has no kernel`, {
      hint: 'Give another type with `--weights`, or leave prefill out.',
    });
  return joined([...normPieces(step), ...attentionPieces(step), ...feedForwardPieces(step), headPiece(step)]);
}

function joined(pieces: readonly Piece[]): ModelKernel[] {
  const known = new Map<string, ModelKernel>();
  for (const { part, spec, launches } of pieces) {
    if (launches === 0) continue;
    const key = specText(spec);
    const before = known.get(key) ?? { spec, launches: 0, parts: [] };
    const parts = before.parts.includes(part) ? before.parts : [...before.parts, part];
    known.set(key, { spec, launches: before.launches + launches, parts });
  }
  return [...known.values()];
}

function typesOf({ weights, head_weights, activations }: ModelStep): Types {
  const own = activationTypes.find((type) => type === weights);
  return { weights, head: head_weights ?? weights, activations: activations ?? own ?? 'f16' };
}

const isInt4 = (weights: WeightType | undefined): boolean => weights === 'int4' || weights === 'int4_zeros';

/** Vectors that each matrix of weights is multiplied with. */
const vectorsOf = ({ phase, batch, context }: ModelStep): number =>
  phase === 'decode' ? batch : batch * context;

interface Product {
  readonly weights: WeightType;
  readonly activations: ActivationType;
  readonly m: number;
  readonly k: number;
  readonly vectors: number;
}

function product({ weights, activations, m, k, vectors }: Product): KernelSpec {
  if (weights === 'int4' || weights === 'int4_zeros') {
    const group = { group: INT4_GROUP, scales: 'f16', zero_points: weights === 'int4_zeros' } as const;
    return { kind: 'int4_gemv', dtype: activations, m, k, batch: vectors, ...group };
  }
  return vectors <= GEMV_MOST_BATCH
    ? { kind: 'gemv', dtype: weights, m, k, batch: vectors }
    : { kind: 'gemm', dtype: weights, m, n: vectors, k };
}

function normPieces(step: ModelStep): Piece[] {
  const { facts } = step;
  const { layers, norms_per_layer, hidden_size, qk_norm, heads, kv_heads, head_dim } = facts;
  const dtype = typesOf(step).activations;
  const vectors = vectorsOf(step);
  const norm = (rows: number, width: number): KernelSpec => ({ kind: 'rms_norm', dtype, rows, width });
  const inner = qk_norm ? layers : 0;
  return [
    { part: 'norm', spec: norm(vectors, hidden_size), launches: layers * norms_per_layer + 1 },
    { part: 'q_norm', spec: norm(vectors * heads, head_dim), launches: inner },
    { part: 'k_norm', spec: norm(vectors * kv_heads, head_dim), launches: inner },
  ];
}

function attentionPieces(step: ModelStep): Piece[] {
  const { layers, hidden_size, heads, kv_heads, head_dim } = step.facts;
  const { weights, activations } = typesOf(step);
  const vectors = vectorsOf(step);
  const [q, kv] = [heads * head_dim, kv_heads * head_dim];
  const projection = (part: string, m: number, k: number): Piece => ({
    part,
    spec: product({ weights, activations, m, k, vectors }),
    launches: layers,
  });
  return [
    projection('q', q, hidden_size),
    projection('k', kv, hidden_size),
    projection('v', kv, hidden_size),
    ...lengthsOf(step).map(({ length, launches }) => ({
      part: 'attention',
      spec: attention(step, length),
      launches,
    })),
    projection('o', hidden_size, q),
  ];
}

function attention(step: ModelStep, length: number): KernelSpec {
  const { heads, kv_heads, head_dim } = step.facts;
  const dtype = typesOf(step).activations;
  const sizes = { batch: step.batch, heads, kv_heads, head_dim, length };
  return step.phase === 'decode'
    ? { kind: 'decode', dtype, ...sizes }
    : { kind: 'prefill', dtype, ...sizes, causal: true };
}

/** How many layers attend to how many positions. In a prefill, a window as long as the prompt hides nothing. */
function lengthsOf({ facts, context, phase }: ModelStep): { length: number; launches: number }[] {
  const { layers, attention: kind } = facts;
  if (kind.kind !== 'sliding') return [{ length: context, launches: layers }];
  const sliding = layers - kind.full_layers;
  const length = phase === 'decode' ? Math.min(context, kind.window) : context;
  return [
    { length: context, launches: kind.full_layers },
    { length, launches: sliding },
  ];
}

function feedForwardPieces(step: ModelStep): Piece[] {
  const { layers, ffn_size, moe } = step.facts;
  const vectors = vectorsOf(step);
  const dense =
    ffn_size === null ? [] : gated(step, { width: ffn_size, vectors, launches: moe?.dense_layers ?? layers });
  if (moe === null) return dense;
  const sparse = layers - moe.dense_layers;
  const { experts, experts_per_token, moe_ffn, shared_ffn } = moe;
  const touched = Math.max(1, Math.round(experts * (1 - (1 - experts_per_token / experts) ** vectors)));
  const each = Math.max(1, Math.round((vectors * experts_per_token) / touched));
  const shared = shared_ffn === null ? [] : gated(step, { width: shared_ffn, vectors, launches: sparse });
  const { activations } = typesOf(step);
  const router = { weights: activations, activations, m: experts, k: step.facts.hidden_size, vectors };
  return [
    ...dense,
    { part: 'router', spec: product(router), launches: sparse },
    ...gated(step, { width: moe_ffn, vectors: each, launches: sparse * touched }),
    ...shared,
  ];
}

interface Gated {
  readonly width: number;
  readonly vectors: number;
  readonly launches: number;
}

function gated(step: ModelStep, { width, vectors, launches }: Gated): Piece[] {
  const { hidden_size } = step.facts;
  const { weights, activations } = typesOf(step);
  const wide = product({ weights, activations, m: width, k: hidden_size, vectors });
  const narrow = product({ weights, activations, m: hidden_size, k: width, vectors });
  return [
    { part: 'gate', spec: wide, launches },
    { part: 'up', spec: wide, launches },
    { part: 'down', spec: narrow, launches },
  ];
}

/** A prefill works out the logits of each sequence's last position alone. */
function headPiece(step: ModelStep): Piece {
  const { vocab_size, hidden_size } = step.facts;
  const { head: weights, activations } = typesOf(step);
  const spec = product({ weights, activations, m: vocab_size, k: hidden_size, vectors: step.batch });
  return { part: 'head', spec, launches: 1 };
}
