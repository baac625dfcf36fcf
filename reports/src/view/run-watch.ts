import { join } from 'node:path';
import { openRun, type RunFolder } from '@perwatt/records';
import { createCellWatch } from './cell-watch.js';
import { createPowerWatch } from './power-watch.js';
import { createRateTally } from './rate-tally.js';
import { type ReadBudget, stampOf, type WatchState } from './watch-types.js';

export interface RunWatch {
  /** Reads what came since the last look, no more than its limit, and tells how the run stands. */
  look(): WatchState;
}

export interface WatchOptions {
  /** Most bytes to read in one look, but for the batch that is begun. Default 16 MiB. */
  readonly most_bytes?: number;
}

const MOST_BYTES = 16 * 2 ** 20;

/**
 * Follows the run at `path` while another process writes it. Reads only, never a byte of texts, and what it has read it
 * doesn't read again; no file stays open. Throws as `openRun` does.
 */
export function createRunWatch(path: string, { most_bytes = MOST_BYTES }: WatchOptions = {}): RunWatch {
  let run = openRun(path);
  const manifestFile = join(path, 'run.json');
  let stamp = stampOf(manifestFile);
  const rates = createRateTally();
  const power = createPowerWatch();
  const cells = new Map<string, ReturnType<typeof createCellWatch>>();
  let bytes = 0;
  const refresh = (): number => {
    const now = stampOf(manifestFile);
    if (now === null || now.key === stamp?.key) return 0;
    stamp = now;
    run = openRun(path);
    return now.size;
  };
  return {
    look() {
      const budget: ReadBudget = { left: most_bytes };
      budget.left -= refresh();
      power.follow(run, budget);
      for (const id of run.manifest.order) {
        const cell = cells.get(id) ?? createCellWatch(run.cellFolder(id), id, rates);
        cells.set(id, cell);
        cell.follow(run, budget);
      }
      const read = most_bytes - budget.left;
      bytes += read;
      const watched = [...cells.values()];
      return stateOf(run, {
        cells: watched.map((cell) => cell.state()),
        rates: rates.rates(),
        power: power.state(run),
        bytes_read: bytes,
        bytes_last: read,
        behind: power.behind() || watched.some((cell) => cell.behind()),
        problems: [...power.problems(), ...watched.flatMap((cell) => cell.problems())],
      });
    },
  };
}

interface Looked
  extends Pick<WatchState, 'cells' | 'power' | 'bytes_read' | 'bytes_last' | 'behind' | 'problems'> {
  readonly rates: { readonly tokens_per_s: number | null; readonly calls_per_s: number | null };
}

function stateOf({ manifest }: RunFolder, { rates, ...looked }: Looked): WatchState {
  const { cells } = looked;
  const planned = cells.map((cell) => cell.planned);
  return {
    run_id: manifest.run_id,
    name: manifest.matrix.name,
    status: manifest.status,
    cells_done: cells.filter(({ status }) => status === 'done' || status === 'failed').length,
    cells_planned: manifest.order.length,
    queries_done: cells.reduce(
      (sum, cell) => sum + Math.max(cell.queries, Math.min(cell.calls, cell.planned ?? 0)),
      0,
    ),
    queries_planned: planned.includes(null) ? null : planned.reduce<number>((sum, n) => sum + (n ?? 0), 0),
    ...rates,
    ...looked,
  };
}
