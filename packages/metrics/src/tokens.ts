import type { CallColumns } from './cell-columns.js';
import type { Units } from './cell-sums.js';

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

const totalsOf = (sums: Sums, names: readonly string[]): TokenTotals => ({
  output: totalOf(sums.output),
  prompt: totalOf(sums.prompt),
  all: totalOf(sums.all),
  decoded: totalOf(sums.decoded),
  source: sourceOf(sums, names),
  uncounted: sums.uncounted,
});

function joined(sums: readonly Sum[]): Sum {
  const whole = { tokens: 0, calls: 0, unknown: false };
  for (const { tokens, calls, unknown } of sums) {
    whole.tokens += tokens;
    whole.calls += calls;
    whole.unknown ||= unknown;
  }
  return whole;
}

/** Sums of several groups together: tokens are whole numbers, so that their order changes nothing. */
const joinedSums = (groups: readonly Sums[], sources: number): Sums => ({
  output: joined(groups.map(({ output }) => output)),
  prompt: joined(groups.map(({ prompt }) => prompt)),
  all: joined(groups.map(({ all }) => all)),
  decoded: joined(groups.map(({ decoded }) => decoded)),
  sources: Uint8Array.from({ length: sources }, (_, code) =>
    groups.some((own) => own.sources[code] === 1) ? 1 : 0,
  ),
  uncounted: groups.reduce((sum, { uncounted }) => sum + uncounted, 0),
});

/**
 * Sums the token counts of calls, over all and over those of each repeat of their queries, in one pass. A failed call
 * without a count adds nothing and is counted in `uncounted`.
 */
export function tokenTotals(
  calls: CallColumns,
  { of, count }: Units,
): { readonly all: TokenTotals; readonly ofRepeats: readonly TokenTotals[] } {
  const { query } = calls;
  const { names } = calls.token_source;
  const sums = Array.from({ length: count }, () => emptySums(names.length));
  for (let call = 0; call < calls.length; call++) {
    const own = sums[of[query[call] ?? 0] ?? -1];
    if (own !== undefined) addCall(own, calls, call);
  }
  return {
    all: totalsOf(joinedSums(sums, names.length), names),
    ofRepeats: sums.map((own) => totalsOf(own, names)),
  };
}
