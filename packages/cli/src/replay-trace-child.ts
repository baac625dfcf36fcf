import { isErrorCode, messageOf, PerwattError } from '@perwatt/core';
import { fileTexts, loadTrace } from '@perwatt/datasets';
import { writeArrays } from './array-file.js';
import { openCounter } from './replay-tokens.js';
import { rowsOfTrace } from './replay-trace.js';
import type { TraceReaderJob, TraceReaderMessage } from './replay-trace-reader.js';

// The process that reads a trace: what reading takes besides its rows is gone when it is. It ends with its parent, whose
// channel closes even when the parent is killed; Ctrl-C is the parent's to act on.

process.on('SIGINT', () => {});
process.on('disconnect', () => process.exit(0));
process.on('message', (job: TraceReaderJob) => void read(job).then(say));

const say = (message: TraceReaderMessage) => void (process.connected && process.send?.(message));

async function read({ load, calls, tokenizer, arrays }: TraceReaderJob): Promise<TraceReaderMessage> {
  try {
    const counter = tokenizer === null ? null : await openCounter(tokenizer.name, tokenizer.options);
    const counted = counter === null ? {} : { counter };
    const texts = calls.textFile === undefined ? null : fileTexts(`${calls.textFile}.read`);
    try {
      const table = await loadTrace(load.path, { ...load, ...counted, ...(texts === null ? {} : { texts }) });
      const { path, format, sha256 } = table.meta;
      const rows = writeArrays(arrays, await rowsOfTrace(table, calls, counter ?? undefined));
      return { kind: 'read', trace: { path, format, sha256 }, rows, counter: counter?.label ?? null };
    } finally {
      texts?.close();
      await counter?.close();
    }
  } catch (error) {
    return failureOf(error);
  }
}

function failureOf(error: unknown): TraceReaderMessage {
  const code = error instanceof Error && 'code' in error && isErrorCode(error.code) ? error.code : null;
  const hint = error instanceof PerwattError ? error.hint : null;
  return { kind: 'failed', code, hint, message: messageOf(error) };
}
