import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { type Instant, PerwattError } from '@perwatt/core';
import type { OpenLoadWorker, WorkerHealth } from '@perwatt/harness';
import type {
  LoadTarget,
  LoadThreadJob,
  LoadThreadMessage,
  LoadThreadRequest,
} from './replay-thread-messages.js';

const entry = fileURLToPath(new URL('../dist/replay-worker.js', import.meta.url));

/** Most memory for objects of one thread, MB: its arrays lie outside of it. */
const HEAP_MB = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 12 };

/**
 * Load threads for a target: each sends its share with an event loop of its own. Throws `BUILD_MISSING` without built files;
 * a thread that dies fails its run.
 */
export function loadThreads(target: LoadTarget): OpenLoadWorker {
  if (!existsSync(entry)) throw new PerwattError('BUILD_MISSING', `${entry} is missing`);
  return (work, onCalls) => {
    const workerData: LoadThreadJob = { work, target };
    const thread = new Worker(entry, { workerData, execArgv: [], resourceLimits: HEAP_MB });
    const [ready, done] = [deferred<void>(), deferred<WorkerHealth>()];
    const fail = (error: Error) => {
      ready.reject(error);
      done.reject(error);
    };
    thread.on('error', fail);
    thread.on('exit', () => fail(new Error('a load thread ended early')));
    const take = (message: LoadThreadMessage) => {
      switch (message.kind) {
        case 'ready':
          return ready.resolve();
        case 'calls':
          return guarded(() => onCalls(message.columns, message.facts), fail);
        case 'done':
          return done.resolve(message.health);
        case 'failed':
          return fail(errorOf(message));
      }
    };
    thread.on('message', take);
    const ask = (request: LoadThreadRequest) => thread.postMessage(request);
    let begun = false;
    return {
      ready: ready.promise,
      run(zero: Instant) {
        begun = true;
        ask({ kind: 'run', zero });
        return done.promise;
      },
      stop() {
        if (begun) return ask({ kind: 'stop' });
        done.promise.catch(() => {});
        ready.promise.catch(() => {});
        void thread.terminate();
      },
    };
  };
}

const errorOf = ({ code, message }: Extract<LoadThreadMessage, { readonly kind: 'failed' }>): Error =>
  code === null ? new Error(message) : new PerwattError(code, message);

function guarded(action: () => void, fail: (error: Error) => void): void {
  try {
    action();
  } catch (error) {
    fail(error instanceof Error ? error : new Error(String(error)));
  }
}

function deferred<T>() {
  let resolve: (value: T) => void = () => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
