import type { CellColumns } from './cell-columns.js';
import type { BusyTime } from './cell-energy.js';
import { type Edges, orderOf, type SpanUnion, spanUnion } from './cell-spans.js';
import type { Units } from './cell-sums.js';
import type { SittingInput } from './cell-types.js';

/** Place of each call's sitting among `sittings`, below 0 for none of them. */
function sittingPlaces(sitting: ArrayLike<number>, sittings: readonly SittingInput[]): Int32Array {
  const places = new Map(sittings.map((own, i) => [own.sitting, i]));
  const of = new Int32Array(sitting.length);
  let [last, place] = [-1, -1];
  for (let call = 0; call < of.length; call++) {
    const own = sitting[call] ?? -1;
    if (own !== last) [last, place] = [own, places.get(own) ?? -1];
    of[call] = place;
  }
  return of;
}

function callsOfRepeats(query: Int32Array, { of, count }: Units): Uint32Array {
  const counts = new Uint32Array(count);
  for (let call = 0; call < query.length; call++) {
    const repeat = of[query[call] ?? 0] ?? 0;
    counts[repeat] = (counts[repeat] ?? 0) + 1;
  }
  return counts;
}

/** Unions of spans by sitting, those of all calls first, then those of each repeat. */
function unionsBy(
  { calls, origin_ns }: CellColumns,
  sittings: readonly SittingInput[],
  repeats: Units,
): SpanUnion[][] {
  const { dispatch, end, query, sitting } = calls;
  const unions = (most: number) =>
    sittings.map(({ window }) =>
      spanUnion({ start: Number(window.start - origin_ns), end: Number(window.end - origin_ns) }, most),
    );
  const all = unions(calls.length);
  const ofRepeats = Array.from(callsOfRepeats(query, repeats), unions);
  const places = sittingPlaces(sitting, sittings);
  const order = orderOf(dispatch);
  for (let i = 0; i < order.length; i++) {
    const call = order[i] ?? 0;
    const place = places[call] ?? -1;
    if (place < 0) continue;
    const [from, to] = [dispatch[call] ?? 0, end[call] ?? 0];
    all[place]?.add(from, to);
    ofRepeats[repeats.of[query[call] ?? 0] ?? -1]?.[place]?.add(from, to);
  }
  return [all, ...ofRepeats];
}

/**
 * B, the union of the spans with a call in flight inside the measured windows: of all calls, and of those of each repeat
 * alone, in one pass.
 */
export function busyTimes(
  columns: CellColumns,
  sittings: readonly SittingInput[],
  repeats: Units,
): [all: BusyTime, ofRepeats: BusyTime[]] {
  const { origin_ns } = columns;
  const [all = [], ...ofRepeats] = unionsBy(columns, sittings, repeats);
  const timeOf = (unions: readonly SpanUnion[]): BusyTime => ({
    origin_ns,
    bySitting: new Map(sittings.map(({ sitting }, i) => [sitting, unions[i]?.edges() ?? new Float64Array()])),
  });
  return [timeOf(all), ofRepeats.map(timeOf)];
}

/** B of all calls alone. */
export const busyTime = (columns: CellColumns, sittings: readonly SittingInput[]): BusyTime =>
  busyTimes(columns, sittings, { of: new Int32Array(), count: 0 })[0];

/** The whole measured windows of the sittings that have any busy time. */
export function windowTime({ origin_ns, bySitting }: BusyTime, sittings: readonly SittingInput[]): BusyTime {
  const used = sittings.filter(({ sitting }) => (bySitting.get(sitting)?.length ?? 0) > 0);
  const whole = used.map(({ sitting, window }): [number, Edges] => [
    sitting,
    Float64Array.of(Number(window.start - origin_ns), Number(window.end - origin_ns)),
  ]);
  return { origin_ns, bySitting: new Map(whole) };
}
