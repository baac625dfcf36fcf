import { elapsed, type Instant, instant } from '@perwatt/core';
import { bookedOver, energyInWindow, energyOverSpans, sensorBounds } from './energy-window.js';
import { partTimeAt, partTimeError } from './part-time.js';
import { bookedAt, edgeError, shortestMeasurable } from './series-index.js';
import { busySpans, byTime, clipSpan, idleSpans, totalLength, unionOf } from './spans.js';
import type { CallSpan, EnergyReading, PowerSeries, Window } from './types.js';

/** Energy of one query in one domain, J; bounds of the sensor alone. */
export interface QueryEnergy {
  /** `isolated`: measured; `time_share`: allocated, or too short to be measured. */
  readonly method: 'isolated' | 'time_share';
  readonly energy_j: number;
  readonly lo_j: number;
  readonly hi_j: number;
}

/** The meter of one domain over one window, shared out. `queries_j + unattributed_j = energy of the meter`. */
export interface Attribution {
  readonly meter: EnergyReading;
  /** `isolated` when every query is; `none`: the meter has no energy, then everything here is null. */
  readonly method: 'isolated' | 'time_share' | 'none';
  /** By query id; every query with a call is here. Empty when the method is `none`. */
  readonly queries: ReadonlyMap<string, QueryEnergy>;
  /** Sum over `queries`, J. */
  readonly queries_j: number | null;
  /** Integrated on its own over the spans without a call in flight, J. */
  readonly unattributed_j: number | null;
  readonly reason: EnergyReading['reason'];
}

/** Calls, by index, that end and begin at one moment. */
interface Change {
  readonly at: Instant;
  readonly ends: number[];
  readonly begins: number[];
}

/** Every moment at which the set of calls in flight changes, in order. */
function changesOf(spans: readonly CallSpan[]): Change[] {
  const changes = new Map<Instant, Change>();
  const changeAt = (at: Instant): Change => {
    const change = changes.get(at) ?? { at, ends: [], begins: [] };
    changes.set(at, change);
    return change;
  };
  spans.forEach(({ start, end }, call) => {
    changeAt(start).begins.push(call);
    changeAt(end).ends.push(call);
  });
  return [...changes.values()].sort((a, b) => byTime(a.at, b.at));
}

interface Sums {
  readonly energy_j: number;
  readonly lo_j: number;
  readonly hi_j: number;
  readonly error_j: number;
  readonly length_ns: number;
}
const nothing: Sums = { energy_j: 0, lo_j: 0, hi_j: 0, error_j: 0, length_ns: 0 };

/** a + factor × b */
const plus = (a: Sums, b: Sums, factor = 1): Sums => ({
  energy_j: a.energy_j + factor * b.energy_j,
  lo_j: a.lo_j + factor * b.lo_j,
  hi_j: a.hi_j + factor * b.hi_j,
  error_j: a.error_j + factor * b.error_j,
  length_ns: a.length_ns + factor * b.length_ns,
});

/** What the meter had booked at a time, what part-time sensing may have moved by then, and the time itself. */
const bookedUpTo = (series: PowerSeries, at: Instant): Sums => ({
  energy_j: bookedAt(series, 'booked_j', at),
  lo_j: bookedAt(series, 'lo_j', at),
  hi_j: bookedAt(series, 'hi_j', at),
  error_j: partTimeAt(series, at).upTo,
  length_ns: elapsed(instant(series.at_ns[0] ?? 0n), at),
});

/** Error of an edge at which a call's share changes from nothing to all, J. */
function shareEdgeError(series: PowerSeries, at: Instant): number {
  const { before, after } = partTimeAt(series, at);
  return edgeError(series, at) + after - before;
}

const onlyError = (error_j: number): Sums => ({ ...nothing, error_j });

/**
 * What each call gets when calls in flight share time equally: one running sum of a call's part, read when the call
 * begins and when it ends. An edge's error counts with the change of the share it bounds.
 */
function sharesOfCalls(series: PowerSeries, spans: readonly CallSpan[]): Sums[] {
  const shares: Sums[] = spans.map(() => nothing);
  let running = nothing;
  let active = 0;
  let since = nothing;
  for (const { at, ends, begins } of changesOf(spans)) {
    const now = bookedUpTo(series, at);
    if (active > 0) running = plus(running, plus(now, since, -1), 1 / active);
    const error_j = shareEdgeError(series, at);
    const after = active - ends.length + begins.length;
    for (const call of ends)
      shares[call] = plus(plus(shares[call] ?? nothing, running), onlyError(error_j / active));
    if (active > 0 && after > 0)
      running = plus(running, onlyError(error_j * Math.abs(1 / active - 1 / after)));
    for (const call of begins) shares[call] = plus(onlyError(error_j / after), running, -1);
    active = after;
    since = now;
  }
  return shares;
}

function groupByQuery(spans: readonly CallSpan[]): Map<string, number[]> {
  const groups = new Map<string, number[]>();
  spans.forEach(({ query_id }, i) => {
    const group = groups.get(query_id);
    if (group === undefined) groups.set(query_id, [i]);
    else group.push(i);
  });
  return groups;
}

const isSpan = (span: Window | null): span is Window => span !== null;

/** Spans of every query with a call, its parallel calls made one, inside the window. */
function spansByQuery(calls: readonly CallSpan[], window: Window): Map<string, Window[]> {
  const spans = new Map<string, Window[]>();
  for (const [query_id, indices] of groupByQuery(calls)) {
    const own = indices.map((i) => calls[i]).filter((call) => call !== undefined);
    spans.set(query_id, unionOf(own.map((call) => clipSpan(call, window)).filter(isSpan)));
  }
  return spans;
}

function energyOfSpans(series: PowerSeries, spans: readonly Window[]): QueryEnergy {
  const method = totalLength(spans) >= shortestMeasurable(series) ? 'isolated' : 'time_share';
  const energy_j = bookedOver(series, 'booked_j', spans);
  const { lo_j, hi_j } = energyOverSpans(series, spans);
  if (lo_j !== null && hi_j !== null) return { method, energy_j, lo_j, hi_j };
  const booked = {
    energy_j,
    lo_j: bookedOver(series, 'lo_j', spans),
    hi_j: bookedOver(series, 'hi_j', spans),
  };
  const error_j = spans.reduce(
    (sum, span) =>
      sum + edgeError(series, span.start) + edgeError(series, span.end) + partTimeError(series, span),
    0,
  );
  return { method, energy_j, ...sensorBounds(series, booked, { error_j, length_ns: totalLength(spans) }) };
}

function timeShares(
  series: PowerSeries,
  calls: readonly CallSpan[],
  window: Window,
): Map<string, QueryEnergy> {
  const clipped = calls.map((call): CallSpan => {
    const span = clipSpan(call, window);
    return { query_id: call.query_id, ...(span ?? { start: window.start, end: window.start }) };
  });
  const inside = clipped.filter(({ start, end }) => start < end);
  const shares = sharesOfCalls(series, inside);
  const groups = groupByQuery(inside);
  const energies = new Map<string, QueryEnergy>();
  for (const { query_id } of clipped) {
    if (energies.has(query_id)) continue;
    const sums = (groups.get(query_id) ?? []).reduce((acc, i) => plus(acc, shares[i] ?? nothing), nothing);
    energies.set(query_id, {
      method: 'time_share',
      energy_j: sums.energy_j,
      ...sensorBounds(series, sums, sums),
    });
  }
  return energies;
}

/**
 * The energy of a window shared out over the queries whose calls were in flight.
 *
 * Time is split at every change of the set of calls in flight and each call gets an equal part of the interval's
 * energy; a query gets the sum over its calls. The energy of spans without a call is integrated on its own. A query is
 * `isolated` when no two queries of the window ever overlap and it was in flight for at least `shortestMeasurable` (200
 * update periods, two readings): then it was measured, not allocated. Calls are clipped to the window.
 */
export function attribute(series: PowerSeries, calls: readonly CallSpan[], window: Window): Attribution {
  const meter = energyInWindow(series, window);
  if (meter.energy_j === null) {
    return {
      meter,
      method: 'none',
      queries: new Map(),
      queries_j: null,
      unattributed_j: null,
      reason: meter.reason,
    };
  }
  const busy = busySpans(calls, window);
  const own = spansByQuery(calls, window);
  const spans = [...own.values()];
  const separate = Math.abs(spans.reduce((sum, s) => sum + totalLength(s), 0) - totalLength(busy)) < 0.5;
  const queries = separate
    ? new Map([...own].map(([query_id, s]) => [query_id, energyOfSpans(series, s)]))
    : timeShares(series, calls, window);
  return {
    meter,
    method: [...queries.values()].every(({ method }) => method === 'isolated') ? 'isolated' : 'time_share',
    queries,
    queries_j: [...queries.values()].reduce((sum, { energy_j }) => sum + energy_j, 0),
    unattributed_j: bookedOver(series, 'booked_j', idleSpans(window, busy)),
    reason: null,
  };
}
