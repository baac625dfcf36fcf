import { readFileSync } from 'node:fs';
import { monitorEventLoopDelay, PerformanceObserver, performance } from 'node:perf_hooks';
import { parentPort, workerData } from 'node:worker_threads';
import { createLoadEngine } from '@perwatt/clients';
import { type Instant, isErrorCode, type LoadColumns } from '@perwatt/core';
import { runLoadShare, type TurnFact, type WorkerHealth } from '@perwatt/harness';
import { clock } from '@perwatt/native-power';
import type { LoadThreadJob, LoadThreadMessage, LoadThreadRequest } from './replay-thread-messages.js';

// Entry of a thread that sends its share of a load. Calls go out and are stamped here; what came of them is handed over in
// columns, so that no disk and no display ever delays a stamp.

const { work, target } = workerData as LoadThreadJob;
const stopping = new AbortController();

const say = (message: LoadThreadMessage, transfer: readonly ArrayBuffer[] = []) =>
  parentPort?.postMessage(message, [...transfer]);

/** Resolution of the delay monitor, ms; every delay it reports holds it. */
const RESOLUTION_MS = 10;
/** CPU time in `/proc` is counted in ticks of 10 ms. */
const TICK_NS = 1e7;

/** CPU time of this thread, ns; null where the system does not tell. */
function threadCpu(): number | null {
  try {
    const fields = readFileSync('/proc/thread-self/stat', 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return (Number(fields[11]) + Number(fields[12])) * TICK_NS;
  } catch {
    return null;
  }
}

/** Watches this thread until the returned function is called. */
function watchHealth(): () => WorkerHealth {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  let collecting_ms = 0;
  const collector = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) collecting_ms += entry.duration;
  });
  collector.observe({ entryTypes: ['gc'] });
  const before = { loop: performance.eventLoopUtilization(), at: performance.now(), cpu: threadCpu() };
  return () => {
    const elapsed_ms = performance.now() - before.at;
    const cpu = threadCpu();
    delay.disable();
    collector.disconnect();
    return {
      busiest_core_ratio:
        cpu === null || before.cpu === null ? null : (cpu - before.cpu) / (elapsed_ms * 1e6),
      loop_utilization_ratio: performance.eventLoopUtilization(before.loop).utilization,
      loop_delay_p99_ns: delay.count === 0 ? null : Math.max(0, delay.percentile(99) - RESOLUTION_MS * 1e6),
      gc_ratio: collecting_ms / elapsed_ms,
    };
  };
}

/** Hands columns over without a copy. Texts may lie in a pool that others use. */
function handOver(columns: LoadColumns, facts: readonly TurnFact[] | null): void {
  const { error_message } = columns;
  const own = { ...columns, error_message: { ...error_message, bytes: new Uint8Array(error_message.bytes) } };
  const buffers = Object.values(own).flatMap((column) => {
    if (typeof column === 'number') return [];
    const arrays: unknown[] = ArrayBuffer.isView(column) ? [column] : Object.values(column);
    return arrays.flatMap((array) => (ArrayBuffer.isView(array) ? [array.buffer as ArrayBuffer] : []));
  });
  say({ kind: 'calls', columns: own, facts }, [...new Set(buffers)]);
}

async function run(zero: Instant): Promise<void> {
  const health = watchHealth();
  await runLoadShare(work, zero, {
    clock,
    openEngine: ({ connections, onEnded }) =>
      createLoadEngine({
        url: target.url,
        api: target.api,
        clock,
        connections,
        onEnded,
        headersTimeoutMs: target.headers_timeout_ms,
        idleTimeoutMs: target.idle_timeout_ms,
        ...(target.api_key === null ? {} : { apiKey: target.api_key }),
      }),
    onCalls: handOver,
    signal: stopping.signal,
  });
  say({ kind: 'done', health: health() });
}

parentPort?.on('message', (request: LoadThreadRequest) => {
  if (request.kind === 'stop') return stopping.abort();
  run(request.zero)
    .catch((error: unknown) => {
      const code = error instanceof Error && 'code' in error && isErrorCode(error.code) ? error.code : null;
      const message =
        error instanceof Error
          ? code === null
            ? (error.stack ?? error.message)
            : error.message
          : String(error);
      say({ kind: 'failed', code, message });
    })
    .finally(() => parentPort?.close());
});
say({ kind: 'ready' });
