import type { Domain } from '@perwatt/core';
import type { PowerSeries, Window } from './types.js';

interface SeriesIndex {
  /** Time of the first sample, ns; times below count from it, as numbers, exact up to 104 days. */
  readonly origin_ns: bigint;
  readonly times: Float64Array;
  /** Median time between readings, and not less than the recorder aimed at; ns. */
  readonly interval_ns: number;
  /** Longest gap that energy is integrated over, ns. */
  readonly max_gap_ns: number;
  /** Time up to each sample that lies in intervals of at most `max_gap_ns`, ns. */
  readonly covered_ns: Float64Array;
  /** Spans in which a counter of the total stood still too long to be believed, in order; ns. */
  readonly stalls: readonly (readonly [from: number, to: number])[];
}

/** A counter counts on between readings: reading it faster than ten times a second makes no shorter gap one, ns. */
const COUNTER_GAP_NS = 3e8;

const indexes = new WeakMap<PowerSeries, SeriesIndex>();

/** What windows over a series have in common; computed once per series object, whose arrays must not change after. */
export function seriesIndex(series: PowerSeries): SeriesIndex {
  const known = indexes.get(series);
  if (known !== undefined) return known;
  const { at_ns, domain } = series;
  const origin_ns = at_ns[0] ?? 0n;
  const times = Float64Array.from(at_ns, (at) => Number(at - origin_ns));
  const gaps = times.slice(1).map((time, i) => time - numberAt(times, i));
  const interval_ns = Math.max(gaps.toSorted()[gaps.length >> 1] ?? 0, series.period_ns ?? 0);
  const least_ns = domain.kind === 'counter' ? COUNTER_GAP_NS : 0;
  const max_gap_ns = Math.max(3 * interval_ns, 3 * domain.update_period_ns, least_ns);
  const covered_ns = new Float64Array(times.length);
  gaps.forEach((gap, i) => {
    covered_ns[i + 1] = numberAt(covered_ns, i) + (gap <= max_gap_ns ? gap : 0);
  });
  const stalls = stallsOf(series, { times, max_gap_ns });
  const index = { origin_ns, times, interval_ns, max_gap_ns, covered_ns, stalls };
  indexes.set(series, index);
  return index;
}

/** Shortest time that a counter of something running can't stand still for, ns: 5 s, and never less than 50 updates. */
const stallFrom = ({ update_period_ns }: Domain): number => Math.max(50 * update_period_ns, 5e9);

/** Stretches of readings that follow one another without a gap and all show the same; a gap itself shows nothing. */
function stallsOf(
  { domain, booked_j }: PowerSeries,
  { times, max_gap_ns }: Pick<SeriesIndex, 'times' | 'max_gap_ns'>,
): [number, number][] {
  if (domain.kind !== 'counter' || !domain.in_total) return [];
  const stalls: [number, number][] = [];
  let first = 0;
  for (let i = 1; i <= times.length; i++) {
    const goesOn = numberAt(times, i) - numberAt(times, i - 1) <= max_gap_ns;
    if (booked_j[i] === booked_j[first] && goesOn) continue;
    const [from, to] = [numberAt(times, first), numberAt(times, i - 1)];
    if (to - from >= stallFrom(domain)) stalls.push([from, to]);
    first = i;
  }
  return stalls;
}

const numberAt = (values: Float64Array, index: number): number => values[index] ?? Number.NaN;

/**
 * Shortest duration that a series can be asked for in one piece with a worst error of 1 % at its edges: 200 update
 * periods of the sensor, and never less than two readings apart. In ns.
 */
export const shortestMeasurable = (series: PowerSeries): number =>
  Math.max(200 * series.domain.update_period_ns, 2 * seriesIndex(series).interval_ns);

/**
 * Shortest mean duration of phases of one series that follow one another, for an error of at most 1 % that every phase has
 * alike: `shortestMeasurable`, and 33 readings. Between readings power is taken to be steady, which moves a sixth of an interval's
 * energy over an edge on average, and a phase has two edges. In ns.
 */
export const shortestPhase = (series: PowerSeries): number =>
  Math.max(shortestMeasurable(series), 33 * seriesIndex(series).interval_ns);

/** Time since the first sample, ns. */
const since = ({ origin_ns }: SeriesIndex, at: bigint): number => Number(at - origin_ns);

/** Number of times at or before `time`. */
function countUpTo(times: Float64Array, time: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (numberAt(times, middle) <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Number of samples in the window. */
export function samplesIn(series: PowerSeries, { start, end }: Window): number {
  const index = seriesIndex(series);
  return countUpTo(index.times, since(index, end) - 1) - countUpTo(index.times, since(index, start) - 1);
}

/** Whether samples reach both edges of the window, or end within the longest gap of them. */
export function reaches(series: PowerSeries, { start, end }: Window): boolean {
  const index = seriesIndex(series);
  const last = numberAt(index.times, index.times.length - 1);
  if (index.times.length < 2) return false;
  return since(index, start) >= -index.max_gap_ns && since(index, end) - last <= index.max_gap_ns;
}

/** Whether a counter stood still for too long within the window, or over a part of it. */
export function isStale(series: PowerSeries, { start, end }: Window): boolean {
  const index = seriesIndex(series);
  const [from, to] = [since(index, start), since(index, end)];
  return index.stalls.some((stall) => stall[0] < to && from < stall[1]);
}

/** Index of the sample that begins the interval around `time`, clamped to the first and last interval. */
const intervalOf = ({ times }: SeriesIndex, time: number): number =>
  Math.min(Math.max(countUpTo(times, time) - 1, 0), times.length - 2);

export type Booked = 'booked_j' | 'lo_j' | 'hi_j';

/** Mean rate (J/ns) of a booked column from one sample to another; 0 where no time lies between. */
function rate(values: Float64Array, { times }: SeriesIndex, [from, to]: readonly [number, number]): number {
  const span = numberAt(times, to) - numberAt(times, from);
  return span > 0 ? (numberAt(values, to) - numberAt(values, from)) / span : 0;
}

/** Time over which power is told: one update period of the sensor or one reading interval, ns. */
const resolution = (series: PowerSeries, { interval_ns }: SeriesIndex): number =>
  Math.max(interval_ns, series.domain.update_period_ns, 1);

/** The first or the last samples that lie at least one resolution apart: their power is held beyond the series' end. */
function outermost(index: SeriesIndex, reach: number, end: 'first' | 'last'): readonly [number, number] {
  const { times } = index;
  const last = times.length - 1;
  if (end === 'first') return [0, Math.min(countUpTo(times, reach), last)];
  return [Math.max(countUpTo(times, numberAt(times, last) - reach) - 1, 0), last];
}

/** Booked energy (J) at a time since the first sample: linear between samples; beyond the ends the nearest power is held. */
function valueAt(series: PowerSeries, index: SeriesIndex, [column, time]: readonly [Booked, number]): number {
  const values = series[column];
  const last = index.times.length - 1;
  const end = numberAt(index.times, last);
  if (time < 0 || time > end) {
    const side = time < 0 ? 'first' : 'last';
    const beyond = time < 0 ? time : time - end;
    const power = rate(values, index, outermost(index, resolution(series, index), side));
    return numberAt(values, time < 0 ? 0 : last) + power * beyond;
  }
  const i = intervalOf(index, time);
  return numberAt(values, i) + rate(values, index, [i, i + 1]) * (time - numberAt(index.times, i));
}

/** Booked energy (J) at any time, edges interpolated. */
export function bookedAt(series: PowerSeries, column: Booked, at: bigint): number {
  const index = seriesIndex(series);
  return valueAt(series, index, [column, since(index, at)]);
}

/** Highest power (J/ns) near `at`: over one update period or reading interval on either side. */
export function powerNear(series: PowerSeries, at: bigint): number {
  const index = seriesIndex(series);
  const reach = resolution(series, index);
  const time = since(index, at);
  const value = (moment: number) => valueAt(series, index, ['booked_j', moment]);
  const here = value(time);
  return Math.max((here - value(time - reach)) / reach, (value(time + reach) - here) / reach, 0);
}

/** Error of linear interpolation when power steps between the intervals before and after, J. */
function interpolationError(series: PowerSeries, index: SeriesIndex, time: number): number {
  const { times } = index;
  const i = intervalOf(index, time);
  const [start, end] = [numberAt(times, i), numberAt(times, i + 1)];
  if (time <= start || time >= end) return 0;
  const rates = [Math.max(i - 1, 0), i, Math.min(i + 1, times.length - 2)].map((k) =>
    rate(series.booked_j, index, [k, k + 1]),
  );
  const share = (time - start) / (end - start);
  return share * (1 - share) * (end - start) * (Math.max(...rates) - Math.min(...rates));
}

/**
 * How far the booked energy at `at` may lie from the truth, J: one update period of the sensor at the power around it,
 * the interpolation between readings, one quantum of a counter, and the held power where no sample reaches `at`.
 */
export function edgeError(series: PowerSeries, at: bigint): number {
  const { domain } = series;
  const index = seriesIndex(series);
  const time = since(index, at);
  const beyond = Math.max(-time, time - numberAt(index.times, index.times.length - 1), 0);
  const quantum = domain.kind === 'counter' ? (domain.quantum ?? 0) : 0;
  const held = powerNear(series, at) * (domain.update_period_ns + beyond);
  return held + interpolationError(series, index, time) + quantum;
}

/** Time up to `time`, between the first and the last sample, that lies in intervals of at most the longest gap; ns. */
function coveredUpTo({ times, covered_ns, max_gap_ns }: SeriesIndex, time: number): number {
  const i = countUpTo(times, time) - 1;
  const gap = numberAt(times, i + 1) - numberAt(times, i);
  return numberAt(covered_ns, i) + (gap <= max_gap_ns ? time - numberAt(times, i) : 0);
}

/**
 * Time of the window that lies between samples close enough together, edges taken as samples; ns. An edge that lies
 * further from the samples than the longest gap adds nothing.
 */
export function coveredLength(series: PowerSeries, { start, end }: Window): number {
  const index = seriesIndex(series);
  if (index.times.length < 2) return 0;
  const last = numberAt(index.times, index.times.length - 1);
  const [from, to] = [since(index, start), since(index, end)];
  const inside = (time: number) => coveredUpTo(index, Math.min(Math.max(time, 0), last));
  const near = (gap: number, length: number) => (gap <= index.max_gap_ns ? Math.max(length, 0) : 0);
  const head = near(-from, Math.min(to, 0) - from);
  const tail = near(to - last, to - Math.max(from, last));
  return inside(to) - inside(from) + head + tail;
}
