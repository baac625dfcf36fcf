import type { ModelShape } from '../catalogue/catalogue-schema.js';

/** Parameter counts that follow from a shape, text decoder only. */
export interface ParamCounts {
  /** Every stored weight once; tied tables once. */
  readonly total: number;
  /** `total` less the experts that a token doesn't select. */
  readonly active: number;
  /** Input table and, if untied, the head. */
  readonly embedding: number;
  /** Matrix weights of the layers that one token is multiplied with: no norms, biases or tables. */
  readonly layer_matmul_active: number;
  /** Weights of the head. */
  readonly head_matmul: number;
  /** Weights that one decode step must read: `active` less an untied input table, of which it reads one row. */
  readonly decode_read: number;
  /** Weights of all expert matrices without biases; 0 for a dense model. */
  readonly expert_matrices: number;
  /** Of these, the experts that one token selects. */
  readonly active_expert_matrices: number;
}

/** How many layers attend, and to how much. */
export interface LayerKinds {
  readonly full: number;
  readonly sliding: number;
  /** Tokens that a sliding layer attends to; null without such layers. */
  readonly window: number | null;
  /** Layers without attention. */
  readonly state: number;
}

/** Splits the layers of a shape by what they attend to. */
export function layerKinds({ layers, attention }: ModelShape): LayerKinds {
  switch (attention.kind) {
    case 'full':
      return { full: layers, sliding: 0, window: null, state: 0 };
    case 'sliding':
      return {
        full: attention.full_layers,
        sliding: layers - attention.full_layers,
        window: attention.window,
        state: 0,
      };
    case 'hybrid':
      return {
        full: attention.attention_layers,
        sliding: 0,
        window: null,
        state: layers - attention.attention_layers,
      };
  }
}

interface Part {
  readonly matrices: number;
  readonly others: number;
}

function attentionLayer(shape: ModelShape): Part {
  const { hidden_size: d, heads, kv_heads, head_dim: h } = shape;
  const [q, kv] = [heads * h, kv_heads * h];
  return {
    matrices: 2 * d * q + 2 * d * kv,
    others:
      (shape.qkv_bias ? q + 2 * kv : 0) +
      (shape.qk_norm ? 2 * h : 0) +
      (shape.output_bias ? d : 0) +
      (shape.attention_sinks ? heads : 0),
  };
}

function stateLayer({ attention, hidden_size: d }: ModelShape): Part {
  if (attention.kind !== 'hybrid') return { matrices: 0, others: 0 };
  const { inner, state, groups, heads, conv_kernel } = attention.ssm;
  const mixed = inner + 2 * groups * state;
  return {
    matrices: d * (mixed + inner + heads) + inner * d,
    others: mixed * (conv_kernel + 1) + 3 * heads + inner,
  };
}

/** The feed-forward parts of all layers with `experts` experts counted in each layer that has any. */
function feedForward(shape: ModelShape, experts: number): Part {
  const { hidden_size: d, ffn_size, layers, moe } = shape;
  const dense = 3 * d * (ffn_size ?? 0);
  if (moe === null) return { matrices: layers * dense, others: 0 };
  const sparse = layers - moe.dense_layers;
  const expert = experts * 3 * d * moe.moe_ffn;
  const router = d * moe.experts;
  const shared = 3 * d * (moe.shared_ffn ?? 0);
  const biases = moe.biases ? moe.experts + experts * (2 * moe.moe_ffn + d) : 0;
  return {
    matrices: moe.dense_layers * dense + sparse * (expert + router + shared),
    others: sparse * biases,
  };
}

/** Counts the parameters of a shape: gated feed-forward parts, grouped-query attention, Mamba-2 where hybrid. */
export function countParams(shape: ModelShape): ParamCounts {
  const { layers, hidden_size: d, moe } = shape;
  const { full, sliding, state } = layerKinds(shape);
  const [attention, states] = [attentionLayer(shape), stateLayer(shape)];
  const attending = full + sliding;
  const mixing = attending * attention.matrices + state * states.matrices;
  const small = attending * attention.others + state * states.others + layers * shape.norms_per_layer * d + d;
  const table = shape.vocab_size * d;
  const embedding = shape.tied_embeddings ? table : 2 * table;
  const all = feedForward(shape, moe?.experts ?? 0);
  const touched = feedForward(shape, moe?.experts_per_token ?? 0);
  const active = mixing + small + embedding + touched.matrices + touched.others;
  const perExpert = moe === null ? 0 : (layers - moe.dense_layers) * 3 * d * moe.moe_ffn;
  return {
    total: mixing + small + embedding + all.matrices + all.others,
    active,
    embedding,
    layer_matmul_active: mixing + touched.matrices,
    head_matmul: table,
    decode_read: shape.tied_embeddings ? active : active - table,
    expert_matrices: perExpert * (moe?.experts ?? 0),
    active_expert_matrices: perExpert * (moe?.experts_per_token ?? 0),
  };
}
