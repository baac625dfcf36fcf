import type { QueryColumns } from './cell-columns.js';
import { isResolved } from './cell-energy.js';
import type { Boundary, CellEnergy } from './cell-types.js';

/** Which rows count together: each row's group, and how many there are. */
export interface RowGroups {
  readonly of: Int32Array;
  readonly count: number;
}

/** Sum of each group; null where one isn't known, or for none. */
function totalsBy(values: Float64Array, { of, count }: RowGroups): (number | null)[] {
  const sums = new Float64Array(count);
  const rows = new Uint32Array(count);
  for (let row = 0; row < values.length; row++) {
    const group = of[row] ?? 0;
    sums[group] = (sums[group] ?? 0) + (values[row] ?? Number.NaN);
    rows[group] = (rows[group] ?? 0) + 1;
  }
  return Array.from(sums, (sum, group) => (rows[group] === 0 || Number.isNaN(sum) ? null : sum));
}

/** Sum over all rows; null where one isn't known, or for none. */
function total(values: Float64Array): number | null {
  let sum = 0;
  for (let row = 0; row < values.length; row++) sum += values[row] ?? Number.NaN;
  return values.length === 0 || Number.isNaN(sum) ? null : sum;
}

/** Sums of what was booked to queries, J; null where one has none. */
export interface BookedTotals {
  readonly gross: number | null;
  readonly net: number | null;
  readonly lo: number | null;
  readonly hi: number | null;
}

/** What was booked to all queries of a cell. */
export const bookedTotals = ({ gross_j, net_j, lo_j, hi_j }: QueryColumns): BookedTotals => ({
  gross: total(gross_j),
  net: total(net_j),
  lo: total(lo_j),
  hi: total(hi_j),
});

/** What was booked to the queries of each group. */
export function bookedTotalsBy(queries: QueryColumns, groups: RowGroups): BookedTotals[] {
  const [gross, net] = [totalsBy(queries.gross_j, groups), totalsBy(queries.net_j, groups)];
  const [lo, hi] = [totalsBy(queries.lo_j, groups), totalsBy(queries.hi_j, groups)];
  const at = (sums: readonly (number | null)[], group: number) => sums[group] ?? null;
  return gross.map((own, group) => ({
    gross: own,
    net: at(net, group),
    lo: at(lo, group),
    hi: at(hi, group),
  }));
}

/**
 * Energy of a cell without samples on record: the sum of what was booked to its queries, which over the busy time is all of
 * it. Bounds are the sums of the queries' own, wider than the meter's over the whole; of the baseline's uncertainty nothing
 * is on record. Null where one query has none.
 */
export function bookedEnergy(
  empty: CellEnergy,
  { booked, boundary }: { readonly booked: BookedTotals; readonly boundary: Boundary },
): CellEnergy {
  const { gross: gross_j, net: net_j } = booked;
  if (gross_j === null) return { ...empty, boundary, reason: 'not_booked', net_reason: 'not_booked' };
  const [lo, hi] = [booked.lo ?? gross_j, booked.hi ?? gross_j];
  const [net_lo_j, net_hi_j] =
    net_j === null ? [null, null] : [net_j - (gross_j - lo), net_j + (hi - gross_j)];
  return {
    ...empty,
    boundary,
    gross_j,
    gross_lo_j: lo,
    gross_hi_j: hi,
    net_j,
    net_lo_j,
    net_hi_j,
    net_resolved: isResolved(net_lo_j, net_hi_j),
    reason: null,
    net_reason: net_j === null ? 'no_baseline' : null,
    taken_from: 'queries',
  };
}
