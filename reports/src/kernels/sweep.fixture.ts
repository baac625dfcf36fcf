import { type KernelRow, kernels } from '@perwatt/core';

const empty = Object.fromEntries(
  Object.entries(kernels).map(([name, { type, nullable }]) => [
    name,
    nullable ? null : type === 'name' ? name : 0,
  ]),
) as KernelRow;

/** A row with nothing but what it must have. */
export const blankRow = (change: Partial<KernelRow>): KernelRow => ({ ...empty, status: 'ok', ...change });

/** Rows of a sweep on a processor of 10 GB/s and 50 GFLOP/s: 10 pJ a FLOP, 100 pJ a byte, 30 W beside. */
export const sweepOf = (change: Partial<KernelRow> = {}): KernelRow[] =>
  [1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 128, 256].map((k) => {
    const n = 1_250_000;
    const [flop, bytes] = [2 * n * k, 8 * n];
    const time_ns = Math.max(flop / 50, bytes / 10);
    const energy_j = flop * 10e-12 + bytes * 100e-12 + 30 * time_ns * 1e-9;
    return blankRow({
      device: 'cpu:0',
      device_name: 'A <processor>',
      backend: 'cpu',
      implementation: 'cpu/own-chain',
      kernel: 'fma',
      dtype: 'f32',
      n,
      k,
      flop,
      bytes,
      time_mean_ns: time_ns,
      energy_gross_j: energy_j,
      energy_lo_j: 0.99 * energy_j,
      energy_hi_j: 1.01 * energy_j,
      energy_power_w: (energy_j / time_ns) * 1e9,
      energy_windows: 3,
      energy_window_ns: 5e9,
      energy_launches: (3 * 5e9) / time_ns,
      energy_scope: 'package',
      energy_provenance: 'counter',
      ...change,
    });
  });
