import type { QueryColumns } from './cell-columns.js';
import { isResolved } from './cell-energy.js';
import type { Boundary, CellEnergy } from './cell-types.js';

/** Sum over the rows that `keep` takes; null where one isn't known, or for none. */
function total(values: Float64Array, keep: (row: number) => boolean): number | null {
  let [sum, rows] = [0, 0];
  for (let row = 0; row < values.length; row++) {
    if (!keep(row)) continue;
    sum += values[row] ?? Number.NaN;
    rows += 1;
  }
  return rows === 0 || Number.isNaN(sum) ? null : sum;
}

/**
 * Energy of a cell without samples on record: the sum of what was booked to its queries, which over the busy time is all of
 * it. Bounds are the sums of the queries' own, wider than the meter's over the whole; of the baseline's uncertainty nothing
 * is on record. Null where one query has none.
 */
export function bookedEnergy(
  empty: CellEnergy,
  { queries, boundary }: { readonly queries: QueryColumns; readonly boundary: Boundary },
  keep: (row: number) => boolean = () => true,
): CellEnergy {
  const [gross_j, net_j] = [total(queries.gross_j, keep), total(queries.net_j, keep)];
  if (gross_j === null) return { ...empty, boundary, reason: 'not_booked', net_reason: 'not_booked' };
  const [lo, hi] = [total(queries.lo_j, keep) ?? gross_j, total(queries.hi_j, keep) ?? gross_j];
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
