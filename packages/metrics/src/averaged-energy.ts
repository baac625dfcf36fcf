import { type Instant, instant } from '@perwatt/core';
import { energyInWindow } from './energy-window.js';
import type { EnergyReading, PowerSeries, Window } from './types.js';

/** Windows shorter than this many widths of the average are refused: its smear is then most of the reading. */
const FEWEST_WIDTHS = 5;

export interface AveragedOptions {
  /** Length of the sensor's trailing average, ns. */
  readonly width_ns: number;
  /** Power before the window, and after it once the load has ended, W. */
  readonly idle_w: number;
}

/** Energy from a sensor that shows a trailing average. `too_short`: the window is less than five of its widths. */
export type AveragedReading = Omit<EnergyReading, 'reason'> & {
  readonly reason: EnergyReading['reason'] | 'too_short';
};

/**
 * Energy of a window by a sensor that shows the mean of the last `width_ns`: what the window holds reaches the sensor up
 * to one width later, so it is read that much longer and the idle energy of that time taken off. Exact when the load
 * returns to the power it came from. Bounds are those of the longer reading.
 */
export function averagedEnergy(
  series: PowerSeries,
  { start, end }: Window,
  { width_ns, idle_w }: AveragedOptions,
): AveragedReading {
  const longer = energyInWindow(series, { start, end: later(end, width_ns) });
  if (Number(end - start) < FEWEST_WIDTHS * width_ns)
    return { ...longer, energy_j: null, lo_j: null, hi_j: null, reason: 'too_short' };
  const idle_j = (idle_w * width_ns) / 1e9;
  const without = (energy: number | null) => (energy === null ? null : energy - idle_j);
  return {
    ...longer,
    energy_j: without(longer.energy_j),
    lo_j: without(longer.lo_j),
    hi_j: without(longer.hi_j),
  };
}

const later = (at: Instant, ns: number): Instant => instant(at + BigInt(Math.round(ns)));
