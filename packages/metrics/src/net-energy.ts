import { elapsed, type Instant } from '@perwatt/core';
import type { Window } from './types.js';

/** Idle power at one time: the middle of the span it was taken over, its mean and 95 % interval. */
export interface BaselinePoint {
  readonly at: Instant;
  readonly power_w: number;
  readonly lo_w: number;
  readonly hi_w: number;
}

/** Gross energy, and the idle power before and after; a baseline that was not taken is null. */
export interface NetInput {
  /** Energy with the bounds of its sensor, J. */
  readonly gross: { readonly energy_j: number; readonly lo_j: number; readonly hi_j: number };
  /** Where the energy was spent; the baseline is taken at its middle. */
  readonly window: Window;
  /** Time that the energy was summed over, ns: the window's length unless only its busy spans count. */
  readonly length_ns: number;
  readonly before: BaselinePoint | null;
  readonly after: BaselinePoint | null;
}

/** Gross energy less the baseline. May be negative; all null without a baseline. */
export interface NetEnergy {
  readonly energy_j: number | null;
  readonly lo_j: number | null;
  readonly hi_j: number | null;
  /** Baseline in the middle of the window, W. */
  readonly baseline_w: number | null;
  /** Baseline after over baseline before, less 1; null unless both were taken and the first is above 0. */
  readonly drift_ratio: number | null;
  /** Whether the interval excludes 0, so that a ratio over it means something. */
  readonly resolved: boolean;
  readonly reason: 'no_baseline' | null;
}

const half = ({ lo_w, hi_w }: BaselinePoint): number => (hi_w - lo_w) / 2;

/** Baseline between two points in time: linear, its half-width joined with half the drift in quadrature. */
function between(
  before: BaselinePoint,
  after: BaselinePoint,
  at: Instant,
): { power_w: number; half_w: number } {
  const span = elapsed(before.at, after.at);
  const share = span > 0 ? Math.min(Math.max(elapsed(before.at, at) / span, 0), 1) : 0.5;
  const drift = after.power_w - before.power_w;
  return {
    power_w: before.power_w + share * drift,
    half_w: Math.hypot((1 - share) * half(before), share * half(after), drift / 2),
  };
}

/**
 * Net energy: gross less baseline power times time, never clamped.
 *
 * The baseline is interpolated linearly between the one before and the one after to the middle of the window; its 95 %
 * half-width joins both intervals and half their difference (nobody saw the way from one to the other) in quadrature.
 * With one baseline that one holds. The interval adds the sensor bounds of the gross energy to it.
 */
export function netEnergy({ gross, window, length_ns, before, after }: NetInput): NetEnergy {
  const only = before ?? after;
  if (only === null) {
    return {
      energy_j: null,
      lo_j: null,
      hi_j: null,
      baseline_w: null,
      drift_ratio: null,
      resolved: false,
      reason: 'no_baseline',
    };
  }
  const middle = (window.start + (window.end - window.start) / 2n) as Instant;
  const { power_w, half_w } =
    before !== null && after !== null
      ? between(before, after, middle)
      : { power_w: only.power_w, half_w: half(only) };
  const seconds = length_ns / 1e9;
  const lo_j = gross.lo_j - (power_w + half_w) * seconds;
  const hi_j = gross.hi_j - (power_w - half_w) * seconds;
  const drifted = before !== null && after !== null && before.power_w > 0;
  return {
    energy_j: gross.energy_j - power_w * seconds,
    lo_j,
    hi_j,
    baseline_w: power_w,
    drift_ratio: drifted ? after.power_w / before.power_w - 1 : null,
    resolved: lo_j > 0 || hi_j < 0,
    reason: null,
  };
}
