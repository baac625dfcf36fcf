import type { CallColumns, CellColumns } from '../cell-columns.js';
import { timesOfCalls } from '../cell-latency.js';
import type { CellBase } from '../cell-types.js';
import type { Totals } from '../formula.js';
import type { Slo, SloName } from './slo.js';

/** What a load came to, by the symbols of formulas; times in s. A member that can't be told is null with a reason. */
export interface LoadTotals {
  readonly totals: Totals;
  /** Why there is no offered rate. */
  readonly no_schedule: string | null;
  /** Why no call could be judged by the limits. */
  readonly no_goodput: string | null;
}

/** Least and greatest of the times of one sitting, and how many there were. */
interface Span {
  readonly least: number;
  readonly most: number;
  readonly n: number;
}

/** Calls that follow one another in one sitting. */
interface SittingCalls {
  readonly times: Float64Array;
  readonly sent: Uint8Array;
  readonly from: number;
  readonly to: number;
}

/** Of the calls that were sent and have a time. */
function spanOf({ times, sent, from, to }: SittingCalls): Span {
  let [least, most, n] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0];
  for (let call = from; call < to; call++) {
    const at = times[call] ?? Number.NaN;
    if (sent[call] !== 1 || Number.isNaN(at)) continue;
    if (at < least) least = at;
    if (at > most) most = at;
    n += 1;
  }
  return { least, most, n };
}

const joined = (a: Span, b: Span): Span => ({
  least: Math.min(a.least, b.least),
  most: Math.max(a.most, b.most),
  n: a.n + b.n,
});

function createSpans() {
  const spans = new Map<number, Span>();
  const all = () => [...spans.values()];
  return {
    add(sitting: number, calls: SittingCalls): void {
      const [own, known] = [spanOf(calls), spans.get(sitting)];
      if (own.n > 0) spans.set(sitting, known === undefined ? own : joined(own, known));
    },
    seen: () => spans.size > 0,
    /** Null where nothing has any length. */
    seconds(): number | null {
      const length = all().reduce((sum, { least, most }) => sum + most - least, 0) / 1e9;
      return length > 0 ? length : null;
    },
    gaps: () => all().reduce((sum, { n }) => sum + n - 1, 0),
  };
}

/** The spans of the load, from the calls that were sent. */
function spansOf(calls: CallColumns) {
  const [due, sent] = [createSpans(), createSpans()];
  const { length, sitting, dispatch } = calls;
  for (let from = 0, to = 1; from < length; from = to, to += 1) {
    const of = sitting[from] ?? 0;
    while (to < length && sitting[to] === of) to += 1;
    due.add(of, { times: calls.due, sent: calls.sent, from, to });
    sent.add(of, { times: dispatch, sent: calls.sent, from, to });
  }
  return { due, sent };
}

interface Judged {
  readonly good: number;
  readonly judged: number;
  readonly judged_ok: number;
}

/** Whether a call that ended well meets the limits that apply to it; null where none does. */
function meetsLimits(
  limits: readonly { readonly limit: number; readonly values: Float64Array }[],
  call: number,
): boolean | null {
  let [applied, met] = [0, 0];
  for (const { limit, values } of limits) {
    const value = values[call] ?? Number.NaN;
    if (Number.isNaN(value)) continue;
    applied += 1;
    if (value <= limit) met += 1;
  }
  return applied === 0 ? null : met === applied;
}

/** As `judgeSlo`, over all calls at once. */
function judgedCalls(calls: CallColumns, slo: Slo): Judged {
  const limits = (Object.entries(slo) as [SloName, number][]).map(([name, limit]) => ({
    limit,
    values: timesOfCalls(calls, name),
  }));
  let [good, judged_ok, failed] = [0, 0, 0];
  for (let call = 0; call < calls.length; call++) {
    if (calls.ok[call] !== 1) {
      failed += 1;
      continue;
    }
    const meets = meetsLimits(limits, call);
    if (meets !== null) judged_ok += 1;
    if (meets === true) good += 1;
  }
  return { good, judged: judged_ok + failed, judged_ok };
}

function countOf(flags: Uint8Array): number {
  let count = 0;
  for (let i = 0; i < flags.length; i++) count += flags[i] ?? 0;
  return count;
}

/** Rates and goodput of a cell's calls, over all its sittings: what was offered, what was sent, and what was good. */
export function loadTotals({ calls }: CellColumns, { slo = {} }: Pick<CellBase, 'slo'>): LoadTotals {
  const { due, sent } = spansOf(calls);
  const limited = Object.keys(slo).length > 0;
  const own = limited ? judgedCalls(calls, slo) : null;
  return {
    totals: {
      due_gaps: due.seen() ? due.gaps() : null,
      due_span: due.seconds(),
      sent_gaps: sent.seen() ? sent.gaps() : null,
      sent_span: sent.seconds(),
      ok: calls.length === 0 ? null : countOf(calls.ok),
      good: own === null || own.judged === 0 ? null : own.good,
      judged: own?.judged ?? null,
      judged_ok: own?.judged_ok ?? null,
    },
    no_schedule: due.seen() ? null : 'closed_loop',
    no_goodput: limited ? null : 'no_slo',
  };
}
