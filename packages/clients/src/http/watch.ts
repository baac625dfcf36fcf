/** A limit on silence: expires unless it is fed or stopped in time. */
export interface Watch {
  feed(): void;
  stop(): void;
}

const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Starts a watch that calls `onExpire` once after `limitMs` ms of silence; 0 and spans beyond 24 days never expire.
 * A busy event loop may run the timer before it reads what has already arrived, so the reads get one turn first.
 */
export function startWatch(limitMs: number, onExpire: () => void): Watch {
  if (!(limitMs > 0 && limitMs <= LONGEST_TIMER_MS)) return { feed: () => {}, stop: () => {} };
  let fed = 0;
  let stopped = false;
  const timer = setTimeout(() => {
    const before = fed;
    setImmediate(() => {
      if (!stopped && fed === before) onExpire();
    });
  }, limitMs);
  return {
    feed() {
      fed += 1;
      timer.refresh();
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
