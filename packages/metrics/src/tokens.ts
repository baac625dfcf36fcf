import type { CallColumns } from './cell-columns.js';

/** Tokens of a set of calls. Null with a reason when a call that ended well has no count. */
export interface TokenTotals {
  readonly output: number | null;
  readonly prompt: number | null;
  /** Prompt and output together. */
  readonly all: number | null;
  /** Output tokens after the first one of each call that showed when it began and ended its output. */
  readonly decoded: number | null;
  /** Who counted the output tokens, names joined by `+` when several did; null for nobody. */
  readonly source: string | null;
  /** Failed calls without a count: their tokens are missing from the totals. */
  readonly uncounted: number;
}

/** Sums a count over calls; null for no calls and where one that ended well has none. */
function total(
  calls: CallColumns,
  keep: (call: number) => boolean,
  count: (call: number) => number,
): number | null {
  let [sum, seen] = [0, 0];
  for (let call = 0; call < calls.length; call++) {
    if (!keep(call)) continue;
    seen += 1;
    const tokens = count(call);
    if (!Number.isNaN(tokens)) sum += tokens;
    else if (calls.ok[call] === 1) return null;
  }
  return seen === 0 ? null : sum;
}

function sourceOf({ token_source, length }: CallColumns, keep: (call: number) => boolean): string | null {
  const used = new Set<string>();
  for (let call = 0; call < length; call++) {
    const name = token_source.names[token_source.codes[call] ?? -1];
    if (name !== undefined && keep(call)) used.add(name);
  }
  return used.size === 0 ? null : [...used].sort().join('+');
}

/** Sums the token counts of calls; a failed call without a count adds nothing and is counted in `uncounted`. */
export function tokenTotals(calls: CallColumns, keep: (call: number) => boolean = () => true): TokenTotals {
  const { completion_tokens, prompt_tokens, first_any, last_content, ok } = calls;
  const output = (call: number) => completion_tokens[call] ?? Number.NaN;
  const prompt = (call: number) => prompt_tokens[call] ?? Number.NaN;
  const phased = (call: number) => keep(call) && (first_any[call] ?? 0) <= (last_content[call] ?? 0);
  let uncounted = 0;
  for (let call = 0; call < calls.length; call++) {
    if (ok[call] === 0 && keep(call) && Number.isNaN(output(call))) uncounted += 1;
  }
  return {
    output: total(calls, keep, output),
    prompt: total(calls, keep, prompt),
    all: total(calls, keep, (call) => prompt(call) + output(call)),
    decoded: total(calls, phased, (call) => Math.max(output(call) - 1, 0)),
    source: sourceOf(calls, keep),
    uncounted,
  };
}
