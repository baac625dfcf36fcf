import type { SloLimits } from '@perwatt/core';
import type { CallTimeName, CallTimes } from './call-times.js';

/** Times that a limit can be set on. */
export type SloName = Exclude<CallTimeName, 'lag'>;

/** Limits on the times of a call, ns; a call is good when it meets every one. */
export type Slo = Readonly<Partial<Record<SloName, number>>>;

/** The limits of a matrix, in ns. */
export const sloOf = (limits: SloLimits): Slo =>
  Object.fromEntries(
    Object.entries(limits).flatMap(([name, limit_s]) =>
      limit_s === undefined ? [] : [[name.replace(/_s$/, ''), limit_s * 1e9]],
    ),
  );

/** How one call stands to the limits. */
export interface SloVerdict {
  /** Null when no limit could be applied: the call is in no fraction. */
  readonly good: boolean | null;
  /** Whether a limit was left out because the finished call has no such time (one token has no time per token). */
  readonly not_applied: boolean;
}

/**
 * Whether a call meets the limits. A failed call is not good. A limit on a time that a finished call does not have is not
 * applied to it; when none can be applied there is no verdict.
 */
export function judgeSlo(times: CallTimes, slo: Slo, ok: boolean): SloVerdict {
  const limits = Object.entries(slo) as [SloName, number][];
  if (limits.length === 0) return { good: null, not_applied: false };
  if (!ok) return { good: false, not_applied: false };
  const applied = limits.flatMap(([name, limit]) => {
    const value = times[name];
    return value === null ? [] : [value <= limit];
  });
  return {
    good: applied.length === 0 ? null : applied.every(Boolean),
    not_applied: applied.length < limits.length,
  };
}

/** How many calls met the limits. */
export interface SloSummary {
  readonly slo: Slo;
  /** Calls that meet every limit, over the span, 1/s; null without limits. */
  readonly goodput_per_s: number | null;
  /** Share of the calls with a verdict that meet every limit; failures count as not good. */
  readonly good_fraction: number | null;
  /** The same over the calls that ended well. */
  readonly good_fraction_of_ok: number | null;
  /** Finished calls to which a limit could not be applied. */
  readonly slo_not_applied: number;
}

/** Counts the calls that meet the limits. */
export function createSloCount(slo: Slo) {
  let [good, judged, judgedOk, not_applied] = [0, 0, 0, 0];
  return {
    add(times: CallTimes, ok: boolean): void {
      const verdict = judgeSlo(times, slo, ok);
      if (verdict.not_applied) not_applied += 1;
      if (verdict.good === null) return;
      judged += 1;
      if (ok) judgedOk += 1;
      if (verdict.good) good += 1;
    },
    summary: (span_ns: number | null): SloSummary => ({
      slo,
      goodput_per_s: judged === 0 ? null : perSecond(good, span_ns),
      good_fraction: judged === 0 ? null : good / judged,
      good_fraction_of_ok: judgedOk === 0 ? null : good / judgedOk,
      slo_not_applied: not_applied,
    }),
  };
}

/** A count over a span of ns, 1/s; null where either is unknown or the span has no length. */
export const perSecond = (count: number | null, span_ns: number | null): number | null =>
  count === null || span_ns === null || span_ns <= 0 ? null : (count / span_ns) * 1e9;
