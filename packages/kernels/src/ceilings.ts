import type { KernelOutcome } from './kernel-outcome.js';
import type { DeviceCeilings } from './kernel-row.js';
import type { KernelSpec } from './kernel-spec.js';
import type { KernelDevice } from './protocol.js';

/** An outcome with what was run. */
export interface RanKernel {
  readonly spec: KernelSpec;
  readonly outcome: KernelOutcome;
}

/**
 * The kernels that a device's ceilings are measured by: a copy and a triad of three times its last-level cache (of 256 MiB on
 * a GPU whose cache isn't known, 96 MiB else), at most an eighth of its memory each vector, and one square GEMM for each type.
 */
export function ceilingSpecs(device: KernelDevice, types: readonly KernelSpec['dtype'][]): KernelSpec[] {
  const n = streamElements(device);
  const side = isGpu(device) ? 8192 : device.kind === 'software' ? 256 : 1024;
  return [
    { kind: 'copy', dtype: 'f32', n },
    { kind: 'triad', dtype: 'f32', n },
    ...types.map((dtype): KernelSpec => ({ kind: 'gemm', dtype, m: side, n: side, k: side })),
  ];
}

/** Elements of a vector of 32 bits each that no cache holds. */
export function streamElements(device: KernelDevice): number {
  const cache = device.last_level_cache_bytes ?? (isGpu(device) ? 256 : 96) * 2 ** 20;
  const room = Math.min(device.memory_bytes ?? 2 ** 33, (device.max_buffer_bytes ?? 2 ** 33) * 8) / 8;
  return 2 ** Math.floor(Math.log2(Math.min(3 * cache, room) / 4));
}

const isGpu = ({ kind }: KernelDevice): boolean =>
  kind === 'discrete_gpu' || kind === 'integrated_gpu' || kind === 'virtual_gpu';

/**
 * Ceilings of a device for work on inputs of one type, out of what was run on it: the best copy or triad of any type, and the
 * best GEMM of this one. A portable GEMM is a ceiling only where no other ran; `peak_implementation` tells.
 */
export function ceilingsOf(ran: readonly RanKernel[], dtype: KernelSpec['dtype']): DeviceCeilings {
  const timed = ran.filter(({ outcome }) => outcome.status === 'ok' && outcome.time !== null);
  const rate = ({ outcome }: RanKernel, work: 'flop' | 'bytes') =>
    outcome.time === null ? 0 : (outcome[work] / outcome.time.mean_ns) * 1e9;
  const moving = timed.filter(({ spec }) => spec.kind === 'copy' || spec.kind === 'triad');
  const products = timed.filter(({ spec }) => spec.kind === 'gemm' && spec.dtype === dtype);
  const own = products.filter(({ outcome }) => outcome.portable !== true);
  const best = (own.length > 0 ? own : products).toSorted((a, b) => rate(b, 'flop') - rate(a, 'flop'))[0];
  return {
    bandwidth_bytes_per_s: moving.length === 0 ? null : Math.max(...moving.map((one) => rate(one, 'bytes'))),
    peak_flop_per_s: best === undefined ? null : rate(best, 'flop'),
    peak_implementation: best?.outcome.implementation ?? null,
  };
}
