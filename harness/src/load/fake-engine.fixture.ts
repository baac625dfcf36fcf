import type { Clock, LoadColumns, LoadEngine, LoadEngineNeeds, LoadJob } from '@perwatt/core';
import { instant } from '@perwatt/core';
import { type LoadWorkerParts, runLoadShare } from './load-worker.js';
import type { OpenLoadWorker } from './replay-run.js';

interface Ended {
  readonly job: LoadJob;
  readonly dispatch_ns: bigint;
  readonly end_ns: bigint;
  readonly ok: boolean;
}

export interface FakeEngineOptions {
  readonly clock: Clock;
  /** Time a call takes, ms. */
  readonly call_ms: number;
  /** Whether a body is answered; default: every one. */
  readonly succeeds?: (body: string) => boolean;
  readonly onSend?: (body: string) => void;
}

/** What the engine answers to a call. */
const answerTo = (row: number) => `answer ${row}`;

/** An engine without a server: every call gets two tokens and ends after a while. */
export function fakeEngine(options: FakeEngineOptions, { onEnded }: LoadEngineNeeds): LoadEngine {
  const { clock, call_ms, succeeds = () => true } = options;
  let ended: Ended[] = [];
  const pending = new Map<LoadJob, { timer: NodeJS.Timeout; dispatch_ns: bigint }>();
  const finish = (job: LoadJob, ok: boolean) => {
    const own = pending.get(job);
    if (own === undefined) return;
    clearTimeout(own.timer);
    pending.delete(job);
    ended.push({ job, dispatch_ns: own.dispatch_ns, end_ns: clock.now(), ok });
    onEnded({ row: job.row, ok, end_ns: clock.now(), text: ok && job.keep_text ? answerTo(job.row) : null });
  };
  return {
    send(job) {
      options.onSend?.(String(job.body));
      const timer = setTimeout(() => finish(job, succeeds(String(job.body))), call_ms);
      pending.set(job, { timer, dispatch_ns: clock.now() });
    },
    drain() {
      const taken = ended;
      ended = [];
      return columnsOf(taken);
    },
    get inFlight() {
      return pending.size;
    },
    get ended() {
      return ended.length;
    },
    async close() {
      for (const job of pending.keys()) finish(job, false);
    },
  };
}

function columnsOf(calls: readonly Ended[]): LoadColumns {
  const n = calls.length;
  const all = new Uint8Array(n).fill(1);
  const none = new Uint8Array(n);
  const stamp = (of: (call: Ended) => bigint | null) => ({
    values: BigInt64Array.from(calls, (call) => of(call) ?? 0n),
    valid: Uint8Array.from(calls, (call) => (of(call) === null ? 0 : 1)),
  });
  const noStamp = { values: new BigInt64Array(n), valid: none };
  const count = (value: number) => ({ values: new Uint32Array(n).fill(value), valid: all });
  const noCount = { values: new Uint32Array(n), valid: none };
  const okOnly = (of: (call: Ended) => bigint) => stamp((call) => (call.ok ? of(call) : null));
  const noList = { offsets: new Int32Array(n + 1), values: new Float64Array(), valid: none };
  return {
    length: n,
    row: Float64Array.from(calls, ({ job }) => job.row),
    sched_ns: stamp(({ job }) => job.due_ns),
    dispatch_ns: stamp((call) => call.dispatch_ns),
    socket_ns: noStamp,
    sent_ns: noStamp,
    headers_ns: noStamp,
    first_event_ns: okOnly((call) => call.dispatch_ns),
    first_any_ns: okOnly((call) => call.dispatch_ns),
    first_content_ns: okOnly((call) => call.dispatch_ns),
    last_content_ns: okOnly((call) => call.end_ns),
    done_ns: okOnly((call) => call.end_ns),
    end_ns: stamp((call) => call.end_ns),
    status: {
      names: ['ok', 'http_error'],
      indices: Uint16Array.from(calls, ({ ok }) => (ok ? 0 : 1)),
      valid: all,
    },
    http_status: { values: Uint16Array.from(calls, ({ ok }) => (ok ? 200 : 500)), valid: all },
    finish_reason: { names: ['stop'], indices: new Uint16Array(n), valid: all },
    error_kind: { names: [], indices: new Uint16Array(n), valid: none },
    error_message: { offsets: new Int32Array(n + 1), bytes: new Uint8Array(), valid: none },
    prompt_tokens: count(3),
    completion_tokens: count(2),
    cached_tokens: noCount,
    reasoning_tokens: noCount,
    token_source: { names: ['server_usage'], indices: new Uint16Array(n), valid: all },
    events: count(2),
    content_events: count(2),
    reads: count(1),
    bytes_in: { values: new BigUint64Array(n).fill(9n), valid: all },
    bytes_out: { values: new BigUint64Array(n).fill(9n), valid: all },
    conn_reused: { values: new Uint8Array(n), valid: all },
    icl_ns: noList,
    event_tokens: noList,
  } as LoadColumns;
}

/** Workers within this thread. */
export const workersHere =
  (options: FakeEngineOptions): OpenLoadWorker =>
  (work, onCalls) => {
    const stopping = new AbortController();
    const parts: LoadWorkerParts = {
      clock: options.clock,
      openEngine: (needs) => fakeEngine(options, needs),
      onCalls,
      signal: stopping.signal,
    };
    return {
      ready: Promise.resolve(),
      async run(zero) {
        await runLoadShare(work, instant(zero), parts);
        return {
          busiest_core_ratio: 0.1,
          loop_utilization_ratio: null,
          loop_delay_p99_ns: null,
          gc_ratio: null,
        };
      },
      stop: () => stopping.abort(),
    };
  };
