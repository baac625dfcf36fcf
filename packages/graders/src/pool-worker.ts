import { Worker } from 'node:worker_threads';
import { messageOf } from '@perwatt/core';
import { threadCpuMs } from './thread-cpu.js';
import type { WorkerAnswer, WorkerTask } from './worker-messages.js';

export interface PoolWorkerOptions {
  readonly entry: string;
  readonly time_limit_ms: number;
  readonly memory_mb: number;
}

/** What a worker said to a task, and whether it can take another one. */
export interface Said {
  readonly answer: Exclude<WorkerAnswer, { readonly kind: 'ready' }>;
  readonly alive: boolean;
}

/** One thread of a grader pool: one task at a time, ended when a task overruns. Idle, it does not keep the process alive. */
export interface PoolWorker {
  ask(task: WorkerTask): Promise<Said>;
  /** Ends the thread; a task under way fails with `reason`. */
  end(reason: string): Promise<void>;
}

/** Longest wait for a thread to start, ms. */
const START_MS = 60_000;
/** By the clock a task may take so many times its CPU time, on a machine that others keep busy. */
const PATIENCE = 10;

/** Starts a thread; tasks wait until it is there. */
export function createPoolWorker({ entry, time_limit_ms, memory_mb }: PoolWorkerOptions): PoolWorker {
  const worker = new Worker(entry, {
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: memory_mb, stackSizeMb: 4 },
  });
  worker.unref();
  let thread: string | null = null;
  let pending: ((said: Said) => void) | null = null;
  let gone: string | null = null;

  const ready = new Promise<void>((resolve) => {
    const timer = setTimeout(() => void end('the grader did not start'), START_MS);
    worker.on('message', (answer: WorkerAnswer) => {
      if (answer.kind !== 'ready') return say({ answer, alive: true });
      thread = answer.thread;
      clearTimeout(timer);
      resolve();
    });
    worker.on('exit', () => {
      clearTimeout(timer);
      fail('the grader ended by itself');
      resolve();
    });
  });
  worker.on('error', (error: unknown) => fail(reasonOf(error, memory_mb)));

  function say(said: Said): void {
    pending?.(said);
    pending = null;
  }
  function fail(message: string): void {
    gone ??= message;
    say({ answer: { kind: 'failed', message: gone }, alive: false });
  }
  async function end(reason: string): Promise<void> {
    fail(reason);
    await worker.terminate();
  }

  return {
    end,
    ask: async (task) => {
      worker.ref();
      await ready;
      if (gone !== null) return { answer: { kind: 'failed', message: gone }, alive: false };
      const answered = new Promise<Said>((resolve) => {
        pending = resolve;
      });
      const watch = watchTime({ thread, time_limit_ms, onOverrun: () => void end(overrun(time_limit_ms)) });
      worker.postMessage(task);
      const said = await answered;
      watch.stop();
      worker.unref();
      return said;
    },
  };
}

const overrun = (limit_ms: number): string => `timeout: grading took more than ${limit_ms} ms`;

const reasonOf = (error: unknown, memory_mb: number): string =>
  (error as { readonly code?: unknown } | null)?.code === 'ERR_WORKER_OUT_OF_MEMORY'
    ? `memory: grading took more than ${memory_mb} MB`
    : messageOf(error);

interface WatchOptions {
  readonly thread: string | null;
  readonly time_limit_ms: number;
  readonly onOverrun: () => void;
}

/** Looks at a thread's CPU time when its limit is up by the clock, and again for what was left of it. */
function watchTime({ thread, time_limit_ms, onOverrun }: WatchOptions): { stop(): void } {
  const start = thread === null ? null : threadCpuMs(thread);
  let waited_ms = 0;
  const wait = (ms: number): NodeJS.Timeout =>
    setTimeout(() => {
      waited_ms += ms;
      const now = thread === null || start === null ? null : threadCpuMs(thread);
      const used_ms = start === null || now === null ? waited_ms : now - start;
      const left_ms = Math.min(time_limit_ms - used_ms, PATIENCE * time_limit_ms - waited_ms);
      if (left_ms <= 0) onOverrun();
      else timer = wait(Math.max(1, Math.ceil(left_ms)));
    }, ms);
  let timer = wait(time_limit_ms);
  return { stop: () => clearTimeout(timer) };
}
