import type { Clock, Instant } from '@perwatt/core';
import { eventLoopTimer, type LoadTimer, type PaceCounts, type Pacer } from './pacer.js';

export interface ClosedLoopOptions {
  /** When each slot of this worker opens, ns from `zero`, never falling. A slot that is open always holds a call. */
  readonly opens_ns: readonly number[];
  readonly zero: Instant;
  readonly clock: Clock;
  /**
   * The next call's number; null when none is left; `later` when there is none until another call has ended or `wake` is
   * called. Workers may draw from one counter.
   */
  readonly take: () => number | 'later' | null;
  readonly send: (index: number) => void;
  readonly timer?: LoadTimer;
}

/** When the slots of one of several workers open: `concurrency` slots in turn, spread evenly over the ramp. */
export function slotTimes(
  concurrency: number,
  { worker, workers, ramp_s }: { readonly worker: number; readonly workers: number; readonly ramp_s: number },
): number[] {
  const times: number[] = [];
  for (let slot = worker; slot < concurrency; slot += workers) {
    times.push(Math.round((slot / concurrency) * ramp_s * 1e9));
  }
  return times;
}

/** A pacer whose slots may have nothing to send for a while. */
export interface ClosedLoop extends Pacer {
  /** Tells that `take` has something again. */
  wake(): void;
}

/** Keeps calls in flight: one in each slot from the moment it opens, the next as soon as one ends. */
export function startClosedLoop(options: ClosedLoopOptions): ClosedLoop {
  const { opens_ns, zero, clock, take, send, timer = eventLoopTimer } = options;
  let [opened, sent, inFlight, most_in_flight, free] = [0, 0, 0, 0, 0];
  let over = false;
  let cancel = () => {};
  let resolve = () => {};
  const done = new Promise<void>((settle) => {
    resolve = settle;
  });
  const end = () => {
    over = true;
    cancel();
    resolve();
  };
  /** Fills the free slots as far as there is something to send. */
  const fill = () => {
    while (free > 0 && !over) {
      const index = take();
      if (index === null) return end();
      if (index === 'later') return;
      free -= 1;
      sent += 1;
      inFlight += 1;
      most_in_flight = Math.max(most_in_flight, inFlight);
      send(index);
    }
  };
  const open = () => {
    const now = Number(clock.now() - zero);
    while (!over && (opens_ns[opened] ?? Number.POSITIVE_INFINITY) <= now) {
      opened += 1;
      free += 1;
      fill();
    }
    const next = opens_ns[opened];
    if (over || next === undefined) return;
    cancel = timer.after(Math.max(0, next - now) / 1e6, open);
  };
  if (opens_ns.length === 0) end();
  else timer.soon(open);
  return {
    sent: done,
    ended() {
      inFlight -= 1;
      free += 1;
      if (!over) timer.soon(fill);
    },
    wake() {
      if (!over) timer.soon(fill);
    },
    counts: (): PaceCounts => ({ sent, waited: 0, most_in_flight }),
    stop: end,
  };
}
