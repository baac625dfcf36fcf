import type { KernelType } from '@perwatt/core';
import { KernelSpec } from './kernel-spec.js';

type Sizes = { [K in KernelSpec as K['kind']]: Omit<K, 'dtype' | 'output' | 'seed' | 'distribution'> };

/**
 * Small, so that references in double precision take no time: odd sizes, which are no multiple of a tile, and sizes that are
 * multiples of 16 but of no larger tile, for devices that move several elements at once.
 */
const small: readonly Sizes[keyof Sizes][] = [
  { kind: 'copy', n: 1037 },
  { kind: 'copy', n: 1040 },
  { kind: 'triad', n: 1037 },
  { kind: 'triad', n: 1040 },
  { kind: 'fma', n: 1037, k: 3 },
  { kind: 'fma', n: 1040, k: 21 },
  { kind: 'gemm', m: 65, n: 47, k: 129 },
  { kind: 'gemm', m: 64, n: 64, k: 128, layout: 'nt' },
  { kind: 'gemm', m: 80, n: 48, k: 144 },
  { kind: 'gemv', m: 67, k: 264, batch: 1 },
  { kind: 'gemv', m: 80, k: 272, batch: 3 },
  { kind: 'gemv', m: 67, k: 264, batch: 5 },
  { kind: 'int4_gemv', m: 67, k: 256, batch: 1, group: 32, scales: 'f16', zero_points: false },
  { kind: 'int4_gemv', m: 80, k: 288, batch: 1, group: 32, scales: 'f16', zero_points: false },
  { kind: 'int4_gemv', m: 67, k: 256, batch: 3, group: 64, scales: 'f32', zero_points: true },
  { kind: 'prefill', batch: 2, heads: 4, kv_heads: 2, head_dim: 64, length: 37, causal: true },
  { kind: 'decode', batch: 2, heads: 4, kv_heads: 2, head_dim: 64, length: 133 },
  {
    kind: 'shared_prefix',
    batch: 3,
    heads: 4,
    kv_heads: 2,
    head_dim: 64,
    prefix: 70,
    suffix: 19,
    method: 'shared',
  },
  {
    kind: 'shared_prefix',
    batch: 3,
    heads: 4,
    kv_heads: 2,
    head_dim: 64,
    prefix: 70,
    suffix: 19,
    method: 'naive',
  },
  { kind: 'rms_norm', rows: 5, width: 577 },
  { kind: 'rms_norm', rows: 5, width: 592 },
  { kind: 'softmax', rows: 5, width: 577 },
  { kind: 'softmax', rows: 5, width: 592 },
];

/** As in a model of some billions of parameters, but for the head. */
const usual: readonly Sizes[keyof Sizes][] = [
  { kind: 'gemm', m: 1024, n: 1024, k: 1024 },
  { kind: 'fma', n: 2 ** 24, k: 16 },
  { kind: 'gemv', m: 4096, k: 4096, batch: 1 },
  { kind: 'int4_gemv', m: 4096, k: 4096, batch: 1, group: 32, scales: 'f16', zero_points: false },
  { kind: 'prefill', batch: 1, heads: 32, kv_heads: 8, head_dim: 128, length: 512, causal: true },
  { kind: 'decode', batch: 1, heads: 32, kv_heads: 8, head_dim: 128, length: 4096 },
  {
    kind: 'shared_prefix',
    batch: 16,
    heads: 32,
    kv_heads: 8,
    head_dim: 128,
    prefix: 2048,
    suffix: 128,
    method: 'shared',
  },
  {
    kind: 'shared_prefix',
    batch: 16,
    heads: 32,
    kv_heads: 8,
    head_dim: 128,
    prefix: 2048,
    suffix: 128,
    method: 'naive',
  },
  { kind: 'rms_norm', rows: 512, width: 4096 },
  { kind: 'softmax', rows: 512, width: 4096 },
];

const real: readonly KernelType[] = ['f32', 'f16', 'bf16'];
const typesOf: Readonly<Record<KernelSpec['kind'], readonly KernelType[]>> = {
  copy: [...real, 'int8'],
  triad: real,
  fma: real,
  gemm: ['f32', 'tf32', 'f16', 'bf16', 'fp8_e4m3', 'int8'],
  gemv: [...real, 'int8'],
  int4_gemv: real,
  prefill: real,
  decode: real,
  shared_prefix: real,
  rms_norm: real,
  softmax: real,
};

/** Which kernels and types are wanted; all where left out. */
export interface SpecChoice {
  readonly kinds?: readonly KernelSpec['kind'][];
  readonly types?: readonly KernelType[];
}

function specsOf(
  shapes: readonly Sizes[keyof Sizes][],
  { kinds, types }: SpecChoice,
  seed: number,
): KernelSpec[] {
  return shapes
    .filter(({ kind }) => kinds?.includes(kind) ?? true)
    .flatMap((shape) =>
      typesOf[shape.kind]
        .filter((dtype) => types?.includes(dtype) ?? true)
        .map((dtype): KernelSpec => KernelSpec.parse({ ...shape, dtype, seed })),
    );
}

/** Every kernel in every type at small, odd shapes, for comparing outputs with their references. */
export const checkSpecs = (choice: SpecChoice, seed: number): KernelSpec[] => specsOf(small, choice, seed);

/** Every kernel in every type at a usual shape; copy and triad are sized by the device, as ceilings are. */
export const usualSpecs = (choice: SpecChoice, seed: number): KernelSpec[] => specsOf(usual, choice, seed);
