import type { KernelType } from '@perwatt/core';
import type { KernelSpec } from './kernel-spec.js';

/** The convention of these counts, as rows name it. */
export const CONVENTION = 'flop/1';

/** Work of one launch. */
export interface KernelCounts {
  /** Useful operations: 2 for a multiply-add, 1 for an exponential, a division, a root, a maximum or a comparison. */
  readonly flop: number;
  /** Bytes that must be moved: each input read once, each output written once. */
  readonly bytes: number;
}

const elementBytes: Readonly<Record<KernelType | 'int32', number>> = {
  f32: 4,
  tf32: 4,
  f16: 2,
  bf16: 2,
  fp8_e4m3: 1,
  int8: 1,
  int32: 4,
};

/** Bytes of an element of the result. Unless told: int8 is summed up in 32 bits, 8-bit floats leave as bf16; a copy stays what it is. */
function outputBytes({ kind, dtype, output }: KernelSpec): number {
  if (output !== undefined) return elementBytes[output];
  if (kind === 'copy') return elementBytes[dtype];
  return dtype === 'int8' ? 4 : dtype === 'fp8_e4m3' ? 2 : elementBytes[dtype];
}

interface Heads {
  readonly batch: number;
  readonly heads: number;
  readonly kv_heads: number;
  readonly head_dim: number;
}

const queryElements = ({ batch, heads, head_dim }: Heads): number => batch * heads * head_dim;
const cacheElements = ({ kv_heads, head_dim }: Heads, positions: number): number =>
  2 * kv_heads * head_dim * positions;

/** FLOP and compulsory bytes of one launch, by convention `flop/1`; the native runner counts the same. */
export function kernelCounts(spec: KernelSpec): KernelCounts {
  const s = elementBytes[spec.dtype];
  const s_out = outputBytes(spec);
  switch (spec.kind) {
    case 'copy':
      return { flop: 0, bytes: spec.n * (s + s_out) };
    case 'triad':
      return { flop: 2 * spec.n, bytes: spec.n * (2 * s + s_out) };
    case 'fma':
      return { flop: 2 * spec.n * spec.k, bytes: spec.n * (s + s_out) };
    case 'gemm': {
      const { m, n, k } = spec;
      return { flop: 2 * m * n * k, bytes: s * (m * k + k * n) + s_out * m * n };
    }
    case 'gemv': {
      const { m, k, batch } = spec;
      return { flop: 2 * batch * m * k, bytes: s * m * k + s * batch * k + s_out * batch * m };
    }
    case 'int4_gemv': {
      const { m, k, batch, group, scales, zero_points } = spec;
      const group_bytes = elementBytes[scales] + (zero_points ? 0.5 : 0);
      const weights = (m * k) / 2 + (group_bytes * m * k) / group;
      return { flop: 2 * batch * m * k, bytes: weights + s * batch * k + s_out * batch * m };
    }
    case 'prefill': {
      const moved = 2 * queryElements(spec) * spec.length + cacheElements(spec, spec.batch * spec.length);
      const flop = (spec.causal ? 2 : 4) * queryElements(spec) * spec.length ** 2;
      return { flop, bytes: s * moved };
    }
    case 'decode': {
      const moved = cacheElements(spec, spec.batch * spec.length) + 2 * queryElements(spec);
      return { flop: 4 * queryElements(spec) * spec.length, bytes: s * moved };
    }
    case 'shared_prefix': {
      const { batch, prefix, suffix, method } = spec;
      const positions = (method === 'shared' ? prefix : batch * prefix) + batch * suffix;
      const moved = cacheElements(spec, positions) + 2 * queryElements(spec);
      return { flop: 4 * queryElements(spec) * (prefix + suffix), bytes: s * moved };
    }
    case 'rms_norm':
      return { flop: 4 * spec.rows * spec.width, bytes: s * (2 * spec.rows * spec.width + spec.width) };
    case 'softmax':
      return { flop: 5 * spec.rows * spec.width, bytes: 2 * s * spec.rows * spec.width };
  }
}

/** Two ceilings of a device. */
export interface Ceilings {
  /** Best rate of a GEMM of the type (1/s); null when none was measured. */
  readonly peak_flop_per_s: number | null;
  /** Best rate of a copy or triad (bytes/s); null when none was measured. */
  readonly bandwidth_bytes_per_s: number | null;
}

/** The least time that both ceilings allow, and which of them it is. */
export interface Roofline {
  readonly roofline_ns: number;
  readonly bound: 'compute' | 'memory';
}

/**
 * The roofline's time of a launch, max(FLOP / peak, bytes / bandwidth). Null while a ceiling that it needs isn't known:
 * work without FLOP needs only the bandwidth.
 */
export function rooflineOf({ flop, bytes }: KernelCounts, ceilings: Ceilings): Roofline | null {
  const { peak_flop_per_s: peak, bandwidth_bytes_per_s: bandwidth } = ceilings;
  if (bandwidth === null || (peak === null && flop > 0)) return null;
  const memory_ns = (bytes / bandwidth) * 1e9;
  const compute_ns = peak === null ? 0 : (flop / peak) * 1e9;
  return compute_ns > memory_ns
    ? { roofline_ns: compute_ns, bound: 'compute' }
    : { roofline_ns: memory_ns, bound: 'memory' };
}
