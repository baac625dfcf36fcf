const longest_ms = 30_000;

/** Wait after failures in a row, ms: one period, then doubled each time up to half a minute. */
export const backoffMs = (failures: number, period_ms: number): number =>
  Math.min(period_ms * 2 ** Math.min(Math.max(failures - 1, 0), 20), longest_ms);

/** Waits; returns early when `signal` aborts. Doesn't keep the process alive. */
export function rest(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    timer.unref();
    signal.addEventListener('abort', done);
  });
}
