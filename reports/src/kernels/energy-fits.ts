import type { KernelRow } from '@perwatt/core';
import type { KernelFit } from '@perwatt/records';
import { type FitPoint, fitEnergy } from './fit-energy.js';

/**
 * Fits of the intensity sweeps of a session, one for each device, implementation and type, out of the rows of the table alone.
 * Without energy, or with too few intensities, there is a reason in its place. A kernel that was run at one intensity only is no
 * sweep.
 */
export function energyFits(rows: readonly KernelRow[], session: number): KernelFit[] {
  const groups = new Map<string, KernelRow[]>();
  for (const row of rows) {
    if (row.kernel !== 'fma' || row.session !== session || row.status !== 'ok') continue;
    const key = [row.device, row.implementation, row.dtype].join('|');
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return [...groups.values()]
    .filter((group) => new Set(group.map(({ flop, bytes }) => flop / bytes)).size > 1)
    .flatMap(fitOf);
}

function fitOf(rows: readonly KernelRow[]): KernelFit[] {
  const [first] = rows;
  if (first === undefined) return [];
  const points = rows.flatMap((row) => pointOf(row) ?? []);
  const metered = rows.find(({ energy_gross_j }) => energy_gross_j !== null);
  const { fit, reason } = fitEnergy(points);
  const none = points.length === 0 ? `no energy: ${first.energy_reason ?? 'no reason is kept'}` : reason;
  return [
    {
      device: first.device,
      device_name: first.device_name,
      implementation: first.implementation,
      dtype: first.dtype,
      scope: metered?.energy_scope ?? null,
      provenance: metered?.energy_provenance ?? null,
      fit,
      reason: none,
    },
  ];
}

/** FLOP, bytes, time and gross energy of one launch, all within the energy windows; null without energy. */
export function pointOf({
  flop,
  bytes,
  energy_gross_j,
  energy_windows,
  energy_window_ns,
  energy_launches,
}: KernelRow): FitPoint | null {
  if (energy_gross_j === null || energy_window_ns === null || energy_launches === null) return null;
  const duration_s = ((energy_windows * energy_window_ns) / energy_launches) * 1e-9;
  return { flop, bytes, duration_s, energy_j: energy_gross_j };
}

/** The rows that a fit is of, by rising intensity. */
export const sweepRows = (
  rows: readonly KernelRow[],
  { device, implementation, dtype }: KernelFit,
  session: number,
): KernelRow[] =>
  rows
    .filter(
      (row) =>
        row.kernel === 'fma' &&
        row.status === 'ok' &&
        row.session === session &&
        row.device === device &&
        row.implementation === implementation &&
        row.dtype === dtype,
    )
    .toSorted((a, b) => a.flop / a.bytes - b.flop / b.bytes);
