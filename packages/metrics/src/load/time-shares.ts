import { elapsed, instant } from '@perwatt/core';
import { bookedOver, energyInWindow } from '../energy-window.js';
import { bookedAt } from '../series-index.js';
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
  const clip = (at: number) => Math.min(Math.max(at, 0), length);
  const [starts, ends] = [calls.start_ns.map(clip), calls.end_ns.map(clip)];
  const energy_j = new Float64Array(starts.length);
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
  visitEdges(starts, ends, ({ at, call, change }) => {
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

interface Edge {
  readonly at: number;
  readonly call: number;
  /** 1 where the call starts, −1 where it ends. */
  readonly change: 1 | -1;
}

/** Every start and end in order of time; a start before an end of the same moment. */
function visitEdges(starts: Float64Array, ends: Float64Array, visit: (edge: Edge) => void): void {
  const [byStart, byEnd] = [ordered(starts), ordered(ends)];
  let [s, e] = [0, 0];
  while (e < byEnd.length) {
    const start = starts[byStart[s] ?? -1] ?? Number.POSITIVE_INFINITY;
    const end = ends[byEnd[e] ?? -1] ?? 0;
    if (start <= end) visit({ at: start, call: byStart[s++] ?? 0, change: 1 });
    else visit({ at: end, call: byEnd[e++] ?? 0, change: -1 });
  }
}

/** Indices in the order of their values. */
function ordered(values: Float64Array): Uint32Array {
  const order = Uint32Array.from(values, (_, i) => i);
  return order.sort((a, b) => (values[a] ?? 0) - (values[b] ?? 0));
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
