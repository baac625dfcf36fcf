import { blindEvents, type Domain, instant, PerwattError } from '@perwatt/core';
import type { PowerSeries, Window } from '@perwatt/metrics';
import { replayGauge } from '@perwatt/native-power';
import { bookCounter, type CounterInput } from './counter.js';
import { type Fields, mostPoints } from './fields.js';
import { ns } from './outcome.js';

/** Readings of a power sensor: s and W; null where there was none. */
export type Points = readonly (readonly [seconds: number, watts: number | null])[];

/** More than anything in a fixture draws, W. */
const CAP_W = 1_000_000;

const domainOf = (kind: 'counter' | 'gauge', update_period_ns: number): Domain => ({
  id: 'replay',
  source: 'replay',
  scope: 'system',
  kind,
  provenance: 'replayed',
  in_total: true,
  update_period_ns,
  quantum: null,
  scale_error_ratio: null,
  note: null,
});

interface Booked {
  readonly events: readonly string[];
  readonly booked_j: Float64Array;
  readonly booked_lo_j: Float64Array;
  readonly booked_hi_j: Float64Array;
}

/** Events whose reading stands in a series: those that a later one would repeat, or that have no time of their own, don't. */
const silent: ReadonlySet<string> = blindEvents;

function seriesOf(domain: Domain, at_ns: readonly number[], booked: Booked): PowerSeries {
  const kept = booked.events.flatMap((event, i) => (silent.has(event) ? [] : [i]));
  const column = (values: Float64Array) => Float64Array.from(kept, (i) => values[i] ?? 0);
  return {
    domain,
    at_ns: BigInt64Array.from(kept, (i) => BigInt(at_ns[i] ?? 0)),
    booked_j: column(booked.booked_j),
    lo_j: column(booked.booked_lo_j),
    hi_j: column(booked.booked_hi_j),
  };
}

/** A counter's numbers, booked and laid out for windows. */
export const counterSeries = (input: CounterInput): PowerSeries =>
  seriesOf(domainOf('counter', input.update_period_ns), input.at_ns, bookCounter(input));

/** A sensor's readings, booked and laid out for windows. Without a longest gap: three times the median interval. */
export function gaugeSeries(points: Points, max_gap_s = 3 * medianInterval(points)): PowerSeries {
  const at_ns = points.map(([seconds]) => ns(seconds));
  const booking = replayGauge({
    max_gap_ns: ns(max_gap_s),
    cap_w: CAP_W,
    at_ns,
    power_w: points.map(([, watts]) => watts ?? undefined),
  });
  return seriesOf(domainOf('gauge', ns(max_gap_s / 3)), at_ns, booking);
}

function medianInterval(points: Points): number {
  const gaps = points.slice(1).map(([seconds], i) => seconds - (points[i]?.[0] ?? seconds));
  return gaps.toSorted((a, b) => a - b)[gaps.length >> 1] ?? 0;
}

/** A steady draw, read at `hz` from `t0` to `t1`, both included. */
export function constantPoints(spec: Fields): Points {
  const [watts, hz, t0, t1] = ['w', 'hz', 't0', 't1'].map((name) => spec.number(name)) as [
    number,
    number,
    number,
    number,
  ];
  return evenly(t0, t1, hz).map((seconds) => [seconds, watts]);
}

/** Times from `t0` to `t1` (s), both included, `hz` a second. Throws `INPUT_INVALID` for more than a million, or none. */
export function evenly(t0: number, t1: number, hz: number): number[] {
  const length = Math.round((t1 - t0) * hz) + 1;
  if (hz > 0 && length > 0 && length <= mostPoints) return Array.from({ length }, (_, i) => t0 + i / hz);
  throw new PerwattError('INPUT_INVALID', `from ${t0} s to ${t1} s at ${hz} Hz are ${length} points`, {
    hint: `Ask for 1 to ${mostPoints} of them.`,
  });
}

export const windowAt = (start_s: number, end_s: number): Window => ({
  start: instant(BigInt(ns(start_s))),
  end: instant(BigInt(ns(end_s))),
});

export const secondsOf = ({ start, end }: Window): number => Number(end - start) / 1e9;
