import { type Instant, instant } from '@perwatt/core';
import type { PowerSeries, Window } from './types.js';

interface SeriesIndex {
  /** Median time between readings, ns. */
  readonly interval_ns: number;
  /** Longest gap that energy is integrated over, ns. */
  readonly max_gap_ns: number;
  /** Time up to each sample that lies in intervals of at most `max_gap_ns`, ns. */
  readonly covered_ns: Float64Array;
}

const indexes = new WeakMap<PowerSeries, SeriesIndex>();

/** What windows over a series have in common; computed once per series object, whose arrays must not change after. */
export function seriesIndex(series: PowerSeries): SeriesIndex {
  const known = indexes.get(series);
  if (known !== undefined) return known;
  const { at_ns, domain } = series;
  const gaps = Float64Array.from({ length: Math.max(0, at_ns.length - 1) }, (_, i) =>
    Number(timeAt(series, i + 1) - timeAt(series, i)),
  );
  const interval_ns = gaps.toSorted()[gaps.length >> 1] ?? 0;
  const max_gap_ns = Math.max(3 * interval_ns, 3 * domain.update_period_ns);
  const covered_ns = new Float64Array(at_ns.length);
  let covered = 0;
  gaps.forEach((gap, i) => {
    covered += gap <= max_gap_ns ? gap : 0;
    covered_ns[i + 1] = covered;
  });
  const index = { interval_ns, max_gap_ns, covered_ns };
  indexes.set(series, index);
  return index;
}

/**
 * Shortest duration that a series can be asked for in one piece with a worst error of 1 % at its edges: 200 update
 * periods of the sensor, and never less than two readings apart. In ns.
 */
export const shortestMeasurable = (series: PowerSeries): number =>
  Math.max(200 * series.domain.update_period_ns, 2 * seriesIndex(series).interval_ns);

export const timeAt = (series: PowerSeries, index: number): Instant => instant(series.at_ns[index] ?? 0n);
const numberAt = (values: Float64Array, index: number): number => values[index] ?? Number.NaN;

/** Number of samples at or before `at`. */
export function samplesUpTo(series: PowerSeries, at: bigint): number {
  let low = 0;
  let high = series.at_ns.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (timeAt(series, middle) <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Whether samples reach both edges of the window, or end within the longest gap of them. */
export function reaches(series: PowerSeries, window: Window): boolean {
  const last = series.at_ns.length - 1;
  if (last < 1) return false;
  const { max_gap_ns } = seriesIndex(series);
  return (
    Number(timeAt(series, 0) - window.start) <= max_gap_ns &&
    Number(window.end - timeAt(series, last)) <= max_gap_ns
  );
}

/** Index of the sample that begins the interval around `at`, clamped to the first and last interval. */
const intervalOf = (series: PowerSeries, at: bigint): number =>
  Math.min(Math.max(samplesUpTo(series, at) - 1, 0), series.at_ns.length - 2);

type Booked = 'booked_j' | 'lo_j' | 'hi_j';

/** Mean rate (J/ns) of a booked column from sample `from` to sample `to`; 0 where no time lies between. */
function rate(series: PowerSeries, column: Booked, [from, to]: readonly [number, number]): number {
  const span = Number(timeAt(series, to) - timeAt(series, from));
  return span > 0 ? (numberAt(series[column], to) - numberAt(series[column], from)) / span : 0;
}

/** The first or last samples that lie at least one reading interval apart: the power held beyond the series' end. */
function outermost(series: PowerSeries, at: bigint): readonly [number, number] {
  const last = series.at_ns.length - 1;
  const { interval_ns } = seriesIndex(series);
  const reach = BigInt(Math.round(Math.max(interval_ns, series.domain.update_period_ns)));
  if (at < timeAt(series, 0))
    return [0, Math.min(Math.max(samplesUpTo(series, timeAt(series, 0) + reach), 1), last)];
  return [Math.max(samplesUpTo(series, timeAt(series, last) - reach) - 1, 0), last];
}

/** Booked energy (J) at any time: linear between samples; beyond the ends the nearest power is held. */
export function bookedAt(series: PowerSeries, column: Booked, at: bigint): number {
  const last = series.at_ns.length - 1;
  const values = series[column];
  if (at < timeAt(series, 0)) {
    return numberAt(values, 0) - rate(series, column, outermost(series, at)) * Number(timeAt(series, 0) - at);
  }
  if (at > timeAt(series, last)) {
    return (
      numberAt(values, last) + rate(series, column, outermost(series, at)) * Number(at - timeAt(series, last))
    );
  }
  const i = intervalOf(series, at);
  return numberAt(values, i) + rate(series, column, [i, i + 1]) * Number(at - timeAt(series, i));
}

/** Highest power (J/ns) near `at`: over one update period or reading interval on either side. */
export function powerNear(series: PowerSeries, at: bigint): number {
  const reach = BigInt(
    Math.ceil(Math.max(seriesIndex(series).interval_ns, series.domain.update_period_ns, 1)),
  );
  const here = bookedAt(series, 'booked_j', at);
  const before = (here - bookedAt(series, 'booked_j', at - reach)) / Number(reach);
  const after = (bookedAt(series, 'booked_j', at + reach) - here) / Number(reach);
  return Math.max(before, after, 0);
}

/** Error of linear interpolation at `at` when power steps between the intervals before and after, J. */
function interpolationError(series: PowerSeries, at: bigint): number {
  const last = series.at_ns.length - 1;
  const i = intervalOf(series, at);
  const [start, end] = [timeAt(series, i), timeAt(series, i + 1)];
  if (at <= start || at >= end) return 0;
  const rates = [Math.max(i - 1, 0), i, Math.min(i + 1, last - 1)].map((k) =>
    rate(series, 'booked_j', [k, k + 1]),
  );
  const span = Number(end - start);
  const share = Number(at - start) / span;
  return share * (1 - share) * span * (Math.max(...rates) - Math.min(...rates));
}

/**
 * How far the booked energy at `at` may lie from the truth, J: one update period of the sensor at the power around it,
 * the interpolation between readings, one quantum of a counter, and the held power where no sample reaches `at`.
 */
export function edgeError(series: PowerSeries, at: bigint): number {
  const { domain } = series;
  const last = series.at_ns.length - 1;
  const beyond = Math.max(Number(timeAt(series, 0) - at), Number(at - timeAt(series, last)), 0);
  const quantum = domain.kind === 'counter' ? (domain.quantum ?? 0) : 0;
  return (
    powerNear(series, at) * (domain.update_period_ns + beyond) + interpolationError(series, at) + quantum
  );
}

function coveredUpTo(series: PowerSeries, at: bigint): number {
  const { covered_ns, max_gap_ns } = seriesIndex(series);
  const last = series.at_ns.length - 1;
  if (at <= timeAt(series, 0)) return Math.max(Number(at - timeAt(series, 0)), -max_gap_ns);
  if (at >= timeAt(series, last)) {
    return numberAt(covered_ns, last) + Math.min(Number(at - timeAt(series, last)), max_gap_ns);
  }
  const i = intervalOf(series, at);
  const gap = Number(timeAt(series, i + 1) - timeAt(series, i));
  return numberAt(covered_ns, i) + (gap <= max_gap_ns ? Number(at - timeAt(series, i)) : 0);
}

/** Time of the window that lies between samples close enough together, edges taken as samples; ns. */
export const coveredLength = (series: PowerSeries, { start, end }: Window): number =>
  series.at_ns.length < 2 ? 0 : coveredUpTo(series, end) - coveredUpTo(series, start);
