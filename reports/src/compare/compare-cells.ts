import { closest, PerwattError } from '@perwatt/core';
import {
  type ComparisonResult,
  comparisonVerdict,
  holm,
  itemsNeeded,
  multipleComparisonNote,
  repeatsNeeded,
  SPREAD_UNKNOWN,
} from '@perwatt/metrics';
import { markNotes } from '../format.js';
import { axisValue, type ComparableCell, cellLabel } from './comparable.js';
import type { ComparedSide, Comparison, ComparisonRow } from './comparison.js';
import { type CellPair, type MatchOptions, matchCells } from './match-cells.js';
import { mixedIn, refuseMixed } from './mixed.js';
import { bandOf, type PairEstimate, pairEstimate, productOf, spreadKnown } from './pair-estimate.js';

export interface CompareOptions extends MatchOptions {
  /** Ids of metrics. Default: what suits the axis. */
  readonly metrics?: readonly string[];
  readonly allow_mixed?: boolean;
  /** Default `holm`. */
  readonly correction?: 'holm' | 'none';
}

const usual = ['accuracy', 'ipw_per_w', 'ipj_per_j', 'energy_per_query_j', 'tokens_per_s', 'ttft_any_p50_ns'];
const published = ['energy_per_output_token_j', 'tokens_per_s'];

const perWatt = new Set(['ipw_per_w', 'net_ipw_per_w']);

/** Every metric that a cell has, in order of first appearance. */
export const metricsOf = (cells: readonly ComparableCell[]): string[] => [
  ...new Set(cells.flatMap(({ figures }) => Object.keys(figures))),
];

/** Checks asked metrics, or takes the usual ones. Throws `INPUT_INVALID` for one that no cell has. */
export function chosenMetrics(
  cells: readonly ComparableCell[],
  asked: readonly string[] | undefined,
  by: string,
): string[] {
  const known = metricsOf(cells);
  for (const metric of asked ?? []) {
    if (known.includes(metric)) continue;
    const guess = closest(metric, known);
    throw new PerwattError('INPUT_INVALID', `no figure "${metric}" in these runs`, {
      hint: guess == null ? `There are ${known.join(', ')}.` : `Did you mean "${guess}"?`,
    });
  }
  if (asked !== undefined) return [...asked];
  const list = cells.some(({ tier }) => tier === 'published') ? published : usual;
  const ranked = by === 'strategy' || by === 'load' ? list.filter((metric) => !perWatt.has(metric)) : list;
  const found = ranked.filter((metric) => known.includes(metric));
  return found.length > 0 ? found : known.slice(0, 3);
}

interface Draft extends Omit<ComparisonRow, 'p_adjusted' | 'verdict' | 'reason' | 'lo' | 'hi'> {
  readonly judged: ComparisonResult;
}

const sideOf = (cell: ComparableCell, metric: string): ComparedSide => {
  const figure = cell.figures[metric];
  return {
    cell: cellLabel(cell),
    record: cell.record,
    state: cell.verdict.state,
    value: figure?.value ?? null,
    lo: figure?.lo ?? null,
    hi: figure?.hi ?? null,
    interval: figure?.interval ?? null,
    sensor_lo: figure?.sensor_lo ?? null,
    sensor_hi: figure?.sensor_hi ?? null,
    provenance: figure?.provenance ?? null,
    boundary: figure?.boundary ?? null,
    reason: figure === undefined ? 'no such figure' : figure.reason,
  };
};

const unjudged = (reason: string): ComparisonResult => ({ verdict: null, reason, lo: null, hi: null });

/** Why a pair is not judged in a metric at all, whatever the figures are; null when it may be. */
function notRanked({ baseline, other }: CellPair, metric: string, by: string): string | null {
  const invalid = [baseline, other].find(({ verdict }) => verdict.state === 'invalid');
  if (invalid !== undefined) {
    const why = invalid.verdict.reasons.map(({ text }) => text).join('; ');
    return `${cellLabel(invalid)} is invalid: ${why}`;
  }
  if ([baseline, other].some(({ figures }) => figures[metric]?.rankable === false))
    return 'not ranked: its source made it in a way that allows no order (a peak, or two measurements)';
  if (!perWatt.has(metric)) return null;
  if (by === 'strategy')
    return 'not ranked: strategies are ranked by IPJ, since calls in a row cost IPW nothing';
  const [a, b] = [axisValue(baseline, 'load'), axisValue(other, 'load')];
  return a === b ? null : `not ranked: IPW depends on load, and these have ${a} and ${b}`;
}

function gapReason(a: ComparedSide, b: ComparedSide, text: string): string {
  const missing = [a, b].find(({ value }) => value === null);
  return missing === undefined ? text : `no figure of ${missing.cell}: ${missing.reason ?? 'not known'}`;
}

function judge(pair: CellPair, metric: string, estimate: PairEstimate | string): ComparisonResult {
  if (typeof estimate === 'string') return unjudged(estimate);
  const { scale } = estimate;
  const product = productOf(metric);
  if (product === null || product.energy === 0 || estimate.pairing === 'declared')
    return comparisonVerdict({ scale, estimate, energy: null });
  const [a, b] = [bandOf(pair.baseline, product), bandOf(pair.other, product)];
  if (a === null || b === null) {
    if (pair.baseline.tier === 'measured' || pair.other.tier === 'measured')
      return unjudged("the sensors' bounds are not known");
    return comparisonVerdict({ scale, estimate, energy: null });
  }
  const power = product.energy > 0 ? 1 : -1;
  return comparisonVerdict({
    scale,
    estimate,
    energy: { a, b, power, repeats: estimate.repeats ?? 0, declared_spread: spreadKnown(estimate) },
  });
}

const EFFECT = 0.05;
const Z95 = 1.959963984540054;

/** Items that would show a difference of 5 % (for accuracy five points) at the spread that this pair has. */
function neededItems(estimate: PairEstimate | null, accuracy: number | null): number | null {
  if (estimate?.pairing !== 'paired' || estimate.items === null) return null;
  if (estimate.scale === 'difference') {
    const share = estimate.discordant;
    if (accuracy === null || share === null) return null;
    const effect = accuracy + EFFECT <= 1 ? EFFECT : -EFFECT;
    return itemsNeeded({
      kind: 'proportions',
      pairing: 'paired',
      accuracy,
      effect,
      discordant: Math.max(share, EFFECT),
    });
  }
  const se = Math.log(estimate.hi / estimate.lo) / (2 * Z95);
  const cv = se * Math.sqrt(estimate.items);
  return itemsNeeded({ kind: 'ratio_of_means', pairing: 'paired', effect: EFFECT, cv });
}

/** Repeats of each against the larger of two measured spreads between runs. */
function neededRepeats({ baseline, other }: CellPair, metric: string): number | null {
  const spreads = [baseline, other].map(({ figures }) => figures[metric]?.spread);
  if (!spreads.every((spread) => spread?.source === 'measured')) return null;
  const spread_ratio = Math.max(...spreads.map((spread) => spread?.sd_ratio ?? Number.NaN));
  return Number.isNaN(spread_ratio) ? null : repeatsNeeded({ effect: EFFECT, spread_ratio });
}

function circumstances({ baseline, other }: CellPair): string[] {
  const names = new Set([...Object.keys(baseline.circumstances), ...Object.keys(other.circumstances)]);
  return [...names].flatMap((name) => {
    const [a, b] = [baseline.circumstances[name] ?? 'not known', other.circumstances[name] ?? 'not known'];
    return a === b ? [] : [`${name} ${a} and ${b}`];
  });
}

interface RowContext {
  readonly by: string;
  readonly varying: readonly string[];
}

function draftOf(pair: CellPair, metric: string, { by, varying }: RowContext): Draft {
  const { baseline, other } = pair;
  const figure = baseline.figures[metric] ?? other.figures[metric];
  const [a, b] = [sideOf(baseline, metric), sideOf(other, metric)];
  const found = pairEstimate(pair, metric);
  const refused = notRanked(pair, metric, by);
  const judged = refused === null ? judge(pair, metric, found) : unjudged(refused);
  const estimate = typeof found === 'string' ? null : found;
  return {
    metric,
    title: figure?.title ?? metric,
    unit: figure?.unit ?? '',
    better: figure?.better ?? 'neither',
    where: Object.fromEntries(varying.map((axis) => [axis, axisValue(other, axis)])),
    baseline_value: axisValue(baseline, by),
    other_value: axisValue(other, by),
    baseline: a,
    other: b,
    estimate,
    judged: judged.verdict === null && refused === null ? unjudged(gapReason(a, b, judged.reason)) : judged,
    mixed: mixedIn(pair, metric).map(({ text }) => text),
    circumstances: circumstances(pair),
    items_needed: neededItems(estimate, a.value),
    repeats_needed: neededRepeats(pair, metric),
  };
}

const shownP = (p: number): string => (p < 0.001 ? '< 0.001' : p.toFixed(3));

/** A difference stands only where its own p, corrected for how many were looked at, does too. */
function rowOf(
  draft: Draft,
  adjusted: number | null,
  correction: CompareOptions['correction'],
): ComparisonRow {
  const { judged, ...row } = draft;
  const p = row.estimate?.p ?? null;
  const shown = correction === 'none' ? p : adjusted;
  const base = { ...row, lo: judged.lo, hi: judged.hi, p_adjusted: shown };
  if (judged.verdict !== 'different' || shown === null || shown <= 0.05)
    return { ...base, verdict: judged.verdict, reason: judged.reason };
  const test = row.estimate?.test === 'mcnemar' ? 'by McNemar' : 'of the interval';
  const holmed = correction === 'none' ? '' : `, ${shownP(shown)} after Holm's correction`;
  const reason = `p ${shownP(p ?? 1)} ${test}${holmed}`;
  return { ...base, verdict: 'within noise', reason };
}

function notesOf(rows: readonly ComparisonRow[], comparisons: number, options: CompareOptions): string[] {
  const few = rows.some(({ reason }) => reason.startsWith(SPREAD_UNKNOWN));
  const chance =
    options.correction === 'none'
      ? `${comparisons} comparisons, p not corrected`
      : multipleComparisonNote(comparisons);
  const mixed = rows.filter((row) => row.mixed.length > 0).length;
  const tiers = rows.flatMap(({ baseline, other }) => [baseline.provenance, other.provenance]);
  const published = rows.some(({ baseline, other }) =>
    [baseline, other].some(({ provenance }) => provenance === 'published'),
  );
  return [
    comparisons > 1 ? chance : null,
    few
      ? `${SPREAD_UNKNOWN}: no difference in energy may be called one; set \`repeats: 3\` in the matrix (protocol standard does)`
      : null,
    mixed > 0
      ? `${mixed} of ${rows.length} figures are mixed (marked !): they were not made alike, and no verdict mends that`
      : null,
    ...markNotes(tiers),
    published ? 'published figures are as their source made them; nothing of it was measured here' : null,
  ].filter((note) => note !== null);
}

/**
 * Compares cells along one axis: every pair that agrees on all others, in each metric, with a verdict. Throws
 * `INPUT_INVALID` for unknown names, where nothing matches, and where boundaries, provenances or workloads differ and
 * `allow_mixed` isn't set.
 */
export function compareCells(cells: readonly ComparableCell[], options: CompareOptions): Comparison {
  const matched = matchCells(cells, options);
  const metrics = chosenMetrics(cells, options.metrics, options.by);
  if (options.allow_mixed !== true) refuseMixed(matched.pairs, metrics, options.by);
  const context = { by: options.by, varying: matched.varying };
  const drafts = matched.pairs.flatMap((pair) => metrics.map((metric) => draftOf(pair, metric, context)));
  const tests = drafts.map(({ judged, estimate }) =>
    judged.verdict === null ? null : (estimate?.p ?? null),
  );
  const adjusted = holm(tests);
  const rows = drafts.map((draft, i) => rowOf(draft, adjusted[i]?.p ?? null, options.correction));
  const comparisons = tests.filter((p) => p !== null).length;
  return {
    by: options.by,
    runs: [...new Set(cells.map(({ run_id }) => run_id))],
    metrics,
    correction: options.correction ?? 'holm',
    comparisons,
    rows,
    left_out: matched.left_out,
    notes: notesOf(rows, comparisons, options),
  };
}
