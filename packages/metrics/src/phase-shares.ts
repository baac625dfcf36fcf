import type { CellColumns } from './cell-columns.js';
import { WIDTH } from './cell-products.js';
import type { SittingInput } from './cell-types.js';
import { bookedAt } from './series-index.js';
import type { PowerSeries } from './types.js';

/** What each query's calls had of a cell's energy before their first output and from it to the last, J. */
export interface PhaseShares {
  readonly prefill_j: Float64Array;
  readonly decode_j: Float64Array;
}

/** The calls of one sitting, by their numbers, in its window; times in ns since the cell's origin. */
interface Flights {
  readonly rows: readonly number[];
  readonly start: number;
  readonly end: number;
}

/**
 * What a call in flight from the first edge on would have got by any time, J: time is shared equally among the calls in flight.
 * A call's part of a span is the difference between its ends.
 */
function shareCurve(
  series: PowerSeries,
  { calls, origin_ns }: CellColumns,
  { rows, start, end }: Flights,
): (time: number) => number {
  const clipped = (times: Float64Array, row: number) => Math.min(Math.max(times[row] ?? 0, start), end);
  const lasting = rows.filter((row) => clipped(calls.dispatch, row) < clipped(calls.end, row));
  const starts = Float64Array.from(lasting, (row) => clipped(calls.dispatch, row)).sort();
  const ends = Float64Array.from(lasting, (row) => clipped(calls.end, row)).sort();
  const count = 2 * lasting.length;
  const [at, shares, booked] = [new Float64Array(count), new Float64Array(count), new Float64Array(count)];
  const active = new Int32Array(count);
  const bookedBy = (time: number) => bookedAt(series, 'booked_j', origin_ns + BigInt(time));
  let [begun, ended, share, before] = [0, 0, 0, 0];
  for (let edge = 0; edge < count; edge++) {
    const next = starts[begun] ?? Number.POSITIVE_INFINITY;
    const time = Math.min(next, ends[ended] ?? next);
    const now = bookedBy(time);
    if (begun > ended) share += (now - before) / (begun - ended);
    if (next === time && time !== ends[ended]) begun += 1;
    else ended += 1;
    before = now;
    at[edge] = time;
    shares[edge] = share;
    booked[edge] = now;
    active[edge] = begun - ended;
  }
  return (time) => {
    const edge = lastUpTo(at, time);
    const running = active[edge] ?? 0;
    const since = running === 0 ? 0 : (bookedBy(time) - (booked[edge] ?? 0)) / running;
    return (shares[edge] ?? 0) + since;
  };
}

/** Index of the last of ascending times that isn't after `time`; −1 for none. */
function lastUpTo(times: Float64Array, time: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((times[middle] ?? 0) <= time) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Whether a call's stamps are on record and in order, so that it has phases. */
export function isSplit({ calls }: Pick<CellColumns, 'calls'>, call: number): boolean {
  const at = (times: Float64Array) => times[call] ?? Number.NaN;
  const [first, last] = [at(calls.first_any), at(calls.last_content)];
  return at(calls.dispatch) <= first && first <= last && last <= at(calls.end);
}

/**
 * Energy by phase of every query, over the domains `ids` and all sittings: what `energyDetail` sums over the cell. Every
 * sitting with calls must have a series of each domain.
 */
export function phaseShares(
  columns: CellColumns,
  sittings: readonly SittingInput[],
  ids: readonly string[],
): PhaseShares {
  const { calls, queries, origin_ns } = columns;
  const prefill_j = new Float64Array(queries.length);
  const decode_j = new Float64Array(queries.length);
  const rowsOf = new Map<number, number[]>(sittings.map(({ sitting }) => [sitting, []]));
  for (let call = 0; call < calls.length; call++) rowsOf.get(calls.sitting[call] ?? -1)?.push(call);
  for (const { sitting, window, series } of sittings) {
    const rows = rowsOf.get(sitting) ?? [];
    const [start, end] = [Number(window.start - origin_ns), Number(window.end - origin_ns)];
    const within = (times: Float64Array, call: number) => Math.min(Math.max(times[call] ?? 0, start), end);
    for (const own of series.filter(({ domain }) => ids.includes(domain.id))) {
      const shareBy = shareCurve(own, columns, { rows, start, end });
      for (const call of rows.filter((row) => isSplit(columns, row))) {
        const query = calls.query[call] ?? 0;
        const first = shareBy(within(calls.first_any, call));
        prefill_j[query] = (prefill_j[query] ?? 0) + first - shareBy(within(calls.dispatch, call));
        decode_j[query] = (decode_j[query] ?? 0) + shareBy(within(calls.last_content, call)) - first;
      }
    }
  }
  return { prefill_j, decode_j };
}

/** Totals that figures of phases are made of, in the order of the columns of `phaseTotals`. */
export const phaseTotalNames = ['prefill_j', 'decode_j', 'prompt_tokens', 'decoded_tokens'] as const;

/**
 * What every query adds to `phaseTotalNames`: `WIDTH` numbers a row, those after the names 0. A call without a count of tokens
 * adds none, as in the totals of the cell.
 */
export function phaseTotals({ calls, queries }: CellColumns, { prefill_j, decode_j }: PhaseShares) {
  const table = new Float64Array(queries.length * WIDTH);
  for (let query = 0; query < queries.length; query++) {
    table[query * WIDTH] = prefill_j[query] ?? 0;
    table[query * WIDTH + 1] = decode_j[query] ?? 0;
  }
  const add = (at: number, tokens: number) => {
    if (!Number.isNaN(tokens)) table[at] = (table[at] ?? 0) + tokens;
  };
  for (let call = 0; call < calls.length; call++) {
    const at = (calls.query[call] ?? 0) * WIDTH;
    add(at + 2, calls.prompt_tokens[call] ?? Number.NaN);
    if ((calls.first_any[call] ?? 0) <= (calls.last_content[call] ?? 0))
      add(at + 3, Math.max((calls.completion_tokens[call] ?? Number.NaN) - 1, 0));
  }
  return table;
}
