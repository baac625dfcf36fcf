import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { type ErrorCode, PerwattError, type ZeroOutputPolicy } from '@perwatt/core';
import type { LoadRowArrays } from '@perwatt/harness';
import type { CounterOptions, TokenizerName } from './replay-tokens.js';
import type { TraceCalls } from './replay-trace.js';

const entry = fileURLToPath(new URL('../dist/replay-trace-worker.js', import.meta.url));

/** Which trace is read, and what its rows are made into calls with. */
export interface TraceJob {
  readonly load: {
    readonly path: string;
    readonly root: string;
    readonly zeroOutput: ZeroOutputPolicy;
    readonly format?: string;
    readonly limit?: number;
  };
  readonly calls: TraceCalls;
  /** Who counts tokens; null where nobody does. */
  readonly tokenizer: { readonly name: TokenizerName; readonly options: CounterOptions } | null;
}

/** The calls of a trace, in shared memory. */
export interface ReadTrace {
  readonly trace: { readonly path: string; readonly format: string; readonly sha256: string };
  readonly rows: LoadRowArrays;
  /** Who counted its tokens; null where nobody did. */
  readonly counter: string | null;
}

/** What the thread says. */
export type TraceThreadMessage =
  | ({ readonly kind: 'read' } & ReadTrace)
  | {
      readonly kind: 'failed';
      readonly code: ErrorCode | null;
      readonly hint: string | null;
      readonly message: string;
    };

/** Little room for young objects: rows are made and dropped one by one. */
const HEAP_MB = { maxYoungGenerationSizeMb: 6, maxOldGenerationSizeMb: 2048 };

/**
 * Reads a trace in a thread of its own, whose memory goes with it. Throws what reading throws, and `BUILD_MISSING` without
 * built files.
 */
export function readTrace(job: TraceJob, signal: AbortSignal): Promise<ReadTrace> {
  if (!existsSync(entry)) throw new PerwattError('BUILD_MISSING', `${entry} is missing`);
  const thread = new Worker(entry, { workerData: job, execArgv: [], resourceLimits: HEAP_MB });
  const stop = () => void thread.terminate();
  signal.addEventListener('abort', stop, { once: true });
  return new Promise<ReadTrace>((resolve, reject) => {
    thread.on('message', (message: TraceThreadMessage) => {
      if (message.kind === 'read') return resolve(message);
      const { code, hint, message: text } = message;
      reject(code === null ? new Error(text) : new PerwattError(code, text, hint === null ? {} : { hint }));
    });
    thread.on('error', reject);
    thread.on('exit', () => {
      signal.removeEventListener('abort', stop);
      reject(signal.aborted ? signal.reason : new Error('the thread that reads the trace ended early'));
    });
  });
}
