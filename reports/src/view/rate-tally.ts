/** Seconds that a rate is taken over, and that are kept. */
const OVER = 10;
const KEPT = 120;
const SECOND = 1_000_000_000n;

/** Calls and tokens by the second in which they ended, on the run's clock. */
export interface RateTally {
  add(end_ns: bigint, tokens: number | null): void;
  /** Over the last ten whole seconds on record, 1/s; null before there are any. Tokens are null where one call has no count. */
  rates(): { readonly tokens_per_s: number | null; readonly calls_per_s: number | null };
}

interface Second {
  readonly calls: number;
  readonly tokens: number | null;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, n) => total + n, 0);

/** A sum that is null once a part is. */
export const plus = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? null : a + b;

export function createRateTally(): RateTally {
  const seconds = new Map<number, Second>();
  let newest = Number.NEGATIVE_INFINITY;
  let oldest = Number.POSITIVE_INFINITY;
  const forgetBefore = (first: number) => {
    for (const at of seconds.keys()) if (at < first) seconds.delete(at);
  };
  return {
    add(end_ns, tokens) {
      const at = Number(end_ns / SECOND);
      if (at < newest - KEPT) return;
      const before = seconds.get(at) ?? { calls: 0, tokens: 0 };
      seconds.set(at, { calls: before.calls + 1, tokens: plus(before.tokens, tokens) });
      oldest = Math.min(oldest, at);
      if (at > newest) forgetBefore(at - KEPT);
      newest = Math.max(newest, at);
    },
    rates() {
      const over = Math.min(OVER, newest - oldest);
      const recent = [...seconds].filter(([at]) => at >= newest - over && at < newest).map(([, own]) => own);
      return over > 0 ? ratesOf(recent, over) : { tokens_per_s: null, calls_per_s: null };
    },
  };
}

function ratesOf(seconds: readonly Second[], over: number): ReturnType<RateTally['rates']> {
  const tokens = seconds.reduce<number | null>((total, second) => plus(total, second.tokens), 0);
  return {
    tokens_per_s: tokens === null ? null : tokens / over,
    calls_per_s: sum(seconds.map(({ calls }) => calls)) / over,
  };
}
