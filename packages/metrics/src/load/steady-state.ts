import type { SteadyRule, TrimAmount } from '@perwatt/core';

/** What a steady window is found from; ns on one clock, each array one entry a call. */
export interface CallSpans {
  readonly dispatch_ns: Float64Array;
  /** First delta; a call without one has its end here. */
  readonly first_any_ns: Float64Array;
  readonly end_ns: Float64Array;
}

/** A window in ns on the clock of the calls, with the rule that gave it. */
export interface SteadyWindow {
  readonly rule: SteadyRule['rule'];
  readonly start_ns: number;
  readonly end_ns: number;
}

/** The steady part of a load by one rule; null where the load never was steady, or nothing is left of it. */
export function steadyWindow(calls: CallSpans, rule: SteadyRule): SteadyWindow | null {
  if (calls.dispatch_ns.length === 0) return null;
  const [start_ns, end_ns] = edgesOf(calls, rule);
  if (start_ns === undefined || end_ns === undefined || !(start_ns < end_ns)) return null;
  return { rule: rule.rule, start_ns, end_ns };
}

type Edges = readonly [start: number | undefined, end: number | undefined];

function edgesOf(calls: CallSpans, rule: SteadyRule): Edges {
  switch (rule.rule) {
    case 'batch_full': {
      const ends = calls.end_ns.toSorted();
      const finished = ends.length - rule.batch - 1;
      return [calls.first_any_ns.toSorted()[rule.batch - 1], finished < 1 ? undefined : ends[finished - 1]];
    }
    case 'plateau':
      return plateau(calls, rule.ratio);
    case 'trim':
      return trimmed(calls, rule.start, rule.end);
  }
}

function plateau({ dispatch_ns, end_ns }: CallSpans, ratio: number): Edges {
  const [starts, ends] = [dispatch_ns.toSorted(), end_ns.toSorted()];
  const bar = ratio * walk(starts, ends, () => {});
  let best: Edges = [undefined, undefined];
  let longest = 0;
  let since: number | null = null;
  walk(starts, ends, (at, inFlight) => {
    if (inFlight >= bar) since ??= at;
    else if (since !== null) {
      if (at - since > longest) [best, longest] = [[since, at], at - since];
      since = null;
    }
  });
  return best;
}

/** Visits every moment at which the number of calls in flight changes; returns the greatest number. */
function walk(
  starts: Float64Array,
  ends: Float64Array,
  visit: (at: number, inFlight: number) => void,
): number {
  let [s, e, most] = [0, 0, 0];
  while (e < ends.length) {
    const at = Math.min(starts[s] ?? Number.POSITIVE_INFINITY, ends[e] ?? Number.POSITIVE_INFINITY);
    while (starts[s] === at) s += 1;
    while (ends[e] === at) e += 1;
    most = Math.max(most, s - e);
    visit(at, s - e);
  }
  return most;
}

function trimmed({ dispatch_ns, end_ns }: CallSpans, start: TrimAmount, end: TrimAmount): Edges {
  const [starts, ends] = [dispatch_ns.toSorted(), end_ns.toSorted()];
  const [first, last] = [starts[0] ?? 0, ends.at(-1) ?? 0];
  const from = 'calls' in start ? (starts[start.calls] ?? undefined) : first + lengthOf(start, last - first);
  const to = 'calls' in end ? ends[ends.length - 1 - end.calls] : last - lengthOf(end, last - first);
  return [from, to];
}

const lengthOf = (amount: Exclude<TrimAmount, { readonly calls: number }>, span: number): number =>
  Math.round('seconds' in amount ? amount.seconds * 1e9 : amount.fraction * span);

/** When the tokens of one call arrived. */
export interface TokenArrivals {
  /** First delta, ns; null for a call without any. */
  readonly first_any_ns: number | null;
  /** Gaps between successive deltas, ns. */
  readonly icl_ns: ArrayLike<number>;
  /** Output tokens; null when nobody counted. */
  readonly tokens: number | null;
}

/**
 * Tokens of a call that arrived in `[start, end)`. Each delta counts for the same number of tokens, the call's tokens over
 * its deltas; null where the tokens of a call that has deltas in the window are not known.
 */
export function tokensInWindow(
  call: TokenArrivals,
  { start_ns, end_ns }: Pick<SteadyWindow, 'start_ns' | 'end_ns'>,
): number | null {
  if (call.first_any_ns === null) return 0;
  let at = call.first_any_ns;
  let inside = 0;
  for (let i = 0; i <= call.icl_ns.length; i++) {
    if (at >= start_ns && at < end_ns) inside += 1;
    at += call.icl_ns[i] ?? 0;
  }
  if (inside === 0) return 0;
  return call.tokens === null ? null : (call.tokens * inside) / (call.icl_ns.length + 1);
}
