import { partTimeError } from './part-time.js';
import {
  type Booked,
  bookedAt,
  coveredLength,
  edgeError,
  isStale,
  powerNear,
  reaches,
  samplesIn,
} from './series-index.js';
import { idleSpans, totalLength } from './spans.js';
import type { EnergyReading, PowerSeries, Window } from './types.js';

/** Share of a window that samples must cover for its energy to be told. */
const COVERAGE_BAR = 0.95;

type Reason = EnergyReading['reason'];

const unknown = (reason: Reason, coverage_ratio: number, samples: number): EnergyReading => ({
  energy_j: null,
  lo_j: null,
  hi_j: null,
  coverage_ratio,
  samples,
  reason,
});

/** Energy booked over spans (J) in one column, edges interpolated. */
export const bookedOver = (series: PowerSeries, column: Booked, spans: readonly Window[]) =>
  spans.reduce(
    (sum, { start, end }) => sum + bookedAt(series, column, end) - bookedAt(series, column, start),
    0,
  );

/** Widens booked bounds (J) by an error at edges (J) and by what the sensor itself declares over `length_ns`. */
export function sensorBounds(
  series: PowerSeries,
  booked: { readonly energy_j: number; readonly lo_j: number; readonly hi_j: number },
  edges: { readonly error_j: number; readonly length_ns: number },
): { lo_j: number; hi_j: number } {
  const { kind, quantum, scale_error_ratio } = series.domain;
  const step = kind === 'gauge' ? ((quantum ?? 0) * edges.length_ns) / 1e9 : 0;
  const scale = scale_error_ratio ?? 0;
  const lo = (Math.min(booked.lo_j, booked.energy_j) - edges.error_j - step) * (1 - scale);
  const hi = (Math.max(booked.hi_j, booked.energy_j) + edges.error_j + step) * (1 + scale);
  return { lo_j: Math.max(lo, 0), hi_j: hi };
}

/**
 * Energy of one domain over spans of a window: the booked energy, interpolated at every edge.
 *
 * The bounds hold the recorder's own (gaps, alias, an estimator's band), an error for each outer edge (one update
 * period of the sensor at the power there, the interpolation between readings, one quantum), for each idle gap
 * between spans the smaller of its two edge errors and all the energy it may hold, what a sensor that looks for part of
 * the time may miss of steps in between (see `partTimeError`), and the declared scale error.
 * Null when samples end further from an edge than the longest gap (`not_covered`), when less than 95 % of the spans
 * lies between samples close enough together (`low_coverage`), where a counter of the total stood still for 5 s or 50
 * update periods (`stale_counter`: nothing that runs draws no power), and for spans of no length (`empty_window`).
 *
 * @param spans in order, not overlapping
 */
export function energyOverSpans(series: PowerSeries, spans: readonly Window[]): EnergyReading {
  const [first, last] = [spans[0], spans.at(-1)];
  const length_ns = totalLength(spans);
  if (first === undefined || last === undefined || length_ns <= 0) return unknown('empty_window', 0, 0);
  const hull = { start: first.start, end: last.end };
  const samples = spans.reduce((sum, span) => sum + samplesIn(series, span), 0);
  const coverage = spans.reduce((sum, span) => sum + coveredLength(series, span), 0) / length_ns;
  if (!reaches(series, hull)) return unknown('not_covered', coverage, samples);
  if (spans.some((span) => isStale(series, span))) return unknown('stale_counter', coverage, samples);
  if (coverage < COVERAGE_BAR) return unknown('low_coverage', coverage, samples);

  const energy_j = bookedOver(series, 'booked_j', spans);
  const booked = {
    energy_j,
    lo_j: bookedOver(series, 'lo_j', spans),
    hi_j: bookedOver(series, 'hi_j', spans),
  };
  const gaps = idleSpans(hull, spans).reduce((sum, { start, end }) => {
    const edges = edgeError(series, start) + edgeError(series, end);
    const most = Math.max(powerNear(series, start), powerNear(series, end)) * Number(end - start);
    return sum + Math.min(edges, most);
  }, 0);
  const error_j =
    edgeError(series, hull.start) + edgeError(series, hull.end) + gaps + partTimeError(series, hull);
  return {
    energy_j,
    ...sensorBounds(series, booked, { error_j, length_ns }),
    coverage_ratio: coverage,
    samples,
    reason: null,
  };
}

/** Energy of one domain over one window; see `energyOverSpans`. O(log n) once a series has been asked before. */
export const energyInWindow = (series: PowerSeries, window: Window): EnergyReading =>
  energyOverSpans(series, [window]);
