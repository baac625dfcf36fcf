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

/** Which calls count, by group; a group below 0 is none. */
export interface CallGroups {
  readonly of: (call: number) => number;
  readonly count: number;
}

/** A count summed over the calls of one group. */
interface Sum {
  tokens: number;
  calls: number;
  /** Whether a call that ended well has no count. */
  unknown: boolean;
}

function add(sum: Sum, tokens: number, ok: boolean): void {
  sum.calls += 1;
  if (!Number.isNaN(tokens)) sum.tokens += tokens;
  else if (ok) sum.unknown = true;
}

/** Null for no calls and where one that ended well has no count. */
const totalOf = ({ tokens, calls, unknown }: Sum): number | null => (unknown || calls === 0 ? null : tokens);

interface Sums {
  readonly output: Sum;
  readonly prompt: Sum;
  readonly all: Sum;
  readonly decoded: Sum;
  readonly sources: Uint8Array;
  uncounted: number;
}

const emptySums = (sources: number): Sums => ({
  output: { tokens: 0, calls: 0, unknown: false },
  prompt: { tokens: 0, calls: 0, unknown: false },
  all: { tokens: 0, calls: 0, unknown: false },
  decoded: { tokens: 0, calls: 0, unknown: false },
  sources: new Uint8Array(sources),
  uncounted: 0,
});

function addCall(sums: Sums, calls: CallColumns, call: number): void {
  const output = calls.completion_tokens[call] ?? Number.NaN;
  const prompt = calls.prompt_tokens[call] ?? Number.NaN;
  const ok = calls.ok[call] === 1;
  if (calls.ok[call] === 0 && Number.isNaN(output)) sums.uncounted += 1;
  add(sums.output, output, ok);
  add(sums.prompt, prompt, ok);
  add(sums.all, prompt + output, ok);
  if ((calls.first_any[call] ?? 0) <= (calls.last_content[call] ?? 0))
    add(sums.decoded, Math.max(output - 1, 0), ok);
  const source = calls.token_source.codes[call] ?? -1;
  if (source >= 0) sums.sources[source] = 1;
}

function sourceOf({ sources }: Sums, names: readonly string[]): string | null {
  const used = names.filter((_, code) => sources[code] === 1);
  return used.length === 0 ? null : [...new Set(used)].sort().join('+');
}

/** `tokenTotals` of every group, in one pass over the calls. */
export function tokenTotalsOf(calls: CallColumns, groups: CallGroups): TokenTotals[] {
  const { names } = calls.token_source;
  const sums = Array.from({ length: groups.count }, () => emptySums(names.length));
  for (let call = 0; call < calls.length; call++) {
    const own = sums[groups.of(call)];
    if (own !== undefined) addCall(own, calls, call);
  }
  return sums.map((own) => ({
    output: totalOf(own.output),
    prompt: totalOf(own.prompt),
    all: totalOf(own.all),
    decoded: totalOf(own.decoded),
    source: sourceOf(own, names),
    uncounted: own.uncounted,
  }));
}

/** Sums the token counts of calls; a failed call without a count adds nothing and is counted in `uncounted`. */
export const tokenTotals = (calls: CallColumns): TokenTotals => {
  const [all] = tokenTotalsOf(calls, { of: () => 0, count: 1 });
  return all ?? { output: null, prompt: null, all: null, decoded: null, source: null, uncounted: 0 };
};
