import type { CallRow } from '@perwatt/core';

/** Tokens of a set of calls. Null with a reason when a call that ended well has no count. */
export interface TokenTotals {
  readonly output: number | null;
  /** Prompt and output together. */
  readonly all: number | null;
  /** Who counted the output tokens, names joined by `+` when several did; null for nobody. */
  readonly source: string | null;
  /** Failed calls without a count: their tokens are missing from the totals. */
  readonly uncounted: number;
}

function total(calls: readonly CallRow[], count: (call: CallRow) => number | null): number | null {
  let sum = 0;
  for (const call of calls) {
    const tokens = count(call);
    if (tokens === null && call.status === 'ok') return null;
    sum += tokens ?? 0;
  }
  return calls.length === 0 ? null : sum;
}

/** Sums the token counts of calls; a failed call without a count adds nothing and is counted in `uncounted`. */
export function tokenTotals(calls: readonly CallRow[]): TokenTotals {
  const sources = new Set(calls.map(({ token_source }) => token_source).filter((source) => source !== null));
  return {
    output: total(calls, (call) => call.completion_tokens),
    all: total(calls, ({ prompt_tokens, completion_tokens }) =>
      prompt_tokens === null || completion_tokens === null ? null : prompt_tokens + completion_tokens,
    ),
    source: sources.size === 0 ? null : [...sources].sort().join('+'),
    uncounted: calls.filter((call) => call.status !== 'ok' && call.completion_tokens === null).length,
  };
}
