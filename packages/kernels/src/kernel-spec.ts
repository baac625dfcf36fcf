import { type KernelSize, kernelSizes, kernelTypes } from '@perwatt/core';
import * as z from 'zod';

const count = z
  .int()
  .positive()
  .max(2 ** 32 - 1);
const real = z.enum(['f32', 'f16', 'bf16']);
const shared = {
  dtype: z.enum(kernelTypes),
  output: z.enum([...kernelTypes, 'int32']).optional(),
  seed: z.int().min(0).optional(),
  distribution: z.enum(['normal', 'uniform']).optional(),
};
const heads = { batch: count, heads: count, kv_heads: count, head_dim: count };

/**
 * One kernel at one shape, as the native runner takes it; what may be left out has its usual value there. The names of the sizes
 * are columns of the table `kernels`.
 */
export const KernelSpec = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('copy'), n: count, ...shared }),
  z.strictObject({ kind: z.literal('triad'), n: count, ...shared }),
  z.strictObject({ kind: z.literal('fma'), n: count, k: count, ...shared }),
  z.strictObject({
    kind: z.literal('gemm'),
    m: count,
    n: count,
    k: count,
    layout: z.enum(['nn', 'nt']).optional(),
    ...shared,
  }),
  z.strictObject({ kind: z.literal('gemv'), m: count, k: count, batch: count, ...shared }),
  z.strictObject({
    kind: z.literal('int4_gemv'),
    m: count,
    k: count,
    batch: count,
    group: count,
    scales: real,
    zero_points: z.boolean(),
    ...shared,
  }),
  z.strictObject({ kind: z.literal('prefill'), ...heads, length: count, causal: z.boolean(), ...shared }),
  z.strictObject({ kind: z.literal('decode'), ...heads, length: count, ...shared }),
  z.strictObject({
    kind: z.literal('shared_prefix'),
    ...heads,
    prefix: count,
    suffix: count,
    method: z.enum(['shared', 'naive']),
    ...shared,
  }),
  z.strictObject({ kind: z.literal('rms_norm'), rows: count, width: count, ...shared }),
  z.strictObject({ kind: z.literal('softmax'), rows: count, width: count, ...shared }),
]);
/** One kernel at one shape. */
export type KernelSpec = z.infer<typeof KernelSpec>;

/** The sizes of a shape by name; null for those that its kernel hasn't. */
export function sizesOf(spec: KernelSpec): Record<KernelSize, number | null> {
  const given: Partial<Record<string, unknown>> = spec;
  const pairs = kernelSizes.map((name) => {
    const value = given[name];
    return [name, typeof value === 'number' ? value : null] as const;
  });
  return Object.fromEntries(pairs) as Record<KernelSize, number | null>;
}

/** What tells two kernels of one shape and type apart, in words: `naive`, `scales=f16`; null where there is nothing. */
export function optionsText(spec: KernelSpec): string | null {
  const words = [
    ...(spec.kind === 'shared_prefix' ? [spec.method] : []),
    ...(spec.kind === 'prefill' && !spec.causal ? ['not_causal'] : []),
    ...(spec.kind === 'int4_gemv' ? [`scales=${spec.scales}`] : []),
    ...(spec.kind === 'int4_gemv' && spec.zero_points ? ['zero_points'] : []),
    ...(spec.kind === 'gemm' && spec.layout === 'nt' ? ['nt'] : []),
    ...(spec.output === undefined ? [] : [`output=${spec.output}`]),
    ...(spec.distribution === undefined || spec.distribution === 'normal' ? [] : [spec.distribution]),
  ];
  return words.length === 0 ? null : words.join(' ');
}

/** The sizes of a shape in words: `m=14336 k=4096 batch=1`. */
export const sizesText = (spec: KernelSpec): string =>
  Object.entries(sizesOf(spec))
    .flatMap(([name, value]) => (value === null ? [] : [`${name}=${value}`]))
    .join(' ');

/** One text for a kernel, equal exactly for those that do the same work: `gemv bf16 m=14336 k=4096 batch=1`. */
export const specText = (spec: KernelSpec): string =>
  [spec.kind, spec.dtype, sizesText(spec), optionsText(spec)].filter((part) => part !== null).join(' ');
