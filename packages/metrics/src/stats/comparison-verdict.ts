import type { CellEnergy } from '../cell-types.js';
import { FEWEST_REPEATS, SPREAD_UNKNOWN } from './run-spread.js';

/** What two systems are called after everything known of their difference. */
export type ComparisonVerdict = 'different' | 'within noise' | 'not resolved by the sensors';

/** What the sensors behind one side's energy allow. */
export interface SensorBand {
  /** Energy and its bounds as the sensors tell them, J, scale error included. */
  readonly energy_j: number;
  readonly lo_j: number;
  readonly hi_j: number;
  /** Declared scale error that is part of the bounds, 0…1; null when nobody declares one. */
  readonly scale_error_ratio: number | null;
  /** Names the physical sensors: host and domains. The scale error cancels only where both sides have the same. */
  readonly sensor: string;
}

/** Everything a verdict is made of. */
export interface ComparisonInput {
  /** `ratio`: B over A, none is 1. `difference`: B less A, none is 0. */
  readonly scale: 'ratio' | 'difference';
  /** The 95 % sampling interval; null where the figures can't be compared. */
  readonly estimate: { readonly value: number; readonly lo: number; readonly hi: number } | null;
  /** Null for figures without energy. */
  readonly energy: {
    readonly a: SensorBand;
    readonly b: SensorBand;
    /** 1 where the figure grows with energy, −1 where it divides by it (IPW, IPJ). */
    readonly power: 1 | -1;
    /** The figure of A and of B, for a difference. */
    readonly values?: readonly [a: number, b: number];
    /** Repeats shared by both. */
    readonly repeats: number;
    /** Whether a declared spread of imported figures is in the interval; it stands for repeats. */
    readonly declared_spread?: boolean;
  } | null;
}

/** A verdict in words, with the interval that it was read off. */
export interface ComparisonResult {
  /** Null with a reason where there is nothing to judge. */
  readonly verdict: ComparisonVerdict | null;
  readonly reason: string;
  /** The sampling interval widened by what the sensors allow; the sampling interval where there is no energy. */
  readonly lo: number | null;
  readonly hi: number | null;
}

/** Bounds relative to the energy, without the scale error where it cancels. */
function relativeBand(band: SensorBand, cancels: boolean): [lo: number, hi: number] | null {
  const { energy_j, lo_j, hi_j } = band;
  const scale = cancels ? (band.scale_error_ratio ?? 0) : 0;
  const lo = Math.min(lo_j / (1 - scale), energy_j) / energy_j;
  const hi = Math.max(hi_j / (1 + scale), energy_j) / energy_j;
  return energy_j > 0 && scale < 1 && Number.isFinite(lo + hi) ? [lo, hi] : null;
}

/** Least and most that a figure can be, relative to itself. An energy that may be 0 bounds what divides by it on one side only. */
function figureBand([lo, hi]: [number, number], power: 1 | -1): [number, number] {
  return power === 1 ? [lo, hi] : [1 / hi, lo > 0 ? 1 / lo : Number.POSITIVE_INFINITY];
}

type Energy = NonNullable<ComparisonInput['energy']>;

/** The interval with the sensors' bounds in it; null where they can't be told. */
function widened({ scale, estimate }: ComparisonInput, energy: Energy): { lo: number; hi: number } | null {
  const same = energy.a.sensor === energy.b.sensor;
  const [a, b] = [relativeBand(energy.a, same), relativeBand(energy.b, same)];
  if (a === null || b === null || estimate === null) return null;
  const [bandA, bandB] = [figureBand(a, energy.power), figureBand(b, energy.power)];
  if (scale === 'ratio') {
    const least = bandB[0] / bandA[1];
    return {
      lo: estimate.lo * least,
      hi: bandA[0] > 0 ? estimate.hi * (bandB[1] / bandA[0]) : Number.POSITIVE_INFINITY,
    };
  }
  const [valueA, valueB] = energy.values ?? [Number.NaN, Number.NaN];
  const lo = estimate.lo - valueB * (1 - bandB[0]) - valueA * (bandA[1] - 1);
  const hi = estimate.hi + valueB * (bandB[1] - 1) + valueA * (1 - bandA[0]);
  return Number.isNaN(lo + hi) ? null : { lo, hi };
}

const holds = ({ lo, hi }: { lo: number; hi: number }, none: number): boolean => lo <= none && none <= hi;

const withinNoise = (reason: string, interval: { lo: number; hi: number }): ComparisonResult => ({
  verdict: 'within noise',
  reason,
  lo: interval.lo,
  hi: interval.hi,
});

const nothing = (reason: string): ComparisonResult => ({ verdict: null, reason, lo: null, hi: null });

function energyVerdict(input: ComparisonInput, energy: Energy, none: number): ComparisonResult {
  const { estimate } = input;
  const both = widened(input, energy);
  if (estimate === null || both === null) return nothing("the sensors' bounds are not known");
  if (holds(estimate, none)) return withinNoise('the 95 % interval includes no difference', both);
  if (holds(both, none)) {
    return {
      verdict: 'not resolved by the sensors',
      reason: 'the 95 % interval excludes no difference, but the bounds of the sensors allow it',
      ...both,
    };
  }
  if (energy.repeats < FEWEST_REPEATS && energy.declared_spread !== true)
    return withinNoise(`${SPREAD_UNKNOWN}: fewer than ${FEWEST_REPEATS} shared repeats`, both);
  return {
    verdict: 'different',
    reason: 'the 95 % interval and the bounds of the sensors exclude no difference',
    ...both,
  };
}

/**
 * The verdict on two systems from the sampling interval, the sensors' bounds and the number of repeats.
 *
 * *within noise* when the sampling interval includes no difference, and for energy with fewer than three shared repeats
 * however far apart the figures lie; *not resolved by the sensors* when their bounds, added to the interval, include it;
 * *different* otherwise. The scale error leaves the bounds only where both sides were read from the same physical
 * sensor. Null where there is no interval or its ends aren't numbers.
 */
export function comparisonVerdict(input: ComparisonInput): ComparisonResult {
  const { scale, estimate, energy } = input;
  const none = scale === 'ratio' ? 1 : 0;
  if (estimate === null) return nothing('there is no interval to judge by');
  if (Number.isNaN(estimate.lo + estimate.hi) || !Number.isFinite(estimate.value))
    return nothing('the interval is not made of numbers');
  if (energy !== null) return energyVerdict(input, energy, none);
  if (holds(estimate, none)) return withinNoise('the 95 % interval includes no difference', estimate);
  return {
    verdict: 'different',
    reason: 'the 95 % interval excludes no difference',
    lo: estimate.lo,
    hi: estimate.hi,
  };
}

/**
 * The band of a cell's gross energy for a verdict. `host` tells machines apart whose domains have the same names. The scale
 * error is the smallest of the boundary's domains: no more than that is sure to cancel. Null without energy.
 */
export function sensorBandOf(
  energy: Pick<CellEnergy, 'gross_j' | 'gross_lo_j' | 'gross_hi_j' | 'boundary'>,
  host: string,
): SensorBand | null {
  const { gross_j, gross_lo_j, gross_hi_j, boundary } = energy;
  if (gross_j === null || gross_lo_j === null || gross_hi_j === null || boundary === null) return null;
  const errors = boundary.domains.map(({ scale_error_ratio }) => scale_error_ratio ?? 0);
  const names = boundary.domains.map((domain) => `${domain.host ?? host}/${domain.id}`);
  return {
    energy_j: gross_j,
    lo_j: gross_lo_j,
    hi_j: gross_hi_j,
    scale_error_ratio: errors.length === 0 ? null : Math.min(...errors),
    sensor: names.sort().join(' '),
  };
}
