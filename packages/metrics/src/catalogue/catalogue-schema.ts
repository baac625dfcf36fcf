import * as z from 'zod';

const id = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]*$/, 'use lower-case letters, digits and . _ - only')
  .describe('Stable name, one for each checkpoint or device');
const count = z.int().positive().max(1e15);
const amount = z.number().positive().max(1e20);
const date = z
  .string()
  .regex(/^\d{4}-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?$/, 'use YYYY-MM-DD or YYYY-MM');
const orNull = <T extends z.ZodType>(type: T) => type.nullable().default(null);
const sources = z
  .record(z.string(), z.array(z.string()).min(1))
  .default({})
  .describe('Keys of the source list, by field or group of fields');
const fromMemory = z
  .array(z.string())
  .default([])
  .describe('Fields whose value rests on general knowledge alone');

const Ssm = z.strictObject({
  inner: count,
  state: count,
  groups: count,
  heads: count,
  conv_kernel: count,
});

const Attention = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('full') }),
  z.strictObject({
    kind: z.literal('sliding'),
    window: count.describe('Tokens that a sliding layer attends to'),
    full_layers: z.int().min(0).describe('Layers that attend to all tokens'),
  }),
  z.strictObject({
    kind: z.literal('hybrid'),
    attention_layers: count,
    ssm: Ssm.describe('Mamba-2 sizes of the other layers'),
  }),
]);

const Moe = z.strictObject({
  experts: count,
  experts_per_token: count,
  moe_ffn: count.describe('Width of one expert'),
  shared_ffn: orNull(count).describe('Width of an expert that is always on'),
  dense_layers: z.int().min(0).default(0).describe('Layers with a dense feed-forward part instead'),
  biases: z.boolean().default(false).describe('Router and experts have biases'),
});

/** Sizes that parameter counts, FLOP and cache bytes follow from. */
export const ModelShape = z
  .strictObject({
    layers: count,
    hidden_size: count,
    ffn_size: orNull(count).describe('Width of the dense gated part; null where every layer has experts'),
    heads: count,
    kv_heads: count,
    head_dim: count,
    vocab_size: count.describe('Rows of the matrix, padding included'),
    tied_embeddings: z.boolean(),
    qkv_bias: z.boolean().default(false),
    output_bias: z.boolean().default(false),
    attention_sinks: z.boolean().default(false).describe('One learned sink for each head'),
    qk_norm: z.boolean().default(false),
    norms_per_layer: z.int().min(0).default(2),
    attention: Attention.default({ kind: 'full' }),
    moe: orNull(Moe),
  })
  .superRefine((shape, context) => {
    for (const [path, message] of shapeProblems(shape)) context.addIssue({ code: 'custom', path, message });
  });

export type ModelShape = z.infer<typeof ModelShape>;

const attentionLayersOf = (shape: {
  readonly layers: number;
  readonly attention: z.infer<typeof Attention>;
}) =>
  shape.attention.kind === 'sliding'
    ? shape.attention.full_layers
    : shape.attention.kind === 'hybrid'
      ? shape.attention.attention_layers
      : shape.layers;

function shapeProblems(shape: {
  readonly layers: number;
  readonly heads: number;
  readonly kv_heads: number;
  readonly ffn_size: number | null;
  readonly attention: z.infer<typeof Attention>;
  readonly moe: z.infer<typeof Moe> | null;
}): [string[], string][] {
  const { moe } = shape;
  const problems: [boolean, string[], string][] = [
    [shape.heads % shape.kv_heads !== 0, ['kv_heads'], `must divide heads (${shape.heads})`],
    [attentionLayersOf(shape) > shape.layers, ['attention'], `has more layers than ${shape.layers}`],
    [
      (shape.ffn_size === null) !== (moe !== null && moe.dense_layers === 0),
      ['ffn_size'],
      'is null exactly when every layer has experts',
    ],
    [moe !== null && moe.experts_per_token > moe.experts, ['moe', 'experts_per_token'], 'exceeds experts'],
    [
      moe !== null && moe.dense_layers >= shape.layers,
      ['moe', 'dense_layers'],
      'leaves no layer with experts',
    ],
  ];
  return problems.filter(([wrong]) => wrong).map(([, path, message]) => [path, message]);
}

/** One checkpoint. Null is unknown or not applicable, never a guess. */
export const CatalogueModel = z.strictObject({
  id,
  family: orNull(z.string()),
  hf_repo: orNull(z.string()).describe('Repository of the weights on the Hugging Face hub'),
  aliases: z.array(z.string()).default([]),
  release_date: orNull(date).describe('First publication of this checkpoint, day or month'),
  licence: orNull(z.string()),
  context_length: orNull(count).describe('Longest context without stretching, tokens'),
  params_total: orNull(count).describe('Every stored weight once, vision part included'),
  params_active: orNull(count).describe(
    'Weights a text token can touch: no unselected experts, no vision part; input table and head both counted',
  ),
  vision_params: orNull(count),
  params_published: orNull(
    z.strictObject({
      total: z.string(),
      active: orNull(z.string()),
      active_counts: orNull(z.enum(['input_table_and_head', 'head_only', 'unstated'])),
    }),
  ),
  shape: orNull(ModelShape),
  sources,
  from_memory: fromMemory,
  caution: orNull(z.string()).describe('What its name or its figures mislead to'),
});

export type CatalogueModel = z.infer<typeof CatalogueModel>;

/** Number types that peaks are listed for, from wide to narrow. */
export const numberTypes = ['fp32', 'tf32', 'bf16', 'fp16', 'fp8', 'int8', 'fp4'] as const;

export type NumberType = (typeof numberTypes)[number];

const Peaks = z
  .strictObject({
    fp32: orNull(amount),
    tf32: orNull(amount),
    bf16: orNull(amount),
    fp16: orNull(amount),
    fp8: orNull(amount),
    fp4: orNull(amount),
    int8: orNull(amount),
  })
  .describe('Dense rates, FLOP/s, two operations for a multiply-add');

const noPeaks = { fp32: null, tf32: null, bf16: null, fp16: null, fp8: null, fp4: null, int8: null };

/** One device as software addresses it. Figures are those of datasheets. */
export const CatalogueAccelerator = z.strictObject({
  id,
  vendor: orNull(z.string()),
  name: orNull(z.string()),
  kind: z.enum(['gpu', 'soc', 'cpu', 'npu', 'rdu']),
  aliases: z.array(z.string()).default([]).describe('Names that drivers and people use for this part alone'),
  memory_bytes: orNull(count).describe('An upper mark: the label times 2^30'),
  memory_label: orNull(z.string()),
  memory_bandwidth_bytes_per_s: orNull(amount).describe('Theoretical'),
  last_level_cache_bytes: orNull(count).describe('Largest on-chip memory that weights could stay in'),
  peak_flop_per_s: Peaks.default(noPeaks),
  peak_fp16_accumulate_flop_per_s: orNull(z.strictObject({ fp16: orNull(amount), fp8: orNull(amount) })),
  unsupported_types: z.array(z.enum(numberTypes)).default([]),
  power_limit_w: orNull(amount).describe('What a cap is compared with'),
  power_limit_highest_w: orNull(amount).describe('Highest limit that parts of this name are sold with'),
  power_term: orNull(z.string()).describe("The vendor's word for the limit; these words don't mean the same"),
  boundary: orNull(z.strictObject({ scope: z.enum(['gpu', 'module', 'package', 'soc']), text: z.string() })),
  release_date: orNull(date),
  release_event: orNull(z.enum(['announced', 'on_sale'])),
  estimate: orNull(z.strictObject({ type: z.enum(numberTypes), flop_per_s: amount })).describe(
    'A figure of third parties, too weak to judge by',
  ),
  sources,
  from_memory: fromMemory,
  caution: orNull(z.string()),
});

export type CatalogueAccelerator = z.infer<typeof CatalogueAccelerator>;

const Source = z.strictObject({
  title: z.string(),
  kind: z.enum(['repository', 'checkpoint', 'publisher', 'third_party', 'derived', 'memory']),
  revision: z.string().nullable(),
  date: z.string().nullable(),
});

export type CatalogueSource = z.infer<typeof Source>;

const Ambiguous = z.strictObject({ name: z.string(), reason: z.string(), candidates: z.array(z.string()) });

export type AmbiguousName = z.infer<typeof Ambiguous>;

const head = {
  as_of: date,
  source_list: z.record(z.string(), Source),
  ambiguous: z.array(Ambiguous).describe('Names that mean several things'),
};

/** The shipped file of models. */
export const ModelsFile = z.strictObject({
  format: z.literal('perwatt-models/1'),
  ...head,
  models: z.array(CatalogueModel),
});

/** The shipped file of accelerators. */
export const AcceleratorsFile = z.strictObject({
  format: z.literal('perwatt-accelerators/1'),
  ...head,
  accelerators: z.array(CatalogueAccelerator),
});

const override = z
  .boolean()
  .default(false)
  .describe('Replaces the entry of that id, which is otherwise an error');

/** A user's own file. */
export const OwnEntries = z.strictObject({
  models: z.array(CatalogueModel.extend({ override })).default([]),
  accelerators: z.array(CatalogueAccelerator.extend({ override })).default([]),
});
