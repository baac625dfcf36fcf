import type { CellColumns } from './cell-columns.js';
import type { BusyTime } from './cell-energy.js';
import { busyEdges, type Edges, orderOf } from './cell-spans.js';
import type { Units } from './cell-sums.js';
import type { SittingInput } from './cell-types.js';

/** Rows of each group, in the given order. */
function grouped(order: Int32Array, groupOf: (row: number) => number, groups: number): Int32Array[] {
  const counts = new Uint32Array(groups);
  for (const row of order) {
    const group = groupOf(row);
    if (group >= 0) counts[group] = (counts[group] ?? 0) + 1;
  }
  const rows = Array.from(counts, (count) => new Int32Array(count));
  counts.fill(0);
  for (const row of order) {
    const group = groupOf(row);
    const own = rows[group];
    if (own === undefined) continue;
    own[counts[group] ?? 0] = row;
    counts[group] = (counts[group] ?? 0) + 1;
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
  const place = new Map(sittings.map(({ sitting }, i) => [sitting, i]));
  const rows = grouped(
    order,
    (call) => {
      const [sitting, group] = [place.get(calls.sitting[call] ?? -1) ?? -1, of(call)];
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
