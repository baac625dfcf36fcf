import type { KernelRow } from '@perwatt/core';
import { type KernelSession, type KernelStep, readKernels } from '@perwatt/records';
import type { SiteRun } from '../site/site-model.js';

/** The kernel runs of one run of a site, with its cells beside them. */
export interface KernelSet {
  readonly run: SiteRun;
  readonly sessions: readonly KernelSession[];
  readonly rows: readonly KernelRow[];
  /** What is not as it was written, in words. */
  readonly torn: readonly string[];
}

/** Kernel runs of a site, by run; runs without any are left out. */
export const kernelSets = (runs: readonly SiteRun[]): KernelSet[] =>
  runs.flatMap((run) => {
    const found = run.run === null ? null : readKernels(run.run.path);
    if (found === null) return [];
    const torn = found.torn.map(({ file, reason, rows }) => `${file}: ${reason}; ${rows} rows were read`);
    return [{ run, sessions: found.sessions, rows: found.rows, torn }];
  });

/** Rows of one device. */
export interface DeviceRows {
  /** Name for readers, with its host where there are several. */
  readonly name: string;
  readonly device: string;
  readonly rows: readonly KernelRow[];
}

/** Rows by device; devices of several hosts stay apart. */
export function byDevice(sets: readonly KernelSet[]): DeviceRows[] {
  const several = new Set(sets.map(({ run }) => run.results.host.hostname)).size > 1;
  return sets.flatMap(({ run, rows }) => {
    const devices = [...new Map(rows.map((row) => [row.device, row.device_name]))];
    return devices.map(([device, device_name]) => ({
      device,
      name: `${device_name} (${device}${several ? ` on ${run.results.host.hostname}` : ''})`,
      rows: rows.filter((row) => row.device === device),
    }));
  });
}

/**
 * A row of each device and type that has its ceilings, those of the last session. Multiply-adds of a sweep compute in 32 bits whatever
 * they read, and have the peak of no other type.
 */
export const ceilingRows = (rows: readonly KernelRow[]): KernelRow[] => [
  ...new Map(
    rows
      .filter(({ kernel, dtype }) => kernel !== 'fma' || dtype === 'f32')
      .filter((row) => row.peak_flop_per_s !== null || row.bandwidth_bytes_per_s !== null)
      .map((row) => [`${row.device} ${row.dtype}`, row]),
  ).values(),
];

/** The kernel's shape in words: sizes that it has, then what else tells it apart. */
export function shapeOf(row: KernelRow): string {
  const { m, n, k, batch, group, heads, kv_heads, head_dim, length, prefix, suffix, rows, width } = row;
  const sizes = { m, n, k, batch, group, heads, kv_heads, head_dim, length, prefix, suffix, rows, width };
  const words = Object.entries(sizes).flatMap(([name, size]) => (size === null ? [] : [`${name} ${size}`]));
  return [...words, ...(row.options === null ? [] : [row.options])].join(', ');
}

/** A step in words. */
export const stepName = ({ model, phase, batch, context, weights }: KernelStep): string =>
  `${model}, ${phase}, batch ${batch}, context ${context}, weights ${weights}`;
