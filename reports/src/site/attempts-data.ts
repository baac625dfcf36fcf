import { type CoverageFit, fitCoverageLaw } from '@perwatt/metrics';
import type { AttemptFigures, AttemptsAt } from '../grading-attempts.js';
import type { CellResult } from '../results-types.js';

/** Strategies whose attempts do not see one another, and whether all they spend is spent on attempts. */
const independent: ReadonlyMap<string, { readonly pure: boolean }> = new Map([
  ['single', { pure: true }],
  ['repeated_sampling', { pure: true }],
  ['self_consistency', { pure: true }],
  ['best_of_n', { pure: false }],
  ['weighted_vote', { pure: false }],
]);

/** What more attempts at an item bring, and cost, in one cell. */
export interface CellAttempts {
  readonly cell: CellResult;
  readonly figures: AttemptFigures;
  readonly law: CoverageFit | null;
  /** Joules of one attempt, those of the cell shared equally; null where unknown, or where they pay for more than attempts. */
  readonly attempt_j: number | null;
}

/** One number of attempts with what it costs. */
export interface AttemptsCost extends AttemptsAt {
  /** Joules of k attempts over the share of items that one of them covers; null where nothing is covered or joules are unknown. */
  readonly energy_per_covered_j: number | null;
  /** Joules for each percentage point that these attempts cover beyond the row before; null in the first, and for none. */
  readonly marginal_j_per_pp: number | null;
}

function attemptEnergy({ metrics, counts }: CellResult, { attempts }: AttemptFigures): number | null {
  const query = metrics.energy_per_query_j.value;
  return query === null || attempts === 0 ? null : (query * counts.attempted) / attempts;
}

/** Cells whose items were attempted twice or more, by attempts that know nothing of one another. */
export function attemptedCells(cells: readonly CellResult[]): CellAttempts[] {
  return cells.flatMap((cell) => {
    const kind = independent.get(cell.provenance?.strategy.id ?? '');
    const figures = cell.grading?.figures[0]?.attempts ?? null;
    if (kind === undefined || figures === null) return [];
    const points = figures.at.flatMap(({ k, pass_at_k }) =>
      pass_at_k === null ? [] : [{ k, coverage: pass_at_k }],
    );
    const attempt_j = kind.pure ? attemptEnergy(cell, figures) : null;
    return [{ cell, figures, law: fitCoverageLaw(points), attempt_j }];
  });
}

/** The numbers of attempts of a cell, each with its cost: k attempts cost k times one. */
export function attemptCosts({ figures, attempt_j }: CellAttempts): AttemptsCost[] {
  return figures.at.map((at, i) => ({
    ...at,
    energy_per_covered_j:
      attempt_j === null || at.pass_at_k === null || at.pass_at_k === 0
        ? null
        : (at.k * attempt_j) / at.pass_at_k,
    marginal_j_per_pp: marginal(at, figures.at[i - 1], attempt_j),
  }));
}

function marginal(at: AttemptsAt, before: AttemptsAt | undefined, attempt_j: number | null): number | null {
  const [now, then = null] = [at.pass_at_k, before?.pass_at_k];
  if (attempt_j === null || before === undefined || now === null || then === null || now <= then) return null;
  return ((at.k - before.k) * attempt_j) / (100 * (now - then));
}
