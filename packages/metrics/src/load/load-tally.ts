import { type CallStampsOf, type CallTimeName, callTimeNames, callTimes } from './call-times.js';
import { createSloCount, perSecond, type SloSummary } from './slo.js';

/** Some quantiles of one time over the calls that have it, ns, none of them interpolated. */
export interface TimeSummary {
  readonly n: number;
  readonly mean: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
}

/** What a load came to. Null where nothing answers the question; never 0 for missing. */
export interface LoadSummary extends SloSummary {
  readonly calls: number;
  readonly ok: number;
  /** Of the calls that were sent. */
  readonly failed: number;
  /** Calls that were left out, because the turn they go on from was late: neither sent nor failed, and not good. */
  readonly dropped: number;
  /** Calls by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** From the first dispatch to the last end, summed over sittings, ns. */
  readonly span_ns: number | null;
  /** Rate of the due times, by their mean gap, 1/s; null in a closed loop, below two calls and when all were due at once. */
  readonly offered_per_s: number | null;
  /** Rate of the dispatches, by their mean gap, 1/s. */
  readonly achieved_per_s: number | null;
  /** Calls that ended well over the span, 1/s. */
  readonly ok_per_s: number | null;
  /** Output tokens of calls that ended well; null when one of them has no count, or none ended well. */
  readonly output_tokens: number | null;
  readonly output_tokens_per_s: number | null;
  readonly times: Readonly<Record<CallTimeName, TimeSummary | null>>;
  /** Calls sent more than `late_ns` after they were due; null in a closed loop. */
  readonly late: number | null;
}

/** Gathers the calls of a load one by one, in any order, in 8 bytes a call for each time that is kept. */
export interface LoadTally {
  /** @param sitting session of work, whose spans and rates are its own; default 0 */
  add(call: CallStampsOf, status: string, sitting?: number): void;
  /** Counts a call that was left out: it has no times. */
  drop(call: CallStampsOf, status: string): void;
  summary(): LoadSummary;
}

export interface LoadTallyOptions {
  readonly slo?: SloSummary['slo'];
  /** How late a call may go out without being counted, ns. Default 10 ms. */
  readonly late_ns?: number;
  /** Times to keep; of the others the summary has none. Default all. */
  readonly times?: readonly CallTimeName[];
}

const PIECE = 1 << 14;

/** Numbers that grow in number, in pieces that never move. */
class Numbers {
  readonly #pieces: Float64Array[] = [];
  length = 0;

  pushIfThere(value: number | null): void {
    if (value === null) return;
    const place = this.length % PIECE;
    if (place === 0) this.#pieces.push(new Float64Array(PIECE));
    const piece = this.#pieces.at(-1);
    if (piece !== undefined) piece[place] = value;
    this.length += 1;
  }

  sorted(): Float64Array {
    const all = new Float64Array(this.length);
    for (const [i, piece] of this.#pieces.entries())
      all.set(piece.subarray(0, this.length - i * PIECE), i * PIECE);
    return all.sort();
  }
}

/** Least and greatest of the times seen. */
interface Span {
  least: number;
  most: number;
  n: number;
}

/** Spans of sittings, which have nothing between them. */
function createSpans() {
  const spans = new Map<number, Span>();
  const all = () => [...spans.values()];
  const length = () => all().reduce((sum, { least, most }) => sum + most - least, 0);
  return {
    add(sitting: number, from: number, to = from) {
      const span = spans.get(sitting) ?? { least: from, most: to, n: 0 };
      spans.set(sitting, span);
      span.least = Math.min(span.least, from);
      span.most = Math.max(span.most, to);
      span.n += 1;
    },
    seen: () => spans.size > 0,
    /** ns; null when nothing was seen. */
    length: () => (spans.size === 0 ? null : length()),
    /** By the mean gap, 1/s; null where no two lie apart. */
    meanRate: () =>
      perSecond(
        all().reduce((sum, { n }) => sum + n - 1, 0),
        length(),
      ),
  };
}

/** Calls by how they ended, and the tokens of those that ended well. */
function createOutcomes() {
  const statuses = new Map<string, number>();
  let [calls, ok, dropped] = [0, 0, 0];
  let tokens: number | null = 0;
  return {
    add(call: CallStampsOf, status: string) {
      calls += 1;
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (!call.ok) return;
      ok += 1;
      tokens = tokens === null || call.tokens === null ? null : tokens + call.tokens;
    },
    drop(status: string) {
      calls += 1;
      dropped += 1;
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    },
    counts: () => ({
      calls,
      ok,
      failed: calls - ok - dropped,
      dropped,
      statuses: Object.fromEntries([...statuses].sort()),
      output_tokens: ok === 0 ? null : tokens,
    }),
  };
}

export function createLoadTally({
  slo = {},
  late_ns = 10e6,
  times: kept = callTimeNames,
}: LoadTallyOptions = {}): LoadTally {
  const times = new Map(kept.map((name) => [name, new Numbers()] as const));
  const [due, dispatched, whole] = [createSpans(), createSpans(), createSpans()];
  const outcomes = createOutcomes();
  const good = createSloCount(slo);
  let late = 0;
  return {
    add(call, status, sitting = 0) {
      const own = callTimes(call);
      outcomes.add(call, status);
      good.add(own, call.ok);
      if (call.sched_ns !== null) due.add(sitting, call.sched_ns);
      dispatched.add(sitting, call.dispatch_ns);
      whole.add(sitting, call.dispatch_ns, call.end_ns);
      if (own.lag !== null && own.lag > late_ns) late += 1;
      for (const [name, numbers] of times) numbers.pushIfThere(own[name]);
    },
    drop(call, status) {
      outcomes.drop(status);
      good.add(callTimes({ ...call, ok: false }), false);
    },
    summary() {
      const counts = outcomes.counts();
      const span_ns = whole.length();
      return {
        ...counts,
        span_ns,
        offered_per_s: due.meanRate(),
        achieved_per_s: dispatched.meanRate(),
        ok_per_s: perSecond(counts.ok, span_ns),
        output_tokens_per_s: perSecond(counts.output_tokens, span_ns),
        times: Object.fromEntries(
          callTimeNames.map((name) => [name, summarise(times.get(name)?.sorted() ?? new Float64Array())]),
        ) as LoadSummary['times'],
        late: due.seen() ? late : null,
        ...good.summary(span_ns),
      };
    },
  };
}

function summarise(sorted: Float64Array): TimeSummary | null {
  const [p50, p90, p99, max] = [0.5, 0.9, 0.99, 1].map((p) => atShare(sorted, p));
  if (p50 === undefined || p90 === undefined || p99 === undefined || max === undefined) return null;
  const mean = sorted.reduce((sum, value) => sum + value, 0) / sorted.length;
  return { n: sorted.length, mean, p50, p90, p99, max };
}

/** As `quantile`, of numbers that are sorted already. */
const atShare = (sorted: Float64Array, p: number): number | undefined =>
  sorted[Math.max(Math.ceil(p * sorted.length - 1e-9), 1) - 1];
