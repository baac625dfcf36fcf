import { type Clock, type Instant, instant } from '@perwatt/core';
import type { LoadTimer } from '../load/pacer.js';
import { heap } from './heap.js';

/** Time that passes only when something is due: a clock, and timers on it. */
export interface VirtualTime extends LoadTimer {
  readonly clock: Clock;
  /** Calls `action` in `ns` nanoseconds of its time, at least one; returns what takes it back. */
  afterNs(ns: number, action: () => void): () => void;
}

interface Due {
  readonly at_ns: number;
  readonly order: number;
  /** Null when it was taken back. */
  action: (() => void) | null;
}

/**
 * A discrete-event clock. Once everything that was started has had its turn, time jumps to the next timer, so that a day takes
 * as long as the work in it. Timers of one moment go off in the order they were set. Times are exact up to 104 days.
 */
export function virtualTime(zero_ns = 0n): VirtualTime {
  const queue = heap<Due>((a, b) => a.at_ns - b.at_ns || a.order - b.order);
  let soon: (() => void)[] = [];
  let now_ns = 0;
  let order = 0;
  let awake = false;
  const turn = () => {
    awake = false;
    const ready = soon;
    soon = [];
    if (ready.length > 0) for (const action of ready) action();
    else next();
    wake();
  };
  const next = () => {
    const due = queue.pop();
    if (due === undefined || due.action === null) return;
    now_ns = due.at_ns;
    due.action();
  };
  const wake = () => {
    if (awake || (soon.length === 0 && queue.size() === 0)) return;
    awake = true;
    setImmediate(turn);
  };
  const afterNs = (ns: number, action: () => void) => {
    const due: Due = { at_ns: now_ns + Math.max(Math.ceil(ns), 1), order: order++, action };
    queue.push(due);
    wake();
    return () => {
      due.action = null;
    };
  };
  return {
    clock: { now: (): Instant => instant(zero_ns + BigInt(now_ns)) },
    afterNs,
    after: (ms, action) => afterNs(ms * 1e6, action),
    soon(action) {
      soon.push(action);
      wake();
    },
  };
}
