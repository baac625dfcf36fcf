import { readFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { messageOf, PerwattError } from '@perwatt/core';
import { clock } from '@perwatt/native-power';
import { recipeById, trainSeed } from '@perwatt/recipes';
import type { TrainJob, TrainMessage } from './train-messages.js';

// Entry of a thread that trains one seed. What it computes depends on its job alone; stamps are taken around each piece.

const say = (message: TrainMessage) => parentPort?.postMessage(message);

/** CPU time of this thread so far, ns; null where the system does not tell. */
function cpuNs(): number | null {
  try {
    const ns = Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]);
    return Number.isFinite(ns) ? ns : null;
  } catch {
    return null;
  }
}

function train({ recipe: id, params, seed, from }: TrainJob): void {
  const recipe = recipeById(id);
  const events = trainSeed(recipe, { params, seed, from });
  for (;;) {
    const start_ns = clock.now();
    const before = cpuNs();
    const next = events.next();
    if (next.done === true) return;
    const after = cpuNs();
    const cpu_ns = before === null || after === null ? null : after - before;
    const stamps = { start_ns, end_ns: clock.now(), cpu_ns };
    const event = next.value;
    if (event.kind === 'checkpoint') say(event);
    else if (event.kind !== 'votes') say({ ...event, stamps });
  }
}

try {
  train(workerData as TrainJob);
} catch (error) {
  say({
    kind: 'failed',
    error:
      error instanceof PerwattError
        ? { code: error.code, message: error.message, hint: error.hint }
        : {
            code: null,
            message: error instanceof Error ? (error.stack ?? error.message) : messageOf(error),
            hint: null,
          },
  });
}
