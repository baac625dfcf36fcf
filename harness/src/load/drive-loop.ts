import { setMaxListeners } from 'node:events';
import type { Arrivals, Clock, Instant } from '@perwatt/core';
import type { LoopFacts } from '@perwatt/records';
import { slotTimes, startClosedLoop } from './closed-loop.js';
import { eventLoopTimer, type LoadTimer, type Pacer, startPacer } from './pacer.js';
import { drawSchedule, type Schedule, scheduleOf, traceSchedule } from './schedule.js';

/** How queries are sent: in flight all the time, or when they are due. */
export type LoopShape =
  | { readonly kind: 'closed'; readonly concurrency: number; readonly ramp_s: number }
  | {
      readonly kind: 'open';
      readonly arrivals: Arrivals;
      /** Times of the trace of `arrivals`, ns from its first call; null for other shapes. */
      readonly trace_ns: Float64Array | null;
      readonly cap: number | null;
    };

/** The due times of `count` queries in an open loop. Fewer where the shape ends earlier, or the trace is shorter. */
export function scheduleFor(
  shape: Extract<LoopShape, { readonly kind: 'open' }>,
  { count, seed }: { readonly count: number; readonly seed: number },
): Schedule {
  const { arrivals, trace_ns } = shape;
  if (arrivals.kind !== 'trace') return drawSchedule(arrivals, { count, seed });
  const whole = traceSchedule(trace_ns ?? [], arrivals);
  return scheduleOf(whole.due_ns.subarray(0, count));
}

export interface DriveOptions {
  readonly count: number;
  readonly seed: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Does query number `index`, due at `sched_ns` in an open loop. A rejection ends the loop. */
  readonly run: (index: number, sched_ns: Instant | null) => Promise<void>;
  readonly timer?: LoadTimer;
}

/** Sends up to `count` queries as `shape` says and waits for them. Aborting the signal sends nothing more. */
export async function driveLoop(shape: LoopShape, options: DriveOptions): Promise<LoopFacts> {
  const { signal } = options;
  // Every call in flight listens to it; Node warns of a leak from the eleventh on.
  setMaxListeners(0, signal);
  const ending: Promise<void>[] = [];
  let failure: { readonly error: unknown } | null = null;
  const begin = (index: number, sched_ns: Instant | null) => {
    const ended = options
      .run(index, sched_ns)
      .catch((error: unknown) => {
        failure ??= { error };
        pacer.stop();
      })
      .then(() => pacer.ended());
    ending.push(ended);
  };
  const { pacer, schedule } = start(shape, { ...options, begin });
  const stop = () => pacer.stop();
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  await pacer.sent;
  await Promise.all(ending);
  signal.removeEventListener('abort', stop);
  if (failure !== null) throw (failure as { readonly error: unknown }).error;
  const { waited, most_in_flight } = pacer.counts();
  return {
    kind: shape.kind,
    schedule_sha256: schedule?.sha256 ?? null,
    offered_per_s: schedule?.offered_per_s ?? null,
    due: schedule?.due_ns.length ?? null,
    waited: schedule === null ? null : waited,
    most_in_flight,
  };
}

interface Start extends DriveOptions {
  readonly begin: (index: number, sched_ns: Instant | null) => void;
}

function start(shape: LoopShape, { count, seed, clock, begin, timer = eventLoopTimer }: Start) {
  const zero = clock.now();
  if (shape.kind === 'open') {
    const schedule = scheduleFor(shape, { count, seed });
    const pacer: Pacer = startPacer({
      due_ns: schedule.due_ns,
      zero,
      clock,
      cap: shape.cap,
      send: begin,
      timer,
    });
    return { pacer, schedule };
  }
  let next = 0;
  const pacer: Pacer = startClosedLoop({
    opens_ns: slotTimes(Math.min(shape.concurrency, count), { worker: 0, workers: 1, ramp_s: shape.ramp_s }),
    zero,
    clock,
    take: () => (next < count ? next++ : null),
    send: (index) => begin(index, null),
    timer,
  });
  return { pacer, schedule: null };
}
