import type { CallRow, QueryRow } from '@perwatt/core';
import { type Accuracy, accuracyOf, countVerdicts } from './cell-accuracy.js';
import { cellContributions } from './cell-contributions.js';
import { type CallsBySitting, cellEnergy, spanOf } from './cell-energy.js';
import type { CellCounts, CellEnergy, CellFlag, CellInput, CellMetrics } from './cell-types.js';
import { type CellFacts, cellValues, type RepeatFacts } from './cell-values.js';
import { METRIC_SPEC_VERSION } from './metric-definitions.js';
import { type TokenTotals, tokenTotals } from './tokens.js';

const FAILED_FLAG = 0.01;
const FAILED_INVALID = 0.05;
const UNSCORED_FLAG = 0.01;
const DRIFT_FLAG = 0.05;

const percent = (ratio: number): string => `${(ratio * 100).toFixed(1)} %`;

/** The calls of the measured window that belong to a query with a row in the same sitting. */
export function settledCalls({ queries, calls }: CellInput): CallRow[] {
  const settled = new Set(queries.map(({ query_id, sitting }) => `${sitting} ${query_id}`));
  return calls.filter(
    ({ phase, query_id, sitting }) => phase === 'measure' && settled.has(`${sitting} ${query_id}`),
  );
}

/** Spans of calls by the sitting that made them. */
export function bySitting(calls: readonly CallRow[]): CallsBySitting {
  const spans = new Map<number, ReturnType<typeof spanOf>[]>();
  for (const call of calls) {
    const sitting = spans.get(call.sitting);
    if (sitting === undefined) spans.set(call.sitting, [spanOf(call)]);
    else sitting.push(spanOf(call));
  }
  return spans;
}

function unsettledQueries({ queries, calls }: CellInput): number {
  const settled = new Set(queries.map(({ query_id }) => query_id));
  const open = calls.filter(({ phase, query_id }) => phase === 'measure' && !settled.has(query_id));
  return new Set(open.map(({ query_id }) => query_id)).size;
}

function flagsOf(counts: CellCounts, { drift_ratio, stale_counters }: CellEnergy): CellFlag[] {
  const flags: CellFlag[] = [];
  const { attempted, failed } = counts;
  if (attempted === 0) return [{ code: 'no_queries', severity: 'invalid', text: 'no query was recorded' }];
  const share = failed / attempted;
  if (share > FAILED_FLAG) {
    flags.push({
      code: 'failed_queries',
      severity: share > FAILED_INVALID ? 'invalid' : 'flagged',
      text: `${failed} of ${attempted} queries failed (${percent(share)})`,
    });
  }
  const unscored = attempted - counts.scored;
  if (unscored / attempted > UNSCORED_FLAG) {
    flags.push({
      code: 'unscored',
      severity: 'flagged',
      text: `${unscored} of ${attempted} queries could not be scored (${percent(unscored / attempted)})`,
    });
  }
  if (drift_ratio !== null && Math.abs(drift_ratio) > DRIFT_FLAG) {
    flags.push({
      code: 'baseline_drift',
      severity: 'flagged',
      text: `idle power changed by ${percent(drift_ratio)} from before to after`,
    });
  }
  if (stale_counters.length > 0) {
    flags.push({
      code: 'stale_counter',
      severity: 'flagged',
      text: `${stale_counters.join(', ')} stood still while the power beside it did not`,
    });
  }
  return flags;
}

/** What one repeat alone says of energy, so that the spread between repeats can be told. */
function repeatFacts(input: CellInput, calls: readonly CallRow[]): RepeatFacts[] {
  const repeatOf = new Map(input.queries.map(({ query_id, repeat }) => [query_id, repeat]));
  const repeats = [...new Set(input.queries.map(({ repeat }) => repeat))].sort((a, b) => a - b);
  return repeats.map((repeat) => {
    const queries = input.queries.filter((query) => query.repeat === repeat);
    const own = calls.filter(({ query_id }) => repeatOf.get(query_id) === repeat);
    return {
      accuracy: meanScore(queries),
      scored: queries.filter(({ score }) => score !== null).length,
      queries: queries.length,
      energy: cellEnergy(input.sittings, bySitting(own)),
      tokens: tokenTotals(own),
    };
  });
}

function meanScore(queries: readonly QueryRow[]): number | null {
  const scores = queries.map(({ score }) => score).filter((score) => score !== null);
  return scores.length === 0 ? null : scores.reduce((sum, score) => sum + score, 0) / scores.length;
}

function boundsWithUnscored(accuracy: Accuracy, attempted: number): CellMetrics['accuracy_bounds'] {
  if (attempted === 0) return null;
  const right = (accuracy.value ?? 0) * accuracy.n;
  return { lo: right / attempted, hi: (right + attempted - accuracy.n) / attempted };
}

/**
 * Every metric of one cell, from its rows and its power alone.
 *
 * E and T are taken over B, the union of the spans with a call in flight inside the measured windows, summed over
 * sittings; calls of warm-up and of queries without a row are no part of it. N counts every attempted query. With three
 * repeats or more, energy figures carry the 95 % interval over repeats and items by Student's t; with fewer their `lo` and
 * `hi` are the sensor's bounds, with another draw of items where accuracy is in the figure, and say so.
 */
export function cellMetrics(input: CellInput): CellMetrics {
  const calls = settledCalls(input);
  const accuracy = accuracyOf(input.queries, input.seed ?? 0);
  const energy = cellEnergy(input.sittings, bySitting(calls));
  const tokens: TokenTotals = tokenTotals(calls);
  const repeats = repeatFacts(input, calls);
  const attempted = input.queries.length;
  const counts: CellCounts = {
    attempted,
    scored: accuracy.n,
    failed: input.queries.filter(({ status }) => status === 'failed').length,
    unsettled: unsettledQueries(input),
    calls: calls.length,
    calls_ok: calls.filter(({ status }) => status === 'ok').length,
    repeats: repeats.length,
    verdicts: countVerdicts(input.queries),
  };
  const contributions = cellContributions(input.queries, calls);
  const facts: CellFacts = { accuracy, queries: attempted, energy, tokens, calls, repeats, contributions };
  const { guess_rate } = input;
  return {
    spec_version: METRIC_SPEC_VERSION,
    values: cellValues(facts),
    energy,
    counts,
    failed_ratio: attempted === 0 ? null : counts.failed / attempted,
    guess_rate,
    above_guessing: guess_rate === null || accuracy.lo === null ? null : accuracy.lo > guess_rate,
    accuracy_bounds: boundsWithUnscored(accuracy, attempted),
    flags: flagsOf(counts, energy),
  };
}
