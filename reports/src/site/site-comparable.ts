import type { ComparableCell } from '../compare/comparable.js';
import { comparableRun } from '../compare/comparable-run.js';
import type { Site, SiteCell, SiteRun } from './site-model.js';

/** Queries of a site above which its pages compare cells by their intervals: a bootstrap over more takes longer than a reader waits. */
const MOST_COMPARED = 20_000;

const attempted = ({ results }: SiteRun): number =>
  results.cells.reduce((sum, { counts }) => sum + counts.attempted, 0);

/** Whether pages may read the rows of a run again: it has its folder, and is no large one. */
export const isSmall = (run: SiteRun, most: number): boolean => run.run !== null && attempted(run) <= most;

/**
 * The cells of a site in the terms of a comparison, under the site's names of accelerators; `record` is a cell's key.
 * Runs without a folder have none.
 */
export function siteComparables({ runs, cells, catalogue }: Site): ComparableCell[] {
  const keyOf = new Map<string, SiteCell>(
    cells.map((own) => [`${own.run.results.run_id}/${own.cell_id}`, own]),
  );
  const all = runs.reduce((sum, own) => sum + attempted(own), 0);
  const contributions = all <= MOST_COMPARED ? 'read' : 'skip';
  return runs.flatMap((own) => {
    if (own.run === null) return [];
    const found = comparableRun({ run: own.run, results: own.results, contributions }, catalogue);
    return found.flatMap((cell): ComparableCell[] => {
      const placed = keyOf.get(cell.record);
      if (placed === undefined) return [];
      const axes = { ...cell.axes, accelerator: placed.cell.point.accelerator };
      return [{ ...cell, record: placed.key, axes }];
    });
  });
}
