import { paretoFront } from '@perwatt/metrics';
import type { CellResult } from './results-types.js';

type Candidate = Omit<CellResult, 'on_front'>;

/** What cells must share for a front to mean something: the questions, the tier of their energy, and the scopes that it is of. */
const workloadOf = ({ point, energy: { boundary } }: Candidate): string =>
  JSON.stringify([
    point.dataset,
    boundary?.provenance ?? null,
    [...new Set(boundary?.domains.map(({ scope }) => scope))].sort(),
  ]);

/** Cells in groups that may be compared, in the order they first appear. */
export function byWorkload<C extends Candidate>(cells: readonly C[]): C[][] {
  const groups = new Map<string, C[]>();
  for (const cell of cells) {
    const key = workloadOf(cell);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [cell]);
    else group.push(cell);
  }
  return [...groups.values()];
}

/** Ids of the cells that no other cell of the same workload beats in accuracy and energy per query. Invalid cells are out. */
export function cellsOnFront(cells: readonly Candidate[]): Set<string> {
  const groups = byWorkload(cells.filter(({ verdict }) => verdict.state !== 'invalid'));
  const front = groups.flatMap((group) =>
    paretoFront(
      group.flatMap(({ cell_id, metrics }) => {
        const [x, y] = [metrics.energy_per_query_j.value, metrics.accuracy.value];
        return x === null || y === null ? [] : [{ cell_id, x, y }];
      }),
    ),
  );
  return new Set(front.map(({ cell_id }) => cell_id));
}
