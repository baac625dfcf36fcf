import { fc, test as propTest } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import type { ModelShape } from '../catalogue/catalogue-schema.js';
import { shippedCatalogue } from '../catalogue/load-catalogue.js';
import { countParams, layerKinds } from './count-params.js';
import { callFlop, decodeFlop, prefillFlop } from './flop-count.js';
import { kvBytes, kvElements } from './kv-bytes.js';
import { decodeReadBytes, expectedExperts, weightBits, weightBytes } from './weight-bytes.js';

const shapeOf = (id: string): ModelShape => {
  const shape = shippedCatalogue().models.find((model) => model.id === id)?.shape;
  if (!shape) throw new Error(`no shape of ${id}`);
  return shape;
};
const llama = shapeOf('llama-3.1-8b-instruct');
const gemma = shapeOf('gemma-3-27b-it');
const oss20 = shapeOf('gpt-oss-20b');
const oss120 = shapeOf('gpt-oss-120b');
const qwen = shapeOf('qwen3-30b-a3b');
const mxfp4 = { bits: 16, expert_bits: weightBits.mxfp4 };

// biome-ignore format: a table is read in columns
test.each<[what: string, value: number | null, expected: number]>([
  ['matrices of 32 dense layers',                      countParams(llama).layer_matmul_active,               6_979_321_856],
  ['both tables of an untied model',                   countParams(llama).embedding,                         1_050_673_152],
  ['all parameters of a dense model',                  countParams(llama).total,                             8_030_261_248],
  ['what a decode step reads',                         countParams(llama).decode_read,                       7_504_924_672],
  ['cached elements a token',                          kvElements(llama).full,                               65_536],
  ['cache bytes a token',                              kvBytes(llama, 1),                                    131_072],
  ['cache of 8192 tokens',                             kvBytes(llama, 8192),                                 1_073_741_824],
  ['cache of sliding and full layers',                 kvBytes(gemma, 32_768),                               3_120_562_176],
  ['the same with every layer full',                   kvBytes({ ...gemma, attention: { kind: 'full' } }, 32_768), 16_642_998_272],
  ['cache of no tokens',                               kvBytes(gemma, 0),                                    0],
  ['q8_0 cache',                                       kvBytes(llama, 1, 'q8_0'),                            69_632],
  ['experts of gpt-oss-20b',                           countParams(oss20).expert_matrices,                   19_110_297_600],
  ['gpt-oss-20b as stored',                            weightBytes(oss20, mxfp4),                            13_761_264_768],
  ['gpt-oss-120b as stored',                           weightBytes(oss120, mxfp4),                           65_248_815_744],
  ['F16 reads of Llama 3.1 8B',                        decodeReadBytes(llama, { bits: 16 }),                 15_009_849_344],
  ['reads of gpt-oss-20b',                             decodeReadBytes(oss20, mxfp4),                        3_708_083_328],
  ['matrices a token meets, 128 experts',              countParams(qwen).layer_matmul_active,                2_730_491_904],
  ['FLOP of a decode step at 4096 tokens',             decodeFlop(qwen, 4096),                               9_304_539_136],
  ['twice the active parameters',                      2 * countParams(qwen).active,                         6_706_065_408],
  ['twice all parameters',                             2 * countParams(qwen).total,                          61_064_245_248],
  ['FLOP of a prefill of 2048 tokens',                 prefillFlop(llama, { tokens: 2048 }),                 29_688_401_494_016],
  ['a prefill that is cached',                         prefillFlop(llama, { tokens: 9, cached: 9, logits: 0 }), 0],
])('%s: %d', (_what, value, expected) => {
  expect(value).toBe(expected);
});

test('a batch touches few experts twice, if routing is even', () => {
  expect(expectedExperts(oss20, 8)).toBeCloseTo(21.0, 1);
  expect(expectedExperts(oss20, 32)).toBeCloseTo(31.6, 1);
  expect(expectedExperts(llama, 8)).toBeNull();
});

describe('unknown stays unknown', () => {
  // biome-ignore format: a table is read in columns
  test.each<[why: string, value: number | null]>([
    ['no shape, decode',             decodeFlop(null, 1)],
    ['no shape, prefill',            prefillFlop(null, { tokens: 1 })],
    ['no shape, call',               callFlop(null, { prompt_tokens: 1, completion_tokens: 1 })],
    ['no shape, cache',              kvBytes(null, 1)],
    ['no shape, weights',            weightBytes(null, { bits: 16 })],
    ['no shape, reads',              decodeReadBytes(null, { bits: 16 })],
    ['no context',                   decodeFlop(llama, 0)],
    ['half a token',                 decodeFlop(llama, 1.5)],
    ['not a number',                 decodeFlop(llama, Number.NaN)],
    ['more cached than there is',    prefillFlop(llama, { tokens: 1, cached: 2 })],
    ['prompt not counted',           callFlop(llama, { prompt_tokens: null, completion_tokens: 1 })],
    ['completion not counted',       callFlop(llama, { prompt_tokens: 1, completion_tokens: null })],
    ['negative cache',               kvBytes(llama, -1)],
  ])('%s', (_why, value) => {
    expect(value).toBeNull();
  });
});

const anyShape = fc.constantFrom(
  ...shippedCatalogue().models.flatMap(({ shape }) => (shape === null ? [] : [shape])),
);
const tokens = fc.integer({ min: 1, max: 9000 });

propTest.prop([anyShape, fc.integer({ min: 1, max: 400 }), fc.integer({ min: 0, max: 60 })], { numRuns: 60 })(
  'a call is its prefill and its decode steps one by one',
  (shape, prompt, completion) => {
    let flop = prefillFlop(shape, { tokens: prompt }) ?? Number.NaN;
    for (let i = 1; i < completion; i++) flop += decodeFlop(shape, prompt + i) ?? Number.NaN;
    expect(callFlop(shape, { prompt_tokens: prompt, completion_tokens: completion })).toBe(flop);
  },
);

propTest.prop([anyShape, fc.integer({ min: 1, max: 700 }), fc.integer({ min: 1, max: 300 })], {
  numRuns: 60,
})(
  'attention is what each token attends to, position by position, with narrow windows too',
  (known, prompt, window) => {
    const shape: ModelShape =
      known.attention.kind === 'sliding' ? { ...known, attention: { ...known.attention, window } } : known;
    const { full, sliding, window: width } = layerKinds(shape);
    const { layer_matmul_active, head_matmul } = countParams(shape);
    let positions = 0;
    for (let i = 1; i <= prompt; i++) positions += full * i + sliding * Math.min(i, width ?? 0);
    expect(prefillFlop(shape, { tokens: prompt })).toBe(
      2 * layer_matmul_active * prompt + 2 * head_matmul + 4 * shape.heads * shape.head_dim * positions,
    );
  },
);

propTest.prop([anyShape, tokens, fc.double({ min: 0, max: 1, noNaN: true })])(
  'a prefill in two parts costs what it costs in one',
  (shape, total, share) => {
    const cached = Math.floor(total * share);
    const first = prefillFlop(shape, { tokens: cached, logits: 0 }) ?? Number.NaN;
    const second = prefillFlop(shape, { tokens: total, cached }) ?? Number.NaN;
    const whole = prefillFlop(shape, { tokens: total }) ?? Number.NaN;
    expect(Math.abs(first + second - whole)).toBeLessThanOrEqual(whole * 1e-12);
  },
);

propTest.prop([anyShape, tokens])(
  'cache and decode work grow with the context, never past full layers',
  (shape, context) => {
    const more = kvBytes(shape, context + 1) ?? Number.NaN;
    const less = kvBytes(shape, context) ?? Number.NaN;
    expect(more).toBeGreaterThanOrEqual(less);
    const { full, sliding } = kvElements(shape);
    expect(less).toBeLessThanOrEqual(2 * (full + sliding) * context);
    expect(decodeFlop(shape, context + 1)).toBeGreaterThanOrEqual(decodeFlop(shape, context) ?? Number.NaN);
  },
);
