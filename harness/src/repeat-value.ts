import { type CallRow, type Instant, instant, type QueryRow, type StopMetric } from '@perwatt/core';
import { busySpans, type PowerSeries, type Window } from '@perwatt/metrics';
import { type EnergyAttribution, energiesOf } from './energy.js';

/** One query of a repeat, as far as a rule on repeats looks at it. */
export interface RepeatQuery {
  readonly start: Instant;
  readonly end: Instant;
  readonly tokens: number | null;
  readonly energy_j: number | null;
}

/**
 * A metric over the queries of one repeat, energy and time taken over the union of their spans. Null for no query, and where
 * one lacks what it takes.
 */
export function repeatValue(metric: StopMetric, queries: readonly RepeatQuery[]): number | null {
  const energy_j = sumKnown(queries.map((q) => q.energy_j));
  const tokens = sumKnown(queries.map((q) => q.tokens));
  switch (metric) {
    case 'energy_per_query_j':
      return ratio(energy_j, queries.length);
    case 'energy_per_output_token_j':
      return ratio(energy_j, tokens);
    case 'tokens_per_j':
      return ratio(tokens, energy_j);
    case 'power_w':
      return ratio(energy_j, busySeconds(queries));
    case 'tokens_per_s':
      return ratio(tokens, busySeconds(queries));
  }
}

const ratio = (a: number | null, b: number | null): number | null =>
  a === null || b === null || b <= 0 ? null : a / b;

const sumKnown = (values: readonly (number | null)[]): number | null =>
  values.reduce<number | null>((sum, value) => (sum === null || value === null ? null : sum + value), 0);

function busySeconds(queries: readonly RepeatQuery[]): number {
  const zero = instant(0n);
  const window: Window = {
    start: queries.reduce((first, q) => (q.start < first ? q.start : first), queries[0]?.start ?? zero),
    end: queries.reduce((last, q) => (q.end > last ? q.end : last), queries[0]?.end ?? zero),
  };
  const spans = queries.map(({ start, end }) => ({ query_id: '', start, end }));
  return busySpans(spans, window).reduce((sum, { start, end }) => sum + Number(end - start) / 1e9, 0);
}

/** A repeat that was just measured. */
export interface LiveRepeat {
  readonly calls: readonly CallRow[];
  /** Of what counts for its endpoints. */
  readonly series: readonly PowerSeries[];
  readonly window: Window;
  readonly attribution: EnergyAttribution;
}

/** Queries of a repeat that was just measured, from its calls. */
export function liveQueries({ calls, series, window, attribution }: LiveRepeat): RepeatQuery[] {
  const energies = energiesOf({ series, calls, window, baselines: [], attribution });
  const byQuery = new Map<string, CallRow[]>();
  for (const call of calls) byQuery.set(call.query_id, [...(byQuery.get(call.query_id) ?? []), call]);
  return [...byQuery].map(([id, own]) => ({
    start: instant(own.map((c) => c.dispatch_ns).reduce((a, b) => (a < b ? a : b))),
    end: instant(own.map((c) => c.end_ns).reduce((a, b) => (a > b ? a : b))),
    tokens: sumKnown(own.map((c) => c.completion_tokens)),
    energy_j: energies.get(id)?.gross_j ?? null,
  }));
}

/** A query of an earlier sitting. */
export const settledQuery = (row: QueryRow): RepeatQuery => ({
  start: instant(row.start_ns),
  end: instant(row.end_ns),
  tokens: row.completion_tokens,
  energy_j: row.energy_gross_j,
});
