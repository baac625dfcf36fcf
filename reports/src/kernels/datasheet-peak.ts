import type { KernelType } from '@perwatt/core';
import { type Catalogue, findAccelerator, type NumberType } from '@perwatt/metrics';

/** What a datasheet says of a device, of the whole part. Never a ceiling: those are measured. */
export interface DatasheetPeak {
  /** Entry of the catalogue; null with a reason. */
  readonly accelerator: string | null;
  /** Dense rate of the type, 1/s; null with a reason. */
  readonly peak_flop_per_s: number | null;
  /** Theoretical, 1/s; null where the catalogue has none. */
  readonly bandwidth_bytes_per_s: number | null;
  /** Keys of the catalogue's sources of the rate; `memory` for one that rests on general knowledge. */
  readonly source: string | null;
  /** Why there is no rate; null where there is one. */
  readonly reason: string | null;
}

const numberTypeOf: Readonly<Record<KernelType, NumberType>> = {
  f32: 'fp32',
  tf32: 'tf32',
  f16: 'fp16',
  bf16: 'bf16',
  fp8_e4m3: 'fp8',
  int8: 'int8',
};

/** The datasheet's rates of the device of this name for a type, out of the catalogue. */
export function datasheetPeak(catalogue: Catalogue, device_name: string, dtype: string): DatasheetPeak {
  const { entry, reason } = findAccelerator(catalogue, device_name);
  if (entry === null)
    return {
      accelerator: null,
      peak_flop_per_s: null,
      bandwidth_bytes_per_s: null,
      source: null,
      reason: `the catalogue does not know it: ${reason ?? `"${device_name}" has no entry`}`,
    };
  const type = Object.entries(numberTypeOf).find(([name]) => name === dtype)?.[1] ?? null;
  const peak = type === null ? null : entry.peak_flop_per_s[type];
  const keys = [...(entry.sources['peak'] ?? []), ...(entry.from_memory.includes('peak') ? ['memory'] : [])];
  return {
    accelerator: entry.id,
    peak_flop_per_s: peak,
    bandwidth_bytes_per_s: entry.memory_bandwidth_bytes_per_s,
    source: peak === null || keys.length === 0 ? null : keys.join(', '),
    reason: peak === null ? `the catalogue has no ${type ?? dtype} rate of ${entry.id}` : null,
  };
}

/** A measured rate as a share of the datasheet's; null while one of them isn't known. */
export const shareOf = (measured: number | null, datasheet: number | null): number | null =>
  measured === null || datasheet === null ? null : measured / datasheet;
