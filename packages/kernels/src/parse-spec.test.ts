import { describe, expect, test } from 'vitest';
import { KernelSpec, specText } from './kernel-spec.js';
import { parseSpec } from './parse-spec.js';
import { checkSpecs, usualSpecs } from './standard-specs.js';

// biome-ignore format: a table is read in columns
test.each([
  ['gemm bf16 m=8 n=4 k=2',                      { kind: 'gemm', dtype: 'bf16', m: 8, n: 4, k: 2 },                      'sizes in any order'],
  ['gemm f32 k=2 m=8 n=4 layout=nt',             { kind: 'gemm', dtype: 'f32', m: 8, n: 4, k: 2, layout: 'nt' },         'a layout'],
  [' gemv  int8 m=8 k=4 ',                       { kind: 'gemv', dtype: 'int8', m: 8, k: 4, batch: 1 },                  'one vector unless told'],
  ['int4_gemv f16 m=8 k=64 batch=2',             { kind: 'int4_gemv', dtype: 'f16', m: 8, k: 64, batch: 2, group: 32, scales: 'f16', zero_points: false }, 'groups as they usually are'],
  ['prefill f16 batch=1 heads=2 kv_heads=1 head_dim=8 length=4 causal=false', { kind: 'prefill', dtype: 'f16', batch: 1, heads: 2, kv_heads: 1, head_dim: 8, length: 4, causal: false }, 'a truth value'],
] as const)('%s', (text, spec, _why) => {
  expect(parseSpec(text)).toEqual(spec);
});

// biome-ignore format: a table is read in columns
test.each([
  ['gem f32 m=1 n=1 k=1',        'no kernel is called "gem"; did you mean "gemm"?',         'a slip'],
  ['gemm',                       'its second word must be a type: f32',                     'no type'],
  ['gemm f32 m=1 n=1',           'expected number, received undefined → at k',              'a size is missing'],
  ['gemm f32 m=1 n=1 k=0',       'expected number to be >0 → at k',                         'a size of nothing'],
  ['gemm f32 m=1 n=1 k=x',       'expected number, received string → at k',                 'a size that is none'],
  ['copy f32 n=8 m=8',           'Unrecognized key: "m"',                                   'a size that it has not'],
  ['copy f32 8',                 '"8" is not key=value',                                    'a size without its name'],
] as const)('%s is refused', (text, message, _why) => {
  expect(() => parseSpec(text)).toThrow(message);
});

describe.each([
  ['checks', checkSpecs],
  ['usual shapes', usualSpecs],
] as const)('%s', (_, specs) => {
  test('are different kernels that the runner takes', () => {
    const all = specs({}, 7);
    expect(new Set(all.map(specText)).size).toBe(all.length);
    for (const spec of all) expect(KernelSpec.parse(spec)).toMatchObject({ seed: 7 });
  });

  test('can be chosen from', () => {
    const some = specs({ kinds: ['gemv', 'softmax'], types: ['int8', 'f32'] }, 0);
    expect(new Set(some.map(({ kind, dtype }) => `${kind} ${dtype}`))).toEqual(
      new Set(['gemv f32', 'gemv int8', 'softmax f32']),
    );
  });
});
