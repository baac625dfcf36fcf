import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { isErrorCode, PerwattError } from '@perwatt/core';
import { type CellFile, createScratch, type RunFolder } from '@perwatt/records';
import { assembleResults, buildResults } from './build-results.js';
import { type ComputedCell, computeCell } from './cell-result.js';
import type { RunResults } from './results-types.js';
import type { CarriedError, CellAnswer, WorkerJob } from './results-worker-messages.js';

const entry = fileURLToPath(new URL('../dist/results-worker.js', import.meta.url));

/** Cells that a worker has before it: one at work, the others to go on with while this thread computes its own. */
const AHEAD = 3;

/**
 * `buildResults` with its cells shared out to `threads` threads, this one among them. Each cell is computed by one of them,
 * alone and in one order, so that the results are the same to the byte for any number. With one thread it is
 * `buildResults` itself. Throws what that throws, and `BUILD_MISSING` without built files.
 */
export async function buildResultsOn(
  run: RunFolder,
  { threads }: { readonly threads: number },
): Promise<RunResults> {
  const cells = run.cells();
  const workers = Math.min(threads, cells.length) - 1;
  if (workers <= 0) return buildResults(run);
  if (!existsSync(entry)) throw new PerwattError('BUILD_MISSING', `${entry} is missing`);
  const queue = queueOf(cells);
  const power = run.powerSeries({ shared: true });
  const others = startWorkers({ path: run.path, power }, workers, queue);
  try {
    const scratch = createScratch();
    for (let cell = queue.next(); cell !== undefined; cell = queue.next()) {
      queue.done(cell.cell_id, computeCell(run, cell, { power, scratch }));
      await messagesTaken();
      others.check();
    }
    await others.idle();
    return assembleResults(run, { power, computed: queue.computed() });
  } finally {
    others.end();
  }
}

/** Cells in order, each handed out once. */
function queueOf(cells: readonly CellFile[]) {
  const computed = new Map<string, ComputedCell>();
  let at = 0;
  return {
    next: (): CellFile | undefined => cells[at++],
    done: (cell_id: string, cell: ComputedCell): void => void computed.set(cell_id, cell),
    isComplete: () => computed.size === cells.length,
    computed: () => cells.flatMap(({ cell_id }) => computed.get(cell_id) ?? []),
  };
}

/** A turn of the event loop: what workers said meanwhile is handled. */
const messagesTaken = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Workers that take cells of the queue until it is empty. */
function startWorkers(workerData: WorkerJob, count: number, queue: ReturnType<typeof queueOf>) {
  let failure: Error | null = null;
  let settle = () => {};
  const fail = (error: Error) => {
    failure ??= error;
    settle();
  };
  const give = (worker: Worker) => {
    const cell = queue.next();
    if (cell !== undefined) worker.postMessage(cell.cell_id);
  };
  const workers = Array.from({ length: count }, () => new Worker(entry, { workerData, execArgv: [] }));
  for (const worker of workers) {
    worker.on('error', fail);
    worker.on('message', (answer: CellAnswer) => {
      if ('error' in answer) return fail(errorOf(answer.error));
      queue.done(answer.cell_id, JSON.parse(answer.text) as ComputedCell);
      give(worker);
      if (queue.isComplete()) settle();
    });
    for (let i = 0; i < AHEAD; i++) give(worker);
  }
  const check = () => {
    if (failure !== null) throw failure;
  };
  return {
    /** Throws what went wrong with a worker. */
    check,
    /** Until all cells are computed. Throws what went wrong. */
    async idle(): Promise<void> {
      if (failure === null && !queue.isComplete())
        await new Promise<void>((resolve) => {
          settle = resolve;
        });
      check();
    },
    end(): void {
      for (const worker of workers) void worker.terminate();
    },
  };
}

function errorOf({ code, message, hint }: CarriedError): Error {
  return isErrorCode(code)
    ? new PerwattError(code, message, hint === null ? {} : { hint })
    : new Error(message);
}
