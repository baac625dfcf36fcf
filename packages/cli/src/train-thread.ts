import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { type Instant, isErrorCode, PerwattError } from '@perwatt/core';
import type { CarriedError } from './power-thread-messages.js';
import type { JobMessage, TrainJob, TrainMessage } from './train-messages.js';

const entry = fileURLToPath(new URL('../dist/train-worker.js', import.meta.url));

/** A thread that trains one seed after the other. */
export interface TrainThread {
  /** Trains a seed; resolves when it has ended, or the thread has. Throws what the training throws. */
  train(job: TrainJob, onMessage: (message: JobMessage) => void): Promise<void>;
  close(): Promise<void>;
}

interface Work {
  readonly onMessage: (message: JobMessage) => void;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Starts a thread for trainings; what each computes does not depend on those before it. A signal ends it at once: the last
 * checkpoint is where a training goes on from. `onReady` is told when its code was loaded. Throws `BUILD_MISSING` without
 * built files.
 */
export function openTrainThread(signal: AbortSignal, onReady: (at_ns: Instant) => void): TrainThread {
  if (!existsSync(entry)) throw new PerwattError('BUILD_MISSING', `${entry} is missing`);
  const worker = new Worker(entry, { execArgv: [] });
  let work: Work | null = null;
  let failure: { readonly error: unknown } | null = null;
  let ended = false;
  const settle = () => {
    const own = work;
    work = null;
    if (failure === null) own?.resolve();
    else own?.reject(failure.error);
  };
  const stop = () => void worker.terminate();
  const fail = (error: unknown) => {
    failure ??= { error };
    settle();
    stop();
  };
  const take = (message: TrainMessage) => {
    if (message.kind === 'ready') onReady(message.at_ns);
    else if (message.kind === 'failed') fail(errorOf(message.error));
    else if (message.kind === 'done') settle();
    else if (!signal.aborted) work?.onMessage(message);
  };
  worker.on('message', (message: TrainMessage) => {
    try {
      take(message);
    } catch (error) {
      fail(error);
    }
  });
  worker.on('error', fail);
  const gone = new Promise<void>((resolve) => {
    worker.on('exit', () => {
      ended = true;
      signal.removeEventListener('abort', stop);
      settle();
      resolve();
    });
  });
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  return {
    train: (job, onMessage) =>
      new Promise((resolve, reject) => {
        work = { onMessage, resolve, reject };
        if (ended || failure !== null) settle();
        else worker.postMessage(job);
      }),
    close() {
      stop();
      return gone;
    },
  };
}

const errorOf = ({ code, message, hint }: CarriedError): Error =>
  isErrorCode(code) ? new PerwattError(code, message, hint === null ? {} : { hint }) : new Error(message);
