import { type Clock, instant } from '@perwatt/core';
import type { LoadTimer } from './pacer.js';

interface Waiting {
  readonly at: number;
  readonly order: number;
  readonly action: () => void;
}

/** A clock and timers that move only when told to, in ns from 0. */
export function manualTimer() {
  let now = 0;
  let order = 0;
  let waiting: Waiting[] = [];
  const at = (time: number, action: () => void) => {
    const entry = { at: time, order: order++, action };
    waiting.push(entry);
    return () => {
      waiting = waiting.filter((other) => other !== entry);
    };
  };
  const next = (until: number) =>
    waiting.filter((w) => w.at <= until).sort((a, b) => a.at - b.at || a.order - b.order)[0];
  const clock: Clock = { now: () => instant(BigInt(Math.round(now))) };
  const timer: LoadTimer = {
    after: (ms, action) => at(now + Math.max(ms, 0) * 1e6, action),
    soon: (action) => void at(now, action),
  };
  return {
    clock,
    timer,
    now: () => now,
    /** Calls `action` at `ms`. */
    atMs: (ms: number, action: () => void) => void at(ms * 1e6, action),
    /** Lets time pass until `ms`, doing everything that is due on the way. */
    runToMs(ms: number) {
      for (let entry = next(ms * 1e6); entry !== undefined; entry = next(ms * 1e6)) {
        const taken = entry;
        waiting = waiting.filter((other) => other !== taken);
        now = Math.max(now, taken.at);
        taken.action();
      }
      now = ms * 1e6;
    },
  };
}
