import type { Sampling } from './cell-sampling.js';
import type { MetricValue } from './cell-types.js';

/** Gross or net energy of a cell with the bounds of its sensors, J. */
export interface Energy {
  readonly value: number;
  readonly lo: number;
  readonly hi: number;
  /** Why a ratio over it means nothing; null when it does. */
  readonly unresolved: 'no_energy' | 'net_not_resolved' | null;
}

export interface Bounds {
  readonly lo: number | null;
  readonly hi: number | null;
}

/**
 * A figure at both ends of the sensor's bounds: `of` gives it for an energy. A ratio over energy (`over`) that may be 0 has
 * no upper bound.
 */
export function sensorInterval(
  { of, over }: { readonly of: (energy_j: number) => number | null; readonly over: boolean },
  energy: Energy,
): Bounds {
  const [atLo, atHi] = [of(energy.lo), of(energy.hi)];
  if (atLo === null || atHi === null) return { lo: over ? atHi : null, hi: null };
  return { lo: Math.min(atLo, atHi), hi: Math.max(atLo, atHi) };
}

/** A sampling interval with the sensor's bounds added on either side; no bound where the sensor has none. */
function widened(sampling: Sampling, sensor: Bounds, value: number): Bounds {
  const positive = sampling.lo >= 0 && value > 0;
  const reach = (end: number, bound: number | null): number | null => {
    if (bound === null) return null;
    return positive ? end * (bound / value) : end + (bound - value);
  };
  return { lo: reach(sampling.lo, sensor.lo), hi: reach(sampling.hi, sensor.hi) };
}

interface Parts {
  readonly sampling: Sampling | null;
  readonly sensor: Bounds;
  readonly value: number;
  /** Whether the sensor's bounds belong into the interval even where the spread over repeats is known. */
  readonly shared_error: boolean;
}

/**
 * The interval that stands beside the value. Over repeats where their spread is known; the sensor's bounds are added where all
 * repeats share an error that no spread shows (a net figure's baseline, an estimator's curve). With fewer repeats the
 * sensor's bounds, and for figures of accuracy another draw of items too.
 */
export function joinedInterval({
  sampling,
  sensor,
  value,
  shared_error,
}: Parts): Pick<MetricValue, 'lo' | 'hi' | 'interval'> {
  if (sampling === null) return { ...sensor, interval: 'sensor_bounds' };
  if (!sampling.over_repeats) return { ...widened(sampling, sensor, value), interval: 'items_and_sensor' };
  if (!shared_error) return { lo: sampling.lo, hi: sampling.hi, interval: 'repeats_t' };
  return { ...widened(sampling, sensor, value), interval: 'repeats_and_sensor' };
}
