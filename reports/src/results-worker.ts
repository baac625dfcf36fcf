import { parentPort, workerData } from 'node:worker_threads';
import { PerwattError } from '@perwatt/core';
import { createScratch, openRun } from '@perwatt/records';
import { computeCell } from './cell-result.js';
import type { CellAnswer, WorkerJob } from './results-worker-messages.js';

// Entry of a thread that computes cells of a run, one after another, as it is asked. Figures travel as JSON, which keeps
// every digit of a double and costs less than cloning objects.

const { path, power } = workerData as WorkerJob;
const run = openRun(path);
const scratch = createScratch();

const say = (answer: CellAnswer) => parentPort?.postMessage(answer);

parentPort?.on('message', (cell_id: string) => {
  try {
    say({ cell_id, text: JSON.stringify(computeCell(run, run.readCell(cell_id), { power, scratch })) });
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    say(
      error instanceof PerwattError
        ? { cell_id, error: { code: error.code, message: text, hint: error.hint } }
        : { cell_id, error: { code: null, message: text, hint: null } },
    );
  }
});
