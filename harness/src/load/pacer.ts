import { type Clock, type Instant, instant } from '@perwatt/core';

/** Timers, as an argument so that tests can run on a clock of their own. */
export interface LoadTimer {
  /** Calls `action` after at least about `ms`; returns what takes it back. */
  after(ms: number, action: () => void): () => void;
  /** Calls `action` as soon as other work has had its turn. */
  soon(action: () => void): void;
}

/** The timers of the event loop. */
export const eventLoopTimer: LoadTimer = {
  after(ms, action) {
    const timer = setTimeout(action, ms);
    return () => clearTimeout(timer);
  },
  soon: (action) => void setImmediate(action),
};

export interface PacerOptions {
  /** When each call is due, ns from `zero`, never falling. */
  readonly due_ns: Float64Array;
  /** Which calls are this pacer's: every `step`-th from `first` on. Default: all. */
  readonly first?: number;
  readonly step?: number;
  /** Start of the load. */
  readonly zero: Instant;
  readonly clock: Clock;
  /** Most calls in flight; null for no limit. */
  readonly cap: number | null;
  /** Sends call number `index`, due at `sched_ns`. */
  readonly send: (index: number, sched_ns: Instant) => void;
  readonly timer?: LoadTimer;
  /** Spins for so long before a call is due, ms: a fraction of a millisecond less lag for up to half a core. Default 0. */
  readonly spin_ms?: number;
}

/** Counts of a pacer so far. */
export interface PaceCounts {
  readonly sent: number;
  /** Calls that were due while the cap was reached: they had to wait for another to end. */
  readonly waited: number;
  readonly most_in_flight: number;
}

export interface Pacer {
  /** Resolves when every call was sent, or after `stop`. */
  readonly sent: Promise<void>;
  /** Tells that a call ended, which may let the next one go. Pacers of conversations must be told which. */
  ended(index?: number): void;
  counts(): PaceCounts;
  /** Sends nothing more. */
  stop(): void;
}

/** Calls sent before other work gets a turn: sockets must be served even when thousands of calls are due at once. */
const TURN_CALLS = 256;
const LONGEST_WAIT_MS = 60_000;

/**
 * Sends calls when they are due: one list of absolute times, one timer, and each time everything that is due is sent. A
 * late call goes out at once and nothing is moved or dropped; how late it is stands in its record. A slot below the cap is
 * taken when a call is due, never before.
 */
export function startPacer(options: PacerOptions): Pacer {
  const { due_ns, first = 0, step = 1, zero, clock, cap, send, timer = eventLoopTimer } = options;
  const spin_ns = (options.spin_ms ?? 0) * 1e6;
  const most = cap ?? Number.POSITIVE_INFINITY;
  const now = () => Number(clock.now() - zero);
  const dueAt = (index: number) => due_ns[index] ?? Number.POSITIVE_INFINITY;
  let next = first;
  let counted = first;
  let [inFlight, sent, waited, most_in_flight] = [0, 0, 0, 0];
  let [stopped, queued] = [false, false];
  let cancel = () => {};
  let resolve = () => {};
  const done = new Promise<void>((settle) => {
    resolve = settle;
  });

  const sendNext = () => {
    const index = next;
    next += step;
    sent += 1;
    inFlight += 1;
    most_in_flight = Math.max(most_in_flight, inFlight);
    send(index, instant(zero + BigInt(dueAt(index))));
  };
  const countWaiting = (at: number) => {
    counted = Math.max(counted, next);
    for (; dueAt(counted) <= at; counted += step) waited += 1;
  };
  const later = () => {
    if (queued) return;
    queued = true;
    timer.soon(() => {
      queued = false;
      drain();
    });
  };
  /** Sends what is due; false when the turn is over before it is all sent. */
  const sendDue = (): boolean => {
    let at = now();
    for (let turn = 0; !stopped && inFlight < most; turn++) {
      if (dueAt(next) > at) at = now();
      if (dueAt(next) > at) return true;
      if (turn === TURN_CALLS) return false;
      sendNext();
    }
    return true;
  };
  const drain = () => {
    cancel();
    cancel = () => {};
    if (!sendDue()) return later();
    if (stopped) return;
    if (next >= due_ns.length) return resolve();
    if (inFlight >= most) return;
    const wait_ns = dueAt(next) - now();
    if (wait_ns <= spin_ns) return later();
    cancel = timer.after(Math.min((wait_ns - spin_ns) / 1e6, LONGEST_WAIT_MS), drain);
  };
  later();
  return {
    sent: done,
    ended() {
      if (inFlight >= most) countWaiting(now());
      inFlight -= 1;
      if (inFlight + 1 >= most) later();
    },
    counts: () => ({ sent, waited, most_in_flight }),
    stop() {
      stopped = true;
      cancel();
      resolve();
    },
  };
}
