import { elapsed, instant } from '@perwatt/core';
import { bookedOver, energyInWindow } from '../energy-window.js';
import { bookedAt } from '../series-index.js';
import { ascending } from '../stats/ascending.js';
import type { EnergyReading, PowerSeries, Window } from '../types.js';

/** Calls by the start and end of each, ns from the start of the window. */
export interface CallEdges {
  readonly start_ns: Float64Array;
  readonly end_ns: Float64Array;
}

/** The meter of one domain shared out to calls. `calls_j + unattributed_j` is the meter's energy. */
export interface TimeShares {
  readonly meter: EnergyReading;
  /** Energy of each call, J; null when the meter has none. */
  readonly energy_j: Float64Array | null;
  readonly calls_j: number | null;
  /** Of the spans without a call in flight, integrated on its own, J. */
  readonly unattributed_j: number | null;
}

/**
 * `attribute` for very many calls: the energy of every moment shared equally between the calls in flight, in a few numbers a
 * call and one sweep over their edges. Calls are clipped to the window.
 */
export function shareByTime(series: PowerSeries, calls: CallEdges, window: Window): TimeShares {
  const meter = energyInWindow(series, window);
  if (meter.energy_j === null) return { meter, energy_j: null, calls_j: null, unattributed_j: null };
  const length = elapsed(window.start, window.end);
  const energy_j = new Float64Array(calls.start_ns.length);
  const idle: Window[] = [];
  let [running, active, since] = [0, 0, 0];
  let booked = bookedAt(series, 'booked_j', window.start);
  const moveTo = (at: number) => {
    if (at <= since) return;
    const to = instant(window.start + BigInt(Math.round(at)));
    const now = bookedAt(series, 'booked_j', to);
    if (active > 0) running += (now - booked) / active;
    else idle.push({ start: instant(window.start + BigInt(Math.round(since))), end: to });
    [booked, since] = [now, at];
  };
  visitEdges(calls, length, (at, call, change) => {
    moveTo(at);
    energy_j[call] = (energy_j[call] ?? 0) - change * running;
    active += change;
  });
  moveTo(length);
  const calls_j = energy_j.reduce((sum, own) => sum + own, 0);
  return {
    meter,
    energy_j,
    calls_j,
    unattributed_j: idle.length === 0 ? 0 : bookedOver(series, 'booked_j', idle),
  };
}

/**
 * Every start (`change` 1) and end (−1), clipped to 0 … `length`, in order of time; a start before an end of the same
 * moment.
 */
function visitEdges(
  { start_ns, end_ns }: CallEdges,
  length: number,
  visit: (at: number, call: number, change: 1 | -1) => void,
): void {
  const clip = (at: number) => Math.min(Math.max(at, 0), length);
  const [byStart, byEnd] = [ascending(start_ns), ascending(end_ns)];
  let [s, e] = [0, 0];
  while (e < byEnd.length) {
    const start = s < byStart.length ? clip(start_ns[byStart[s] ?? 0] ?? 0) : Number.POSITIVE_INFINITY;
    const end = clip(end_ns[byEnd[e] ?? 0] ?? 0);
    if (start <= end) visit(start, byStart[s++] ?? 0, 1);
    else visit(end, byEnd[e++] ?? 0, -1);
  }
}

/** Length of time with a call in flight, ns. */
export function busyLength(calls: CallEdges): number {
  const [starts, ends] = [calls.start_ns.toSorted(), calls.end_ns.toSorted()];
  let [busy, s, since] = [0, 0, 0];
  for (let e = 0; e < ends.length; e++) {
    const end = ends[e] ?? 0;
    while (s < starts.length && (starts[s] ?? 0) <= end) {
      if (s === e) since = starts[s] ?? 0;
      s += 1;
    }
    if (s === e + 1) busy += end - since;
  }
  return busy;
}
