/**
 * Sizes of a text decoder that kernel shapes follow from: grouped-query attention, gated feed-forward parts, experts where it
 * has any. The catalogue's `shape` of a model is one.
 */
export interface ModelFacts {
  readonly layers: number;
  readonly hidden_size: number;
  /** Width of the dense gated part; null where every layer has experts. */
  readonly ffn_size: number | null;
  readonly heads: number;
  readonly kv_heads: number;
  readonly head_dim: number;
  readonly vocab_size: number;
  readonly qk_norm: boolean;
  readonly norms_per_layer: number;
  readonly attention:
    | { readonly kind: 'full' }
    | { readonly kind: 'sliding'; readonly window: number; readonly full_layers: number }
    | { readonly kind: 'hybrid' };
  readonly moe: {
    readonly experts: number;
    readonly experts_per_token: number;
    readonly moe_ffn: number;
    readonly shared_ffn: number | null;
    readonly dense_layers: number;
  } | null;
}
