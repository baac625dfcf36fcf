import type { ComparedSide, Comparison, ComparisonRow } from './comparison.js';
import { effectText, pText, valueText } from './figure-text.js';
import { type Grid, type GridValue, gridColumns, gridMarkdown, recordsCsv, withoutEmpty } from './grid.js';

/** What a verdict reads as; `not judged` where there is nothing to judge by. */
export const verdictWords = ({ verdict }: Pick<ComparisonRow, 'verdict'>): string => verdict ?? 'not judged';

const shown = (side: ComparedSide, unit: string): string =>
  `${valueText({ ...side, unit })}${side.state === 'valid' ? '' : side.state === 'flagged' ? ' *' : ' (invalid)'}`;

function effectOf({ estimate, lo, hi }: ComparisonRow): string {
  if (estimate === null) return '';
  const [low, high] = [lo ?? estimate.lo, hi ?? estimate.hi];
  const text = (value: number) => effectText(value, estimate.scale).replace('×', '').replace(' pp', '');
  return `${effectText(estimate.value, estimate.scale)} [${text(low)}, ${text(high)}]`;
}

const pairingOf = ({ estimate }: ComparisonRow): string => {
  if (estimate === null) return '';
  if (estimate.pairing !== 'paired') return estimate.pairing === 'declared' ? 'published spread' : 'unpaired';
  return `${estimate.items} items × ${estimate.repeats}`;
};

const shortName = (value: string): string => value.replace(/^[\w.-]+\//, '');

/** The one value that all have; null where they differ. */
function only(values: readonly string[]): string | null {
  const [first, ...more] = [...new Set(values)];
  return first === undefined || more.length > 0 ? null : first;
}

/** What a table's rows have in common and its columns leave out: the figure, the baseline. */
export function comparisonHead({ rows, by }: Comparison): string[] {
  const [first] = rows;
  const figure = only(rows.map(({ metric }) => metric));
  const base = only(rows.map(({ baseline_value }) => baseline_value));
  const parts = [
    figure === null || first === undefined ? null : `${figure} (${first.unit}): ${first.title}`,
    base === null ? null : `baseline: ${by} ${base}`,
  ].filter((part) => part !== null);
  return parts.length === 0 ? [] : [parts.join('; ')];
}

/** A metric with its unit, where its values bear none. */
const named = ({ metric, unit }: ComparisonRow): string =>
  unit === '1' || unit === 'ns' ? metric : `${metric} (${unit})`;

/** A grid of a comparison: a line each metric of each pair. */
export function comparisonGrid({ rows, by }: Comparison): Grid {
  const where = Object.keys(rows[0]?.where ?? {});
  const oneMetric = only(rows.map(({ metric }) => metric)) !== null;
  const oneBase = only(rows.map(({ baseline_value }) => baseline_value)) !== null;
  const cells = rows.map((row) => [
    where.map((axis) => shortName(row.where[axis] ?? '')).join(' / '),
    oneBase ? '' : row.baseline_value,
    row.other_value,
    oneMetric ? '' : named(row),
    row.mixed.length > 0 ? '!' : '',
    shown(row.baseline, row.unit),
    shown(row.other, row.unit),
    effectOf(row),
    verdictWords(row),
    row.p_adjusted === null ? '' : pText(row.p_adjusted),
    pairingOf(row),
  ]);
  const heads = [
    where.join(' / ') || 'where',
    `baseline ${by}`,
    by,
    'figure',
    '!',
    '>baseline',
    '>other',
    '>other / baseline',
    '>verdict',
    '->p',
    '-paired on',
  ];
  return withoutEmpty({ columns: gridColumns(heads), rows: cells });
}

const unique = (texts: readonly string[]): string[] => [...new Set(texts)];

const plural = (n: number, word: string): string => `${n} ${word}${n === 1 ? '' : 's'}`;

const nameOf = (row: ComparisonRow): string =>
  `${row.metric} of ${row.baseline_value} and ${row.other_value}`;

/** Reasons of verdicts, each once with the figures it holds for. */
function reasonLines(rows: readonly ComparisonRow[]): string[] {
  const byReason = new Map<string, string[]>();
  for (const row of rows) {
    const key = `${verdictWords(row)}: ${row.reason}`;
    byReason.set(key, [...(byReason.get(key) ?? []), row.metric]);
  }
  return [...byReason].map(([reason, metrics]) => {
    const counts = unique(metrics).map((metric) => {
      const n = metrics.filter((other) => other === metric).length;
      return n === 1 ? metric : `${metric} (${n})`;
    });
    return `  ${reason} – ${counts.join(', ')}`;
  });
}

/** What one metric's pairs would need to show 5 %, the largest of them; null where nothing can be told. */
function powerLine(metric: string, own: readonly ComparisonRow[]): string | null {
  const items = largest(own.map(({ items_needed }) => items_needed));
  const repeats = largest(own.map(({ repeats_needed }) => repeats_needed));
  const detectable = largest(own.map(({ estimate }) => estimate?.detectable ?? null));
  const needs = [
    ...(items === null ? [] : [plural(items, 'item')]),
    ...(repeats === null ? [] : [`${plural(repeats, 'repeat')} of each`]),
  ];
  if (needs.length === 0) return null;
  const unit = metric === 'accuracy' ? 'points' : '%';
  const seen = detectable === null ? '' : `; this one sees ${(100 * detectable).toFixed(1)} ${unit}`;
  return `  ${metric}: ${needs.join(', and ')} to see 5 ${unit} at this spread${seen}`;
}

const powerLines = (rows: readonly ComparisonRow[]): string[] =>
  unique(rows.map(({ metric }) => metric)).flatMap(
    (metric) =>
      powerLine(
        metric,
        rows.filter((row) => row.metric === metric),
      ) ?? [],
  );

function largest(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : Math.max(...known);
}

const section = (head: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : [head, ...lines];

const MOST = 12;

function capped(lines: readonly string[]): string[] {
  return lines.length <= MOST
    ? [...lines]
    : [...lines.slice(0, MOST), `  and ${lines.length - MOST} more; --format json has all`];
}

/** What was left out, by reason, with one example each. */
function leftLines(left: Comparison['left_out']): string[] {
  const byReason = new Map<string, string[]>();
  for (const { cell, reason } of left) byReason.set(reason, [...(byReason.get(reason) ?? []), cell]);
  return [...byReason].map(([reason, cells]) =>
    cells.length === 1
      ? `  ${cells[0]}: ${reason}`
      : `  ${cells.length} cells, ${cells[0]} among them: ${reason}`,
  );
}

/** Everything that stands below the table of a comparison. */
export function comparisonNotes({ rows, notes, left_out }: Comparison): string[] {
  const mixed = rows.filter((row) => row.mixed.length > 0);
  const circumstances = unique(rows.flatMap((row) => row.circumstances.map((text) => `  ${text}`)));
  const unpaired = unique(
    rows.flatMap((row) =>
      row.estimate?.pairing === 'unpaired' ? [`  ${row.metric}: ${row.estimate.unpaired_reason ?? ''}`] : [],
    ),
  );
  const dropped = rows.filter(({ estimate }) => (estimate?.dropped_items ?? 0) > 0);
  return [
    ...section('why:', capped(reasonLines(rows))),
    ...section('! mixed:', capped(unique(mixed.map((row) => `  ${nameOf(row)}: ${row.mixed.join('; ')}`)))),
    ...section('also different between the two sides:', capped(circumstances)),
    ...section('not paired:', unpaired),
    ...section(
      'items that one side lacks, left out:',
      capped(unique(dropped.map((row) => `  ${nameOf(row)}: ${row.estimate?.dropped_items}`))),
    ),
    ...section('how much would be needed:', powerLines(rows)),
    ...section('not compared:', capped(leftLines(left_out))),
    ...notes,
  ];
}

/** A comparison in Markdown. */
export const comparisonMarkdown = (comparison: Comparison): string[] => [
  ...comparisonHead(comparison).flatMap((line) => [line, '']),
  ...gridMarkdown(comparisonGrid(comparison)),
  '',
  ...comparisonNotes(comparison).map((line) => (line.startsWith('  ') ? `- ${line.trim()}` : line)),
];

function recordOf(row: ComparisonRow, { by, correction }: Comparison): Record<string, GridValue> {
  const { estimate, baseline, other } = row;
  return {
    by,
    ...Object.fromEntries(Object.entries(row.where).map(([axis, value]) => [`where_${axis}`, value])),
    baseline: row.baseline_value,
    other: row.other_value,
    baseline_record: baseline.record,
    other_record: other.record,
    metric: row.metric,
    unit: row.unit,
    baseline_value: baseline.value,
    other_value: other.value,
    scale: estimate?.scale ?? null,
    effect: estimate?.value ?? null,
    sampling_lo: estimate?.lo ?? null,
    sampling_hi: estimate?.hi ?? null,
    lo: row.lo,
    hi: row.hi,
    pairing: estimate?.pairing ?? null,
    items: estimate?.items ?? null,
    repeats: estimate?.repeats ?? null,
    p: estimate?.p ?? null,
    p_adjusted: row.p_adjusted,
    correction,
    verdict: row.verdict,
    reason: row.reason,
    provenance: baseline.provenance === other.provenance ? baseline.provenance : 'mixed',
    boundary: baseline.boundary === other.boundary ? baseline.boundary : 'mixed',
    mixed: row.mixed.join('; '),
    items_needed: row.items_needed,
    repeats_needed: row.repeats_needed,
  };
}

/** A comparison as CSV, a line each metric of each pair, with the flags in it. */
export const comparisonCsv = (comparison: Comparison): string[] =>
  recordsCsv(comparison.rows.map((row) => recordOf(row, comparison)));
