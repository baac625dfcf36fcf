import type { CallRow, QueryRow } from '@perwatt/core';
import { orderOf } from './cell-spans.js';
import { isIsolated, queryTotals, WIDTH } from './cell-sums.js';
import { columnsOfRows } from './columns-of-rows.js';
import { blocks } from './stats/blocks.js';
import type { Contribution } from './stats/product-figure.js';

/** What every query of a cell adds to its totals, for intervals and paired comparisons. */
export interface CellContributions {
  /** Per query, totals in the order of `totalNames`; what isn't known is NaN. In order of start. */
  readonly queries: readonly Contribution[];
  /** Whether every query's own energy was measured, not a share of what several had. */
  readonly isolated: boolean;
  /**
   * The same by item where all energy was measured, by blocks of consecutive items where it was allocated; null where it
   * was and there are too few items for blocks.
   */
  readonly units: readonly Contribution[] | null;
}

/** What each query adds to a cell's totals, from its row and its measured calls. */
export function cellContributions(
  queries: readonly QueryRow[],
  calls: readonly CallRow[],
): CellContributions {
  const columns = columnsOfRows({ queries, calls });
  const totals = queryTotals(columns);
  const own = Array.from(orderOf(columns.queries.start), (row): Contribution => {
    const { item_id = '', repeat = 0 } = queries[row] ?? {};
    return { item: item_id, repeat, totals: Array.from(totals.subarray(row * WIDTH, (row + 1) * WIDTH)) };
  });
  const isolated = isIsolated(columns);
  return { queries: own, isolated, units: isolated ? own : blocks(own) };
}
