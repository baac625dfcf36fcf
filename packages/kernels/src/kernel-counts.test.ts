import { describe, expect, test } from 'vitest';
import { kernelCounts, rooflineOf } from './kernel-counts.js';
import type { KernelSpec } from './kernel-spec.js';

const heads = { heads: 32, kv_heads: 8, head_dim: 128 };
const gemv = { kind: 'gemv', m: 14_336, k: 4096 } as const;
const int4 = {
  kind: 'int4_gemv',
  dtype: 'f16',
  scales: 'f16',
  zero_points: false,
  m: 14_336,
  k: 4096,
  batch: 1,
} as const;

// biome-ignore format: a table is read in columns
const cases: readonly (readonly [KernelSpec, number, number, why: string])[] = [
  [{ kind: 'copy', dtype: 'f32', n: 2 ** 28 },                                0,                 2_147_483_648, 'a copy works nothing out'],
  [{ kind: 'triad', dtype: 'f32', n: 2 ** 28 },                               536_870_912,       3_221_225_472, 'no write-allocate'],
  [{ kind: 'fma', dtype: 'bf16', n: 2 ** 28, k: 1000 },                       536_870_912_000,   1_073_741_824, 'one vector in, one out'],
  [{ kind: 'gemm', dtype: 'bf16', m: 8192, n: 8192, k: 8192 },                1_099_511_627_776, 402_653_184,   'three square matrices'],
  [{ kind: 'gemm', dtype: 'bf16', m: 14_336, n: 512, k: 4096 },               60_129_542_144,    136_314_880,   'three different matrices'],
  [{ ...gemv, dtype: 'bf16', batch: 1 },                                        117_440_512,       117_477_376,   'weights rule'],
  [{ ...gemv, dtype: 'bf16', batch: 16 },                                       1_879_048_192,     118_030_336,   'vectors are small'],
  [{ ...gemv, dtype: 'bf16', batch: 256 },                                      30_064_771_072,    126_877_696,   'vectors begin to count'],
  [{ ...gemv, dtype: 'int8', batch: 1 },                                        117_440_512,       58_781_696,    'results of 32 bits'],
  [{ ...int4, group: 32 },                                                      117_440_512,       33_067_008,    'a scale for 32 weights'],
  [{ ...int4, group: 128 },                                                     117_440_512,       30_314_496,    'a scale for 128 weights'],
  [{ kind: 'prefill', causal: true, dtype: 'bf16', batch: 1, ...heads, length: 4096 }, 137_438_953_472, 83_886_080, 'half of the square'],
  [{ kind: 'decode', dtype: 'bf16', batch: 32, ...heads, length: 4096 }, 2_147_483_648, 537_395_200,  'the cache rules'],
  [{ kind: 'shared_prefix', method: 'shared', dtype: 'bf16', batch: 64, ...heads, prefix: 8192, suffix: 256 }, 8_858_370_048, 100_663_296 + 2 * 2 * 64 * 32 * 128, 'the prefix is read once'],
  [{ kind: 'shared_prefix', method: 'naive', dtype: 'bf16', batch: 64, ...heads, prefix: 8192, suffix: 256 }, 8_858_370_048, 2_214_592_512 + 2 * 2 * 64 * 32 * 128, 'once for each sequence'],
  [{ ...int4, group: 128, zero_points: true },                                  117_440_512,       30_314_496 + 229_376, 'half a byte a group'],
  [{ kind: 'rms_norm', dtype: 'bf16', rows: 4096, width: 4096 },            67_108_864,        67_117_056,    'one row of weights'],
  [{ kind: 'softmax', dtype: 'bf16', rows: 4096, width: 4096 },             83_886_080,        67_108_864,    'read and written once'],
];

test.each(cases)('%o: work of one launch', (spec, flop, bytes) => {
  expect(kernelCounts(spec)).toEqual({ flop, bytes });
});

describe('the roofline', () => {
  const ceilings = { peak_flop_per_s: 788e12, bandwidth_bytes_per_s: 4.3e12 };

  // biome-ignore format: a table is read in columns
  test.each([
    [{ flop: 0, bytes: 2_147_483_648 },                     499.4, 'memory',  'no work but moving'],
    [{ flop: 1_099_511_627_776, bytes: 402_653_184 },       1395,  'compute', 'far right of the ridge'],
    [{ flop: 30_064_771_072, bytes: 126_877_696 },          38.15, 'compute', 'just right of the ridge'],
    [{ flop: 1_879_048_192, bytes: 118_030_336 },           27.45, 'memory',  'left of it'],
    [{ flop: 8_858_370_048, bytes: 100_663_296 },           23.41, 'memory',  'left of it'],
  ] as const)('%o takes at least %f µs', (counts, us, bound, _why) => {
    const found = rooflineOf(counts, ceilings);
    expect(found?.bound).toBe(bound);
    expect((found?.roofline_ns ?? 0) / 1000 / us).toBeCloseTo(1, 3);
  });

  // biome-ignore format: a table is read in columns
  test.each([
    [{ flop: 1, bytes: 1 }, { peak_flop_per_s: null, bandwidth_bytes_per_s: 1e9 }, null,                                      'FLOP need a peak'],
    [{ flop: 0, bytes: 1 }, { peak_flop_per_s: null, bandwidth_bytes_per_s: 1e9 }, { roofline_ns: 1, bound: 'memory' },        'a copy needs none'],
    [{ flop: 1, bytes: 1 }, { peak_flop_per_s: 1e9, bandwidth_bytes_per_s: null }, null,                                      'bytes need a bandwidth'],
  ])('%o under %o', (counts, ceilings, expected, _why) => {
    expect(rooflineOf(counts, ceilings)).toEqual(expected);
  });
});
