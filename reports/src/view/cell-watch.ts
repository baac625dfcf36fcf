import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type CellFile, createSegmentTail, type RunFolder, type SegmentTail } from '@perwatt/records';
import { createCellCounts } from './cell-counts.js';
import type { RateTally } from './rate-tally.js';
import { type ReadBudget, stampOf, type WatchedCell } from './watch-types.js';

const tables = ['calls', 'queries'] as const;

function factsOf(
  cell: CellFile | null,
  cell_id: string,
): Pick<WatchedCell, 'label' | 'status' | 'verdict' | 'planned'> {
  if (cell === null) return { label: cell_id, status: 'planned', verdict: null, planned: null };
  const { point, status, verdict, provenance, repeats } = cell;
  const planned = provenance === null ? null : provenance.dataset.items * repeats;
  return { label: Object.values(point).join(' · '), status, verdict: verdict?.state ?? null, planned };
}

/** Follows one cell: its file, its calls, and the rows that closed sittings leave. */
export function createCellWatch(folder: string, cell_id: string, rates: RateTally) {
  const file = join(folder, 'cell.json');
  let cell: CellFile | null = null;
  let stamp: string | null = null;
  const tails = new Map<string, SegmentTail>();
  const counts = createCellCounts(rates);
  const visitors = { calls: counts.takeCalls, queries: counts.takeQueries };

  const refresh = (run: RunFolder, budget: ReadBudget) => {
    const now = stampOf(file);
    if (now === null || now.key === stamp) return;
    stamp = now.key;
    cell = run.readCell(cell_id);
    budget.left -= now.size;
  };
  const segments = (): string[] =>
    existsSync(folder)
      ? readdirSync(folder)
          .filter((name) => /^(?:calls|queries)-\d+\.arrows$/.test(name))
          .sort()
      : [];
  /** Whether nothing of a cell can change any more: it is over, and all its segments were read to their ends. */
  const isOver = () =>
    cell?.status === 'done' && tails.size > 0 && [...tails.values()].every(({ closed }) => closed);

  return {
    follow(run: RunFolder, budget: ReadBudget): void {
      refresh(run, budget);
      if (cell === null || isOver()) return;
      for (const name of segments()) {
        const table = tables.find((one) => name.startsWith(`${one}-`)) ?? 'calls';
        const tail = tails.get(name) ?? createSegmentTail(join(folder, name), { table });
        tails.set(name, tail);
        if (budget.left > 0) budget.left -= tail.read(budget.left, visitors[table]);
      }
    },
    state: (): WatchedCell => ({ cell_id, ...factsOf(cell, cell_id), ...counts.counts() }),
    behind: (): boolean => [...tails.values()].some((tail) => tail.behind),
    problems: (): string[] =>
      [...tails].flatMap(([name, { problem }]) =>
        problem === null ? [] : [`cells/${cell_id}/${name}: ${problem}`],
      ),
  };
}
