import { type Clock, type Instant, instant } from '@perwatt/core';

/** A clock that moves only when told to. */
export interface ManualClock extends Clock {
  /** Moves on by `ns` nanoseconds. */
  advance(ns: number): void;
}

export function manualClock(start_ns = 0n): ManualClock {
  let at = start_ns;
  return {
    now: () => instant(at),
    advance(ns) {
      at += BigInt(Math.round(ns));
    },
  };
}

/** A clock that moves on by `step_ns` with every look at it, so that no two stamps are equal. */
export function tickingClock(step_ns = 1n): Clock {
  let at = 0n;
  return {
    now(): Instant {
      at += step_ns;
      return instant(at);
    },
  };
}

/** A clock that lets a test wait until it has been looked at again. */
export interface WatchedClock extends Clock {
  /** Resolves at the next look, with the stamp it gives. */
  next(): Promise<Instant>;
}

export function watchedClock(base: Clock = tickingClock()): WatchedClock {
  let waiting: ((at: Instant) => void)[] = [];
  return {
    now() {
      const at = base.now();
      const woken = waiting;
      waiting = [];
      for (const wake of woken) wake(at);
      return at;
    },
    next: () =>
      new Promise((resolve) => {
        waiting.push(resolve);
      }),
  };
}
