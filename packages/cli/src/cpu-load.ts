import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';

/** Load on every core of this host, to step through while power is measured. */
export interface CpuLoad {
  /** Share of the time that every core is kept busy, 0…1. */
  set(ratio: number): void;
  stop(): void;
}

/** Busy for a share of every 20 ms, asleep for the rest; ends at a negative share. */
const body = `
  const { workerData: permille } = require('node:worker_threads');
  const slice_ms = 20;
  for (;;) {
    const share = Atomics.load(permille, 0);
    if (share < 0) break;
    const busy_ms = (slice_ms * share) / 1000;
    const until = performance.now() + busy_ms;
    for (let x = 1; performance.now() < until; ) for (let i = 0; i < 1000; i++) x = Math.sqrt(x + i);
    if (busy_ms < slice_ms) Atomics.wait(permille, 0, share, slice_ms - busy_ms);
  }`;

/** Starts idle. */
export function startCpuLoad(threads = availableParallelism()): CpuLoad {
  const permille = new Int32Array(new SharedArrayBuffer(4));
  const workers = Array.from({ length: threads }, () => {
    const worker = new Worker(body, { eval: true, workerData: permille, execArgv: [] });
    worker.unref();
    return worker;
  });
  const store = (value: number) => {
    Atomics.store(permille, 0, value);
    Atomics.notify(permille, 0);
  };
  return {
    set: (ratio) => store(Math.round(Math.min(Math.max(ratio, 0), 1) * 1000)),
    stop() {
      store(-1);
      for (const worker of workers) void worker.terminate();
    },
  };
}
