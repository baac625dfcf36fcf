import { availableParallelism } from 'node:os';
import type { RunFolder } from '@perwatt/records';
import { buildResultsOn, type RunResults } from '@perwatt/reports';

/** Rows of a run above which its cells are shared out to threads; below, starting them costs more than it saves. */
const MANY_ROWS = 200_000;

/** The results of a run, on all cores when it is a large one. They are the same for any number of threads. */
export function computeResults(run: RunFolder): Promise<RunResults> {
  const segments = run.cells().flatMap((cell) => cell.segments);
  const rows = segments.reduce((sum, segment) => sum + segment.rows, 0);
  return buildResultsOn(run, { threads: rows > MANY_ROWS ? availableParallelism() : 1 });
}
