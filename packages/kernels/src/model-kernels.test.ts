import { fc, test } from '@fast-check/vitest';
import { describe, expect } from 'vitest';
import { kernelCounts } from './kernel-counts.js';
import { KernelSpec } from './kernel-spec.js';
import type { ModelFacts } from './model-facts.js';
import { type ModelKernel, type ModelStep, modelKernels } from './model-kernels.js';

const facts: ModelFacts = {
  layers: 36,
  hidden_size: 4096,
  ffn_size: 12_288,
  heads: 32,
  kv_heads: 8,
  head_dim: 128,
  vocab_size: 151_936,
  qk_norm: true,
  norms_per_layer: 2,
  attention: { kind: 'full' },
  moe: null,
};
const step: ModelStep = { model: 'm', facts, phase: 'decode', batch: 1, context: 1024, weights: 'bf16' };

const part = (kernels: readonly ModelKernel[], name: string) =>
  kernels.filter(({ parts }) => parts.includes(name));

describe('a decode step', () => {
  const kernels = modelKernels(step);

  // biome-ignore format: a table is read in columns
  test.each([
    ['q',         { kind: 'gemv', dtype: 'bf16', m: 4096, k: 4096, batch: 1 },       72,  'q and o have one shape'],
    ['o',         { kind: 'gemv', dtype: 'bf16', m: 4096, k: 4096, batch: 1 },       72,  'the same'],
    ['k',         { kind: 'gemv', dtype: 'bf16', m: 1024, k: 4096, batch: 1 },       72,  'k and v have one shape'],
    ['gate',      { kind: 'gemv', dtype: 'bf16', m: 12_288, k: 4096, batch: 1 },     72,  'gate and up'],
    ['down',      { kind: 'gemv', dtype: 'bf16', m: 4096, k: 12_288, batch: 1 },     36,  'one a layer'],
    ['head',      { kind: 'gemv', dtype: 'bf16', m: 151_936, k: 4096, batch: 1 },    1,   'once'],
    ['attention', { kind: 'decode', dtype: 'bf16', batch: 1, heads: 32, kv_heads: 8, head_dim: 128, length: 1024 }, 36, 'one a layer'],
    ['norm',      { kind: 'rms_norm', dtype: 'bf16', rows: 1, width: 4096 },       73,  'two a layer and the last'],
    ['q_norm',    { kind: 'rms_norm', dtype: 'bf16', rows: 32, width: 128 },       36,  'a row a head'],
    ['k_norm',    { kind: 'rms_norm', dtype: 'bf16', rows: 8, width: 128 },        36,  'a row a cache head'],
  ] as const)('%s', (name, spec, launches, _why) => {
    expect(part(kernels, name)).toEqual([expect.objectContaining({ spec, launches })]);
  });

  test('reads every weight but the input table once', () => {
    const matrices = kernels.filter(({ spec }) => spec.kind === 'gemv');
    const weights = matrices.reduce(
      (sum, { spec, launches }) => sum + (spec.kind === 'gemv' ? spec.m * spec.k * launches : 0),
      0,
    );
    expect(weights).toBe(36 * (2 * 4096 * 4096 + 2 * 1024 * 4096 + 3 * 12_288 * 4096) + 151_936 * 4096);
  });
});

// biome-ignore format: a table is read in columns
test.each([
  [{ batch: 64 },                                    'q',         { kind: 'gemm', n: 64 },                'many vectors make a GEMM'],
  [{ batch: 32 },                                    'q',         { kind: 'gemv', batch: 32 },            'as many as a GEMV takes'],
  [{ weights: 'int4', batch: 64 },                   'q',         { kind: 'int4_gemv', batch: 64 },       'int4 has no GEMM'],
  [{ weights: 'int4' },                              'attention', { dtype: 'f16' },                         'the cache is not int4'],
  [{ weights: 'int4' },                              'q',         { zero_points: false },                'one zero for all, as Q4_0 has it'],
  [{ weights: 'int4_zeros' },                        'q',         { kind: 'int4_gemv', zero_points: true }, 'a zero point for each group, as Q4_1'],
  [{ weights: 'int4', head_weights: 'int8' },        'head',      { kind: 'gemv', dtype: 'int8' },        'a head of its own type'],
  [{ weights: 'int8', activations: 'f32' },          'norm',      { dtype: 'f32' },                         'as told'],
  [{ phase: 'prefill' },                             'q',         { kind: 'gemm', n: 1024 },              'a prompt of tokens'],
  [{ phase: 'prefill' },                             'head',      { kind: 'gemv', batch: 1 },             'only the last position has logits'],
  [{ phase: 'prefill', batch: 2 },                   'attention', { kind: 'prefill', batch: 2, length: 1024 }, 'causal over the prompt'],
] as const)('%o: %s is %o', (change, name, expected, _why) => {
  const [found] = part(modelKernels({ ...step, ...change }), name);
  expect(found?.spec).toMatchObject(expected);
});

test('layers with a window attend to no more than it', () => {
  const sliding: ModelFacts = { ...facts, attention: { kind: 'sliding', window: 512, full_layers: 6 } };
  const lengths = part(modelKernels({ ...step, facts: sliding }), 'attention').map(({ spec, launches }) => [
    spec.kind === 'decode' && spec.length,
    launches,
  ]);
  expect(lengths).toEqual([
    [1024, 6],
    [512, 30],
  ]);
});

test('a window longer than the context makes all layers one', () => {
  const sliding: ModelFacts = { ...facts, attention: { kind: 'sliding', window: 4096, full_layers: 6 } };
  expect(part(modelKernels({ ...step, facts: sliding }), 'attention')).toHaveLength(1);
});

describe('experts', () => {
  const moe = { experts: 128, experts_per_token: 8, moe_ffn: 768, shared_ffn: null, dense_layers: 0 };
  const sparse: ModelFacts = { ...facts, ffn_size: null, moe };

  // biome-ignore format: a table is read in columns
  test.each([
    [1,   8,   1,  'one token touches its own'],
    [8,   52,  1,  '128·(1 − (120/128)^8) = 51.6'],
    [512, 128, 32, 'a large batch touches all'],
  ])('%i tokens touch %i experts with %i tokens each', (batch, touched, each) => {
    const [down] = part(modelKernels({ ...step, facts: sparse, batch }), 'down');
    expect(down).toMatchObject({ launches: 36 * touched, spec: { m: 4096, k: 768, batch: each } });
  });

  test('a shared expert and dense layers are multiplied with every token', () => {
    const both: ModelFacts = { ...facts, moe: { ...moe, shared_ffn: 2048, dense_layers: 4 } };
    const down = part(modelKernels({ ...step, facts: both }), 'down');
    expect(down.map(({ spec, launches }) => [spec.kind === 'gemv' && spec.k, launches])).toEqual([
      [12_288, 4],
      [768, 32 * 8],
      [2048, 32],
    ]);
  });
});

// biome-ignore format: a table is read in columns
test.each([
  [{ facts: { ...facts, attention: { kind: 'hybrid' } } }, 'model m has state-space layers, which no kernel stands for'],
  [{ phase: 'prefill', weights: 'int4' },                  'prefill of m with int4 weights has no kernel'],
  [{ phase: 'prefill', head_weights: 'int4_zeros' },       'prefill of m with int4_zeros weights has no kernel'],
] as const)('%o is refused', (change, message) => {
  expect(() => modelKernels({ ...step, ...change })).toThrow(message);
});

const anyStep = fc.record({
  layers: fc.integer({ min: 1, max: 80 }),
  batch: fc.integer({ min: 1, max: 64 }),
  context: fc.integer({ min: 1, max: 1000 }),
  phase: fc.constantFrom('decode' as const, 'prefill' as const),
  weights: fc.constantFrom('f32' as const, 'bf16' as const, 'int8' as const),
});

test.prop([anyStep])(
  'every shape is one that the runner takes, and FLOP are those of the matrices and attention',
  (any) => {
    const own: ModelStep = { ...step, ...any, facts: { ...facts, layers: any.layers } };
    const kernels = modelKernels(own);
    for (const { spec } of kernels) expect(KernelSpec.safeParse(spec).success).toBe(true);
    const flop = kernels
      .filter(({ spec }) => spec.kind === 'gemv' || spec.kind === 'gemm')
      .reduce((sum, { spec, launches }) => sum + kernelCounts(spec).flop * launches, 0);
    const vectors = any.phase === 'decode' ? any.batch : any.batch * any.context;
    const layer = 2 * 4096 * 4096 + 2 * 1024 * 4096 + 3 * 12_288 * 4096;
    expect(flop).toBe(2 * vectors * any.layers * layer + 2 * any.batch * 151_936 * 4096);
  },
);
