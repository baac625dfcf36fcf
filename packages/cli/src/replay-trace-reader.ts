import { fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type ErrorCode, PerwattError, type ZeroOutputPolicy } from '@perwatt/core';
import type { LoadRowArrays } from '@perwatt/harness';
import { readArrays } from './array-file.js';
import type { CounterOptions, TokenizerName } from './replay-tokens.js';
import type { TraceCalls } from './replay-trace.js';

const entry = fileURLToPath(new URL('../dist/replay-trace-child.js', import.meta.url));

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

/** What the process says. Arrays of the rows lie in its job's file. */
export type TraceReaderMessage =
  | ({ readonly kind: 'read'; readonly rows: unknown } & Omit<ReadTrace, 'rows'>)
  | {
      readonly kind: 'failed';
      readonly code: ErrorCode | null;
      readonly hint: string | null;
      readonly message: string;
    };

/** What the process is told: the job, and a file of its own for what it read. */
export interface TraceReaderJob extends TraceJob {
  readonly arrays: string;
}

/** Little room for young objects: rows are made and dropped one by one. */
const HEAP = ['--max-semi-space-size=2', '--max-old-space-size=2048'];

/**
 * Reads a trace in a process of its own, whose memory goes with it, by way of the file `arrays`, which must not be there.
 * Throws what reading throws, and `BUILD_MISSING` without built files.
 */
export async function readTrace(job: TraceReaderJob, signal: AbortSignal): Promise<ReadTrace> {
  if (!existsSync(entry)) throw new PerwattError('BUILD_MISSING', `${entry} is missing`);
  const said = await ask(job, signal);
  if (said.kind === 'failed') {
    const { code, hint, message } = said;
    throw code === null ? new Error(message) : new PerwattError(code, message, hint === null ? {} : { hint });
  }
  const { kind: _, rows, ...read } = said;
  return { ...read, rows: readArrays(job.arrays, rows) as LoadRowArrays };
}

function ask(job: TraceReaderJob, signal: AbortSignal): Promise<TraceReaderMessage> {
  const child = fork(entry, [], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'], execArgv: HEAP });
  const stop = () => void child.kill('SIGKILL');
  signal.addEventListener('abort', stop, { once: true });
  return new Promise<TraceReaderMessage>((resolve, reject) => {
    const fail = (why: string) => reject(signal.aborted ? signal.reason : new Error(why));
    child.on('message', (message) => resolve(message as TraceReaderMessage));
    child.on('error', reject);
    child.on('close', () => fail('the process that reads the trace ended early'));
    if (signal.aborted) stop();
    child.send(job);
  }).finally(() => {
    signal.removeEventListener('abort', stop);
    stop();
  });
}
