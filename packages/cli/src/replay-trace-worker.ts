import { parentPort, workerData } from 'node:worker_threads';
import { isErrorCode, messageOf, PerwattError } from '@perwatt/core';
import { loadTrace } from '@perwatt/datasets';
import { rowsOfTrace } from './replay-trace.js';
import type { TraceJob, TraceThreadMessage } from './replay-trace-thread.js';

// Entry of a thread that reads a trace into shared memory: what reading takes besides is gone when the thread is.

const { load, calls } = workerData as TraceJob;
const say = (message: TraceThreadMessage) => parentPort?.postMessage(message);

try {
  const table = await loadTrace(load.path, load);
  const { path, format, sha256 } = table.meta;
  say({ kind: 'read', trace: { path, format, sha256 }, rows: rowsOfTrace(table, calls) });
} catch (error) {
  const code = error instanceof Error && 'code' in error && isErrorCode(error.code) ? error.code : null;
  const hint = error instanceof PerwattError ? error.hint : null;
  say({ kind: 'failed', code, hint, message: messageOf(error) });
}
