import { instant } from '@perwatt/core';
import type { CallColumns } from './cell-columns.js';
import type { Window } from './types.js';

/** Spans in order, not overlapping: their edges one behind the other, start and end in turn, ns since an origin. */
export type Edges = Float64Array;

/** Numbers of the entries of `times` in ascending order; equal ones stay in their order. */
export function orderOf(times: Float64Array): Int32Array {
  const order = new Int32Array(times.length);
  for (let i = 0; i < order.length; i++) order[i] = i;
  let sorted = true;
  for (let i = 1; i < times.length && sorted; i++) sorted = (times[i - 1] ?? 0) <= (times[i] ?? 0);
  return sorted ? order : order.sort((a, b) => (times[a] ?? 0) - (times[b] ?? 0) || a - b);
}

interface Clip {
  readonly start: number;
  readonly end: number;
}

/** A union of spans that come in order of their starts. */
export interface SpanUnion {
  readonly add: (from: number, to: number) => void;
  readonly edges: () => Edges;
}

/** A union inside `clip` of at most `most` spans; those of no length count for nothing. */
export function spanUnion(clip: Clip, most: number): SpanUnion {
  const edges = new Float64Array(2 * most);
  let length = 0;
  return {
    add(from, to) {
      const start = Math.max(from, clip.start);
      const end = Math.min(to, clip.end);
      if (!(start < end)) return;
      const last = edges[length - 1] ?? 0;
      if (length > 0 && start <= last) {
        if (end > last) edges[length - 1] = end;
        return;
      }
      edges[length] = start;
      edges[length + 1] = end;
      length += 2;
    },
    edges: () => edges.subarray(0, length),
  };
}

/** Summed length of spans, ns. */
export function lengthOf(edges: Edges): number {
  let sum = 0;
  for (let i = 0; i + 1 < edges.length; i += 2) sum += (edges[i + 1] ?? 0) - (edges[i] ?? 0);
  return sum;
}

/** Spans on the run's clock. */
export function windowsOf(edges: Edges, origin_ns: bigint): Window[] {
  const at = (i: number) => instant(origin_ns + BigInt(edges[i] ?? 0));
  return Array.from({ length: edges.length / 2 }, (_, i) => ({ start: at(2 * i), end: at(2 * i + 1) }));
}

/** The order of starts when every call ends before the next begins; null where some overlap. */
function inTurn({ length, dispatch, end }: CallColumns): boolean {
  for (let i = 1; i < length; i++) if ((dispatch[i] ?? 0) < (end[i - 1] ?? 0)) return false;
  return true;
}

interface Edge {
  readonly call: number;
  readonly at: number;
  readonly step: 1 | -1;
}

/** Starts and ends of calls that last, in order of time, ends first. */
function* edgesOf({ dispatch, end }: CallColumns): Generator<Edge> {
  const lasting = (call: number) => (end[call] ?? 0) > (dispatch[call] ?? 0);
  const [starts, ends] = [orderOf(dispatch).filter(lasting), orderOf(end).filter(lasting)];
  let next = 0;
  for (const ending of ends) {
    const at = end[ending] ?? 0;
    for (; (dispatch[starts[next] ?? -1] ?? at) < at; next++) {
      const call = starts[next] ?? 0;
      yield { call, at: dispatch[call] ?? 0, step: 1 };
    }
    yield { call: ending, at, step: -1 };
  }
}

/** Seconds that each query was in flight, time shared equally among the calls in flight at every moment. */
export function shareOfTime(calls: CallColumns, queries: number): Float64Array {
  const { length, query, dispatch, end } = calls;
  const seconds = new Float64Array(queries);
  const add = (call: number, ns: number) => {
    const row = query[call] ?? 0;
    seconds[row] = (seconds[row] ?? 0) + ns / 1e9;
  };
  if (inTurn(calls)) {
    for (let i = 0; i < length; i++) add(i, Math.max((end[i] ?? 0) - (dispatch[i] ?? 0), 0));
    return seconds;
  }
  let [active, clock, since] = [0, 0, 0];
  for (const { call, at, step } of edgesOf(calls)) {
    if (active > 0) clock += (at - since) / active;
    since = at;
    add(call, -step * clock);
    active += step;
  }
  return seconds;
}
