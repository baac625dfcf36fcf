import type { Breaker as BreakerRule } from '@perwatt/core';
import type { Cell } from './plan.js';

/** Skips the rest of what keeps failing. */
export interface Breaker {
  /** Why a cell is better left alone for now; null when it should be tried. */
  skips(cell: Pick<Cell, 'served_by'>): string | null;
  /** Told how a cell ended: what was the matter with it as a whole, or null. */
  ended(cell: Pick<Cell, 'served_by'>, failure: string | null): void;
}

/** Cells in a row that fail before the rest is skipped, where the matrix says nothing. */
const AFTER = 5;

/** Counts failures in a row by what serves the cells; one that goes well starts the count anew. */
export function createBreaker(rule: BreakerRule | undefined): Breaker {
  const after = rule === false ? Number.POSITIVE_INFINITY : (rule?.after ?? AFTER);
  const failures = new Map<string, { readonly count: number; readonly last: string }>();
  return {
    skips({ served_by }) {
      const known = failures.get(served_by);
      if (known === undefined || known.count < after) return null;
      return `${known.count} cells of ${served_by} failed in a row, the last with: ${known.last}`;
    },
    ended({ served_by }, failure) {
      if (failure === null) failures.delete(served_by);
      else failures.set(served_by, { count: (failures.get(served_by)?.count ?? 0) + 1, last: failure });
    },
  };
}
