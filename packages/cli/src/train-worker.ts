import { readFileSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { messageOf, PerwattError } from '@perwatt/core';
import { clock } from '@perwatt/native-power';
import { recipeById, trainSeed } from '@perwatt/recipes';
import type { CarriedError } from './power-thread-messages.js';
import type { TrainJob, TrainMessage } from './train-messages.js';

// Entry of a thread that trains seeds, one after the other. What it computes depends on each job alone; stamps are taken
// around each piece.

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
  let start_ns = clock.now();
  let before = cpuNs();
  for (let next = events.next(); next.done !== true; next = events.next()) {
    const [end_ns, after] = [clock.now(), cpuNs()];
    const cpu_ns = before === null || after === null ? null : after - before;
    const event = next.value;
    if (event.kind === 'checkpoint') say(event);
    else say({ ...event, stamps: { start_ns, end_ns, cpu_ns } });
    // The next piece begins where this one ended: telling of it is part of the work.
    start_ns = event.kind === 'checkpoint' ? clock.now() : end_ns;
    before = after;
  }
}

function errorOf(error: unknown): CarriedError {
  if (error instanceof PerwattError) return { code: error.code, message: error.message, hint: error.hint };
  const message = error instanceof Error ? (error.stack ?? error.message) : messageOf(error);
  return { code: null, message, hint: null };
}

parentPort?.on('message', (job: TrainJob) => {
  try {
    train(job);
    say({ kind: 'done' });
  } catch (error) {
    say({ kind: 'failed', error: errorOf(error) });
  }
});
say({ kind: 'ready', at_ns: clock.now() });
