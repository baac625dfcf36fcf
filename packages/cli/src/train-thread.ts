import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { isErrorCode, PerwattError } from '@perwatt/core';
import type { CarriedError } from './power-thread-messages.js';
import type { TrainJob, TrainMessage } from './train-messages.js';

const entry = fileURLToPath(new URL('../dist/train-worker.js', import.meta.url));

/**
 * Trains one seed in a thread of its own; resolves when it has ended. A signal ends it at once: the last checkpoint is where
 * it goes on from. Throws what the training throws, and `BUILD_MISSING` without built files.
 */
export function trainThread(
  job: TrainJob,
  onMessage: (message: Exclude<TrainMessage, { kind: 'failed' }>) => void,
  signal: AbortSignal,
): Promise<void> {
  if (!existsSync(entry)) throw new PerwattError('BUILD_MISSING', `${entry} is missing`);
  return new Promise((resolve, reject) => {
    const worker = new Worker(entry, { workerData: job, execArgv: [] });
    const stop = () => void worker.terminate();
    const fail = (error: unknown) => {
      stop();
      reject(error);
    };
    signal.addEventListener('abort', stop, { once: true });
    worker.on('message', (message: TrainMessage) => {
      try {
        if (message.kind === 'failed') fail(errorOf(message.error));
        else if (!signal.aborted) onMessage(message);
      } catch (error) {
        fail(error);
      }
    });
    worker.on('error', reject);
    worker.on('exit', () => {
      signal.removeEventListener('abort', stop);
      resolve();
    });
  });
}

const errorOf = ({ code, message, hint }: CarriedError): Error =>
  isErrorCode(code) ? new PerwattError(code, message, hint === null ? {} : { hint }) : new Error(message);
