import type { Accuracy } from './cell-accuracy.js';
import { countVerdicts } from './cell-accuracy.js';
import { codeOf } from './cell-columns.js';
import { type CellFacts, cellFacts } from './cell-facts.js';
import { repeatFigures, subjectFigures } from './cell-groups.js';
import type {
  CellColumnsInput,
  CellCounts,
  CellEnergy,
  CellFlag,
  CellInput,
  CellMetrics,
} from './cell-types.js';
import { cellValues } from './cell-values.js';
import { columnsOfRows } from './columns-of-rows.js';
import { METRIC_SPEC_VERSION } from './metric-definitions.js';

const FAILED_FLAG = 0.01;
const FAILED_INVALID = 0.05;
const UNSCORED_FLAG = 0.01;
const DRIFT_FLAG = 0.05;

const percent = (ratio: number): string => `${(ratio * 100).toFixed(1)} %`;

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

function boundsWithUnscored(accuracy: Accuracy, attempted: number): CellMetrics['accuracy_bounds'] {
  if (attempted === 0) return null;
  const right = (accuracy.value ?? 0) * accuracy.n;
  return { lo: right / attempted, hi: (right + attempted - accuracy.n) / attempted };
}

function countOf(codes: Int32Array, wanted: number): number {
  let count = 0;
  for (let row = 0; row < codes.length; row++) if (codes[row] === wanted) count += 1;
  return count;
}

function countsOf({ columns, accuracy, repeats }: CellFacts): CellCounts {
  const { queries, calls, calls_from, unsettled } = columns;
  const failed = codeOf(queries.status, 'failed');
  const recorded = calls_from === 'calls' ? calls.length : 0;
  return {
    attempted: queries.length,
    scored: accuracy.n,
    failed: countOf(queries.status.codes, failed),
    unsettled,
    calls: recorded,
    calls_ok: recorded === 0 ? 0 : calls.ok.reduce((sum, ok) => sum + ok, 0),
    repeats: repeats.length,
    verdicts: countVerdicts(queries.verdict),
  };
}

/**
 * Every metric of one cell, from its rows (or their columns) and its power alone.
 *
 * E and T are taken over B, the union of the spans with a call in flight inside the measured windows, summed over
 * sittings; calls of warm-up and of queries without a row are no part of it. N counts every attempted query. With three
 * repeats or more, energy figures carry the 95 % interval over repeats and items by Student's t; with fewer their `lo` and
 * `hi` are the sensor's bounds, with another draw of items where accuracy is in the figure, and say so. Without samples,
 * E is what was booked to the queries, where `booked` says of which domains.
 */
export function cellMetrics(input: CellInput | CellColumnsInput): CellMetrics {
  const facts = cellFacts('columns' in input ? input.columns : columnsOfRows(input), input);
  const { accuracy, energy, detail } = facts;
  const counts = countsOf(facts);
  const { attempted } = counts;
  const { guess_rate } = input;
  return {
    spec_version: METRIC_SPEC_VERSION,
    values: cellValues(facts),
    by_repeat: repeatFigures(facts),
    by_subject: subjectFigures(facts),
    energy,
    detail,
    counts,
    failed_ratio: attempted === 0 ? null : counts.failed / attempted,
    guess_rate,
    above_guessing: guess_rate === null || accuracy.lo === null ? null : accuracy.lo > guess_rate,
    accuracy_bounds: boundsWithUnscored(accuracy, attempted),
    flags: flagsOf(counts, energy),
  };
}
