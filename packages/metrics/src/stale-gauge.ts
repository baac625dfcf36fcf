import { type Domain, instant } from '@perwatt/core';
import { boundaryOf } from './boundary.js';
import type { SittingInput } from './cell-types.js';
import { bookedAt, isStale } from './series-index.js';
import type { PowerSeries, Window } from './types.js';

/** A sitting and the spans of it that count. */
export interface BusySitting {
  readonly sitting: SittingInput;
  readonly busy: readonly Window[];
}

/** Sittings to take energy from, and what became of counters that stood still. */
export interface WithoutStale {
  readonly sittings: readonly BusySitting[];
  /** Counters that stood still, and whose place the integrated power of every device has taken. */
  readonly gauged: readonly string[];
  /** Counters that stood still and nothing stands in for: their energy is unknown. */
  readonly unknown: ReadonlySet<string>;
}

/** A standstill is no matter before this much time, or so many renewals, have passed; ns. */
const least_ns = 1e9;
const LEAST_PERIODS = 10;

/** Steps that the counter must have missed by then, and the step of one that declares none, J. */
const LEAST_STEPS = 10;
const default_step_j = 0.001;

/** The power that a source shows beside a counter: `…:power` beside `…:energy`. */
export function powerBeside(series: readonly PowerSeries[], counter: Domain): PowerSeries | null {
  if (counter.kind !== 'counter' || !counter.id.endsWith(':energy')) return null;
  const id = counter.id.replace(/energy$/, 'power');
  return series.find(({ domain }) => domain.id === id && domain.kind === 'gauge') ?? null;
}

const known = new WeakMap<PowerSeries, { readonly gauge: PowerSeries; readonly spans: readonly Window[] }>();

/**
 * Whether a counter stood still within a window although the power beside it says that it must have grown: unchanged for
 * at least 1 s and ten update periods, over which the power amounts to ten steps of the counter or more.
 */
export function standsStillBeside(counter: PowerSeries, gauge: PowerSeries, window: Window): boolean {
  let found = known.get(counter);
  if (found?.gauge !== gauge) {
    found = { gauge, spans: standstills(counter, gauge) };
    known.set(counter, found);
  }
  return found.spans.some(({ start, end }) => start < window.end && end > window.start);
}

function standstills(counter: PowerSeries, gauge: PowerSeries): Window[] {
  const longest = Math.max(least_ns, LEAST_PERIODS * counter.domain.update_period_ns);
  const missed_j = (counter.domain.quantum ?? default_step_j) * LEAST_STEPS;
  const at = (i: number) => instant(counter.at_ns[i] ?? 0n);
  const spans: Window[] = [];
  let first = 0;
  for (let i = 1; i <= counter.at_ns.length; i++) {
    if (counter.booked_j[i] === counter.booked_j[first]) continue;
    const [start, end] = [at(first), at(i - 1)];
    const integrated = () => bookedAt(gauge, 'booked_j', end) - bookedAt(gauge, 'booked_j', start);
    if (Number(end - start) >= longest && integrated() >= missed_j) spans.push({ start, end });
    first = i;
  }
  return spans;
}

function stoodStill({ sitting, busy }: BusySitting, domain: Domain): boolean {
  const counter = sitting.series.find((series) => series.domain.id === domain.id);
  if (counter === undefined || counter.at_ns.length < 2) return false;
  const gauge = powerBeside(sitting.series, domain);
  return busy.some(
    (window) => isStale(counter, window) || (gauge !== null && standsStillBeside(counter, gauge, window)),
  );
}

/**
 * Puts the power of devices in the place of their counters where one of these stood still.
 *
 * A counter is never patched in part: the power counts for all of the time, in all sittings. Nor are counters and
 * integrated power summed: either every counter of the boundary has its power beside it and gives way to it, or the
 * counters that stood still leave the energy unknown.
 */
export function gaugesForStale(used: readonly BusySitting[]): WithoutStale {
  const all = used.flatMap(({ sitting }) => sitting.series.map(({ domain }) => domain));
  const domains = boundaryOf(all)?.domains ?? [];
  const counters = domains.filter(({ kind }) => kind === 'counter');
  const stale = counters.filter((domain) => used.some((one) => stoodStill(one, domain))).map(({ id }) => id);
  if (stale.length === 0) return { sittings: used, gauged: [], unknown: new Set() };
  const complete = used.every(({ sitting }) =>
    domains.every((domain) => powerBeside(sitting.series, domain) !== null),
  );
  if (!complete) return { sittings: used, gauged: [], unknown: new Set(stale) };
  return { sittings: used.map((one) => swapped(one, domains)), gauged: stale, unknown: new Set() };
}

/** What `gaugesForStale` makes of the series of one source over one window. */
export function seriesWithoutStale(
  series: readonly PowerSeries[],
  window: Window,
): { readonly series: readonly PowerSeries[] } & Pick<WithoutStale, 'gauged' | 'unknown'> {
  const { sittings, gauged, unknown } = gaugesForStale([
    { sitting: { sitting: 0, window, series, baselines: [] }, busy: [window] },
  ]);
  return { series: sittings.flatMap(({ sitting }) => sitting.series), gauged, unknown };
}

/** The sitting with the power of these devices in the total, and their counters out of it. */
function swapped({ sitting, busy }: BusySitting, counters: readonly Domain[]): BusySitting {
  const gauges = new Map(
    counters.map((counter) => [powerBeside(sitting.series, counter)?.domain.id, counter.id]),
  );
  const ids = new Set(counters.map(({ id }) => id));
  const series = sitting.series.map((one) => {
    const stands_for = gauges.get(one.domain.id);
    if (stands_for !== undefined)
      return { ...one, domain: { ...one.domain, in_total: true, note: `stands in for ${stands_for}` } };
    return ids.has(one.domain.id) ? { ...one, domain: { ...one.domain, in_total: false } } : one;
  });
  return { sitting: { ...sitting, series }, busy };
}
