import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { isErrorCode, PerwattError } from '@perwatt/core';
import type { RunFolder } from '@perwatt/records';
import { assembleResults, buildResults } from './build-results.js';
import type { ComputedCell } from './cell-result.js';
import type { RunResults } from './results-types.js';
import type { CarriedError, CellAnswer, WorkerJob } from './results-worker-messages.js';

const entry = fileURLToPath(new URL('../dist/results-worker.js', import.meta.url));

/** Cells that a thread has before it: one at work, one to go on with. */
const AHEAD = 2;

/**
 * `buildResults` with its cells shared out to `threads` threads. Each cell is computed by one of them, alone and in one
 * order, so that the results are the same to the byte for any number. With one thread it is `buildResults` itself. Throws
 * what that throws, and `BUILD_MISSING` without built files.
 */
export async function buildResultsOn(
  run: RunFolder,
  { threads }: { readonly threads: number },
): Promise<RunResults> {
  const cells = run.cells().map(({ cell_id }) => cell_id);
  const workers = Math.min(threads, cells.length);
  if (workers <= 1) return buildResults(run);
  if (!existsSync(entry)) throw new PerwattError('BUILD_MISSING', `${entry} is missing`);
  const byId = await computedOn({ path: run.path }, cells, workers);
  const computed = cells.flatMap((cell_id) => byId.get(cell_id) ?? []);
  return assembleResults(run, { power: run.powerSeries(), computed });
}

function computedOn(
  workerData: WorkerJob,
  cells: readonly string[],
  count: number,
): Promise<Map<string, ComputedCell>> {
  const computed = new Map<string, ComputedCell>();
  let next = 0;
  return new Promise((resolve, reject) => {
    const workers = Array.from({ length: count }, () => new Worker(entry, { workerData, execArgv: [] }));
    const end = () => {
      for (const worker of workers) void worker.terminate();
    };
    const fail = (error: Error) => {
      end();
      reject(error);
    };
    const give = (worker: Worker) => {
      const cell_id = cells[next];
      next += 1;
      if (cell_id !== undefined) worker.postMessage(cell_id);
    };
    for (const worker of workers) {
      worker.on('error', fail);
      worker.on('message', (answer: CellAnswer) => {
        if ('error' in answer) {
          fail(errorOf(answer.error));
          return;
        }
        computed.set(answer.cell_id, JSON.parse(answer.text) as ComputedCell);
        if (computed.size < cells.length) give(worker);
        else {
          end();
          resolve(computed);
        }
      });
      for (let i = 0; i < AHEAD; i++) give(worker);
    }
  });
}

function errorOf({ code, message, hint }: CarriedError): Error {
  return isErrorCode(code)
    ? new PerwattError(code, message, hint === null ? {} : { hint })
    : new Error(message);
}
