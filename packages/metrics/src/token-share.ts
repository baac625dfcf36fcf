import type { Instant } from '@perwatt/core';
import type { Attribution, QueryEnergy } from './attribute.js';
import { bookedOver, energyInWindow, sensorBounds } from './energy-window.js';
import { partTimeError } from './part-time.js';
import { edgeError } from './series-index.js';
import { busySpans, byTime, clipSpan, idleSpans, totalLength } from './spans.js';
import type { CallSpan, PowerSeries, Window } from './types.js';

/** Output tokens that came at one time. */
export interface TokenArrival {
  readonly at: Instant;
  readonly tokens: number;
}

/** A call with the tokens that it gave, in order of time. */
export interface TokenCall extends CallSpan {
  readonly arrivals: readonly TokenArrival[];
}

type TokenEnergy = Omit<QueryEnergy, 'method'>;

/** As `Attribution`, allocated by tokens. */
export type TokenAttribution = Omit<Attribution, 'method' | 'queries'> & {
  readonly method: 'token_share' | 'none';
  readonly queries: ReadonlyMap<string, TokenEnergy>;
};

interface Sums {
  readonly energy_j: number;
  readonly lo_j: number;
  readonly hi_j: number;
  readonly error_j: number;
  readonly length_ns: number;
}

const nothing: Sums = { energy_j: 0, lo_j: 0, hi_j: 0, error_j: 0, length_ns: 0 };

/** a + factor × b */
const plus = (a: Sums, b: Sums, factor: number): Sums => ({
  energy_j: a.energy_j + factor * b.energy_j,
  lo_j: a.lo_j + factor * b.lo_j,
  hi_j: a.hi_j + factor * b.hi_j,
  error_j: a.error_j + factor * b.error_j,
  length_ns: a.length_ns + factor * b.length_ns,
});

/**
 * The energy of a window shared out over queries by the tokens that their calls gave.
 *
 * Time is split wherever a call begins, gives its first token, or ends. An interval's energy goes to the calls in flight
 * in proportion to the tokens each gave in it; where none came (all are still reading their prompts), equally. Energy
 * without a call in flight is unattributed. It is an allocation: `queries_j + unattributed_j` is the meter's energy.
 */
export function attributeByTokens(
  series: PowerSeries,
  calls: readonly TokenCall[],
  window: Window,
): TokenAttribution {
  const meter = energyInWindow(series, window);
  if (meter.energy_j === null) {
    const { reason } = meter;
    return { meter, method: 'none', queries: new Map(), queries_j: null, unattributed_j: null, reason };
  }
  const sums = new Map<string, Sums>(calls.map(({ query_id }) => [query_id, nothing]));
  for (const interval of intervalsOf(calls, window)) share(series, interval, { calls, sums });
  const queries = new Map(
    [...sums].map(([query_id, sum]): [string, TokenEnergy] => [
      query_id,
      { energy_j: sum.energy_j, ...sensorBounds(series, sum, sum) },
    ]),
  );
  return {
    meter,
    method: 'token_share',
    queries,
    queries_j: [...queries.values()].reduce((sum, { energy_j }) => sum + energy_j, 0),
    unattributed_j: bookedOver(series, 'booked_j', idleSpans(window, busySpans(calls, window))),
    reason: null,
  };
}

/** The spans between the times at which the calls in flight, or what they do, change. */
function intervalsOf(calls: readonly TokenCall[], window: Window): Window[] {
  const changes = calls.flatMap(({ start, end, arrivals }) => {
    const first = arrivals[0];
    return first === undefined ? [start, end] : [start, first.at, end];
  });
  const inside = changes.filter((at) => at > window.start && at < window.end);
  const edges = [...new Set([window.start, ...inside, window.end])].sort(byTime);
  return edges.slice(1).flatMap((end, i) => {
    const start = edges[i];
    return start === undefined ? [] : [{ start, end }];
  });
}

interface Sharing {
  readonly calls: readonly TokenCall[];
  readonly sums: Map<string, Sums>;
}

function share(series: PowerSeries, interval: Window, { calls, sums }: Sharing): void {
  const active = calls.filter((call) => clipSpan(call, interval) !== null);
  if (active.length === 0) return;
  const given = active.map((call) => tokensIn(call, interval));
  const all = given.reduce((sum, tokens) => sum + tokens, 0);
  const drawn: Sums = {
    energy_j: bookedOver(series, 'booked_j', [interval]),
    lo_j: bookedOver(series, 'lo_j', [interval]),
    hi_j: bookedOver(series, 'hi_j', [interval]),
    error_j:
      edgeError(series, interval.start) + edgeError(series, interval.end) + partTimeError(series, interval),
    length_ns: totalLength([interval]),
  };
  active.forEach(({ query_id }, i) => {
    const part = all > 0 ? (given[i] ?? 0) / all : 1 / active.length;
    sums.set(query_id, plus(sums.get(query_id) ?? nothing, drawn, part));
  });
}

/** Tokens of a call in an interval; one that comes as the call ends belongs to the time before. */
const tokensIn = ({ arrivals, end: callEnd }: TokenCall, { start, end }: Window): number =>
  arrivals.reduce((sum, { at, tokens }) => {
    const inside = at >= start && (at < end || (at === end && at === callEnd));
    return inside ? sum + tokens : sum;
  }, 0);
