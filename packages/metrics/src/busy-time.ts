import type { CellColumns } from './cell-columns.js';
import type { BusyTime } from './cell-energy.js';
import { busyEdges, type Edges, orderOf } from './cell-spans.js';
import type { Units } from './cell-sums.js';
import type { SittingInput } from './cell-types.js';

/** Rows of each group, in the given order. */
function grouped(order: Int32Array, groupOf: (row: number) => number, groups: number): Int32Array[] {
  const counts = new Uint32Array(groups);
  const own = new Int32Array(order.length);
  for (let i = 0; i < order.length; i++) {
    const group = groupOf(order[i] ?? 0);
    own[i] = group;
    if (group >= 0) counts[group] = (counts[group] ?? 0) + 1;
  }
  if (counts.includes(order.length) && order.length > 0)
    return Array.from(counts, (count) => (count > 0 ? order : new Int32Array()));
  return sorted(order, own, counts);
}

function sorted(order: Int32Array, groupOf: Int32Array, counts: Uint32Array): Int32Array[] {
  const rows = Array.from(counts, (count) => new Int32Array(count));
  const filled = new Uint32Array(counts.length);
  for (let i = 0; i < order.length; i++) {
    const group = groupOf[i] ?? -1;
    const of = rows[group];
    if (of === undefined) continue;
    of[filled[group] ?? 0] = order[i] ?? 0;
    filled[group] = (filled[group] ?? 0) + 1;
  }
  return rows;
}

/** Busy times by group of calls (one below 0 belongs to none), clipped to the windows of the sittings. */
function timesBy(
  { calls, origin_ns }: CellColumns,
  sittings: readonly SittingInput[],
  { of, count }: { readonly of: (call: number) => number; readonly count: number },
): BusyTime[] {
  const order = orderOf(calls.dispatch);
  const places = new Map(sittings.map(({ sitting }, i) => [sitting, i]));
  let [last, place] = [-1, -1];
  const placeOf = (sitting: number): number => {
    if (sitting !== last) [last, place] = [sitting, places.get(sitting) ?? -1];
    return place;
  };
  const rows = grouped(
    order,
    (call) => {
      const sitting = placeOf(calls.sitting[call] ?? -1);
      const group = of(call);
      return sitting < 0 || group < 0 ? -1 : group * sittings.length + sitting;
    },
    count * sittings.length,
  );
  return Array.from({ length: count }, (_, group) => {
    const bySitting = sittings.map(({ sitting, window }, i): [number, Edges] => {
      const clip = { start: Number(window.start - origin_ns), end: Number(window.end - origin_ns) };
      return [sitting, busyEdges(calls, rows[group * sittings.length + i] ?? new Int32Array(), clip)];
    });
    return { origin_ns, bySitting: new Map(bySitting) };
  });
}

/** B: the union of the spans with a call in flight inside the measured windows. */
export function busyTime(columns: CellColumns, sittings: readonly SittingInput[]): BusyTime {
  const [all] = timesBy(columns, sittings, { of: () => 0, count: 1 });
  return all ?? { origin_ns: columns.origin_ns, bySitting: new Map() };
}

/** B of the calls of each repeat alone. */
export function busyTimeOfRepeats(
  columns: CellColumns,
  sittings: readonly SittingInput[],
  repeats: Units,
): BusyTime[] {
  const { query } = columns.calls;
  return timesBy(columns, sittings, {
    of: (call) => repeats.of[query[call] ?? 0] ?? -1,
    count: repeats.count,
  });
}

/** The whole measured windows of the sittings that have any busy time. */
export function windowTime({ origin_ns, bySitting }: BusyTime, sittings: readonly SittingInput[]): BusyTime {
  const used = sittings.filter(({ sitting }) => (bySitting.get(sitting)?.length ?? 0) > 0);
  const whole = used.map(({ sitting, window }): [number, Edges] => [
    sitting,
    Float64Array.of(Number(window.start - origin_ns), Number(window.end - origin_ns)),
  ]);
  return { origin_ns, bySitting: new Map(whole) };
}
