import { parentPort, workerData } from 'node:worker_threads';
import { isErrorCode, messageOf, PerwattError } from '@perwatt/core';
import { fileTexts, loadTrace } from '@perwatt/datasets';
import { openCounter } from './replay-tokens.js';
import { rowsOfTrace } from './replay-trace.js';
import type { TraceJob, TraceThreadMessage } from './replay-trace-thread.js';

// Entry of a thread that reads a trace into shared memory: what reading takes besides is gone when the thread is.

const { load, calls, tokenizer } = workerData as TraceJob;
const say = (message: TraceThreadMessage) => parentPort?.postMessage(message);

try {
  const counter = tokenizer === null ? null : await openCounter(tokenizer.name, tokenizer.options);
  const counted = counter === null ? {} : { counter };
  const texts = calls.textFile === undefined ? null : fileTexts(`${calls.textFile}.read`);
  try {
    const table = await loadTrace(load.path, { ...load, ...counted, ...(texts === null ? {} : { texts }) });
    const { path, format, sha256 } = table.meta;
    const rows = await rowsOfTrace(table, calls, counter ?? undefined);
    say({ kind: 'read', trace: { path, format, sha256 }, rows, counter: counter?.label ?? null });
  } finally {
    texts?.close();
    await counter?.close();
  }
} catch (error) {
  const code = error instanceof Error && 'code' in error && isErrorCode(error.code) ? error.code : null;
  const hint = error instanceof PerwattError ? error.hint : null;
  say({ kind: 'failed', code, hint, message: messageOf(error) });
}
