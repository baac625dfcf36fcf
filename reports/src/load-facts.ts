import type { CellFile, LoopFacts, ServerLoad } from '@perwatt/records';
import type { CellResult, RunResults } from './results-types.js';

/** How the queries of one sitting were sent, and what the server said of its load; null where nothing is on record. */
export interface LoadFacts {
  readonly sitting: number;
  readonly loop: LoopFacts | null;
  readonly server: ServerLoad | null;
}

export const loadFacts = ({ sittings }: Pick<CellFile, 'sittings'>): LoadFacts[] =>
  sittings.map(({ sitting, loop, server_load }) => ({
    sitting,
    loop: loop ?? null,
    server: server_load ?? null,
  }));

/** Whether a cell has figures that only a load has: a schedule, or limits. */
const isLoaded = ({ metrics }: CellResult): boolean =>
  metrics.offered_per_s.value !== null ||
  metrics.goodput_per_s.value !== null ||
  metrics.steady_ok_per_s.value !== null ||
  metrics.lag_p50_ns.value !== null;

/** Whether there is anything to say of how loads compare: several of them, a schedule, or limits. */
export const hasLoads = ({ cells }: RunResults): boolean =>
  new Set(cells.map(({ point }) => point.load)).size > 1 || cells.some(isLoaded);

/** The greatest of what sittings have; null where none has it. */
export function most<T>(sittings: readonly T[], of: (own: T) => number | null | undefined): number | null {
  return sittings.reduce<number | null>((greatest, own) => {
    const value = of(own) ?? null;
    if (value === null) return greatest;
    return greatest === null ? value : Math.max(greatest, value);
  }, null);
}

/** The sum over sittings; null where one does not have it, or there is none. */
export function total<T>(sittings: readonly T[], of: (own: T) => number | null | undefined): number | null {
  if (sittings.length === 0) return null;
  return sittings.reduce<number | null>((sum, own) => {
    const value = of(own) ?? null;
    return sum === null || value === null ? null : sum + value;
  }, 0);
}
