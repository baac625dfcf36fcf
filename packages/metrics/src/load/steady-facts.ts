import type { SteadyRule } from '@perwatt/core';
import type { CallColumns, CellColumns } from '../cell-columns.js';
import type { BusyTime } from '../cell-energy.js';
import { type SteadyWindow, steadyWindow, tokensInWindow } from './steady-state.js';

/** The steady window of each sitting that has one, and what happened in it. */
export interface SteadyFacts {
  readonly rule: SteadyRule | null;
  readonly time: BusyTime;
  readonly length_ns: number;
  /** Output tokens that arrived in it; null where a call in it has no count. */
  readonly tokens: number | null;
  /** Calls that ended well in it. */
  readonly calls_ok: number;
  /** Why there is none: `no_steady_rule` or `never_steady`. */
  readonly reason: string | null;
}

const without = (
  { origin_ns }: CellColumns,
  rule: SteadyRule | null,
  reason: NonNullable<SteadyFacts['reason']>,
): SteadyFacts => ({
  rule,
  time: { origin_ns, bySitting: new Map() },
  length_ns: 0,
  tokens: null,
  calls_ok: 0,
  reason,
});

/** Calls that were sent, by sitting. */
function bySitting({ length, sitting, sent }: CallColumns): Map<number, number[]> {
  const rows = new Map<number, number[]>();
  for (let call = 0; call < length; call++) {
    if (sent[call] !== 1) continue;
    const own = rows.get(sitting[call] ?? 0);
    if (own === undefined) rows.set(sitting[call] ?? 0, [call]);
    else own.push(call);
  }
  return rows;
}

function windowOf(calls: CallColumns, rows: readonly number[], rule: SteadyRule): SteadyWindow | null {
  const pick = (values: Float64Array) => Float64Array.from(rows, (row) => values[row] ?? Number.NaN);
  const first = Float64Array.from(rows, (row) => {
    const at = calls.first_any[row] ?? Number.NaN;
    return Number.isNaN(at) ? (calls.end[row] ?? 0) : at;
  });
  return steadyWindow(
    { dispatch_ns: pick(calls.dispatch), first_any_ns: first, end_ns: pick(calls.end) },
    rule,
  );
}

/** Gaps of a call: those on record; else its tokens are taken to have come evenly from the first delta to the last. */
function gapsOf(calls: CallColumns, call: number): Float64Array {
  const own = calls.gaps.subarray(calls.gaps_at[call] ?? 0, calls.gaps_at[call + 1] ?? 0);
  const [first, last] = [calls.first_any[call] ?? Number.NaN, calls.last_content[call] ?? Number.NaN];
  const tokens = Math.floor(calls.completion_tokens[call] ?? Number.NaN);
  if (own.length > 0 || !(last > first) || !(tokens > 1)) return own;
  return new Float64Array(tokens - 1).fill((last - first) / (tokens - 1));
}

/**
 * Output tokens of one call within a window; those of an answer that was not streamed came at its end. A failed call
 * without a count adds nothing.
 */
function tokensOf(calls: CallColumns, call: number, window: SteadyWindow): number | null {
  const known = calls.completion_tokens[call] ?? Number.NaN;
  const first = calls.first_any[call] ?? Number.NaN;
  if (calls.ok[call] !== 1 && Number.isNaN(known)) return 0;
  const tokens = Number.isNaN(known) ? null : known;
  if (Number.isNaN(first)) {
    const end = calls.end[call] ?? 0;
    const inside = calls.ok[call] === 1 && end >= window.start_ns && end < window.end_ns;
    return inside ? tokens : 0;
  }
  return tokensInWindow({ first_any_ns: first, icl_ns: gapsOf(calls, call), tokens }, window);
}

/** What happened to some calls within a window. */
function countsIn(
  calls: CallColumns,
  rows: readonly number[],
  window: SteadyWindow,
): Pick<SteadyFacts, 'tokens' | 'calls_ok'> {
  const ended = (row: number) => {
    const end = calls.end[row] ?? 0;
    return calls.ok[row] === 1 && end >= window.start_ns && end < window.end_ns;
  };
  const tokens = rows.reduce<number | null>((sum, row) => {
    const own = tokensOf(calls, row, window);
    return sum === null || own === null ? null : sum + own;
  }, 0);
  return { tokens, calls_ok: rows.filter(ended).length };
}

/** The steady windows of a cell by one rule, each found from the calls of its own sitting. */
export function steadyFacts(columns: CellColumns, rule: SteadyRule | null): SteadyFacts {
  if (rule === null) return without(columns, rule, 'no_steady_rule');
  const { calls, origin_ns } = columns;
  const found = [...bySitting(calls)].flatMap(([sitting, rows]) => {
    const window = windowOf(calls, rows, rule);
    return window === null ? [] : [{ sitting, window, ...countsIn(calls, rows, window) }];
  });
  if (found.length === 0) return without(columns, rule, 'never_steady');
  const edges = found.map(({ sitting, window: { start_ns, end_ns } }): [number, Float64Array] => [
    sitting,
    Float64Array.of(Math.round(start_ns), Math.round(end_ns)),
  ]);
  return {
    rule,
    time: { origin_ns, bySitting: new Map(edges) },
    length_ns: found.reduce((sum, { window }) => sum + window.end_ns - window.start_ns, 0),
    tokens: found.reduce<number | null>(
      (sum, { tokens }) => (sum === null || tokens === null ? null : sum + tokens),
      0,
    ),
    calls_ok: found.reduce((sum, own) => sum + own.calls_ok, 0),
    reason: null,
  };
}

/** A rule as a note says it: `plateau (0.9 of the most in flight)`. */
export function ruleText(rule: SteadyRule): string {
  switch (rule.rule) {
    case 'batch_full':
      return `batch_full (${rule.batch} calls)`;
    case 'plateau':
      return `plateau (${rule.ratio} of the most calls in flight)`;
    case 'trim':
      return `trim (${amountText(rule.start)} and ${amountText(rule.end)})`;
  }
}

function amountText(amount: Extract<SteadyRule, { readonly rule: 'trim' }>['start']): string {
  if ('fraction' in amount) return `${amount.fraction * 100} %`;
  return 'seconds' in amount ? `${amount.seconds} s` : `${amount.calls} calls`;
}
