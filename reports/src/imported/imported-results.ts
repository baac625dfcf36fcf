import { metrics } from '@perwatt/metrics';
import { modelColour } from '../colours.js';
import { axisValue, type ComparableCell, type ComparableFigure } from '../compare/comparable.js';
import { rangeText, valueText } from '../compare/figure-text.js';
import {
  type FigureData,
  firstMetrics,
  type ResultColumn,
  type ResultsData,
  ROWS_AT_FIRST,
  type RowData,
} from '../site/results-data.js';
import { printable } from '../site/site-parts.js';
import { flagText } from './flag-texts.js';
import { type ImportedSite, knobsText, modelOf } from './imported-site.js';

/** So many columns are shown at first where a source has none of ours. */
const FEWEST_COLUMNS = 4;

/** Columns of imported figures: ours in our order, then those of the sources in theirs. */
export function importedColumns(records: readonly ComparableCell[]): ResultColumn[] {
  const found = new Map<string, ResultColumn>();
  for (const { figures } of records)
    for (const { metric, title, unit, better } of Object.values(figures))
      if (!found.has(metric)) {
        const own = metrics.some(({ id }) => id === metric);
        found.set(metric, { id: metric, title: printable(own ? title : metric), unit, better });
      }
  const ours = metrics.flatMap(({ id }) => found.get(id) ?? []);
  return [...ours, ...[...found.values()].filter((column) => !ours.includes(column))];
}

const shortened = (value: number): number => Number(value.toPrecision(7));
const orNull = (value: number | null): number | null => (value === null ? null : shortened(value));

/** A figure with what belongs to it: its range, its statistic unless it is a mean, and how many runs or queries it is of. */
function figureData(figure: ComparableFigure): FigureData | null {
  if (figure.value === null) return null;
  const parts = [
    rangeText(figure),
    figure.statistic === 'mean' ? '' : figure.statistic,
    figure.n === null ? '' : `n = ${figure.n}`,
  ].filter((part) => part !== '');
  return {
    v: shortened(figure.value),
    lo: orNull(figure.lo),
    hi: orNull(figure.hi),
    text: valueText(figure),
    below: parts.length === 0 ? null : parts.join(' · '),
    ...(figure.note === null ? {} : { title: printable(figure.note) }),
  };
}

const axisTitles: Readonly<Record<string, string>> = { dataset: 'Data set' };

const titleOf = (axis: string): string => {
  const words = axis.replaceAll('_', ' ');
  return axisTitles[axis] ?? printable(words.charAt(0).toUpperCase() + words.slice(1));
};

/** Records of imported runs as data of the result table: a row a record, with the file and row that it stands in. */
export function importedResults({ runs, records, models, axes, knobs }: ImportedSite): ResultsData {
  const columns = importedColumns(records);
  const reasons = new Map<string, number>();
  const reasonAt = (reason: string): number => {
    const known = reasons.get(reason) ?? reasons.size;
    reasons.set(reason, known);
    return known;
  };
  const place = ({ run_id, record }: ComparableCell): string =>
    runs.length === 1 ? record.slice(run_id.length + 1) : record;
  const rows = records.map(
    (record): RowData => ({
      href: '',
      colour: modelColour(models, modelOf(record)),
      axes: [
        ...axes.map((axis) => printable(axisValue(record, axis))),
        ...(knobs.length === 0 ? [] : [printable(knobsText(record, knobs))]),
        printable(place(record)),
      ],
      verdict: record.verdict.state,
      reasons: record.verdict.reasons.map(({ code }) => [code.replaceAll('_', ' '), flagText(code)] as const),
      front: false,
      tiers: Object.values(record.figures).some(({ provenance }) => provenance !== null)
        ? [['published', 'taken from a publication']]
        : [],
      lines: [],
      figures: columns.map(({ id }) => {
        const figure = record.figures[id];
        if (figure === undefined) return reasonAt('its source does not tell it');
        return figureData(figure) ?? reasonAt((figure.reason ?? 'not known').replaceAll('_', ' '));
      }),
    }),
  );
  const usual = new Set<string>([...firstMetrics, 'energy_per_output_token_j']);
  const ours = columns.filter(({ id }) => usual.has(id));
  const shown =
    ours.length >= FEWEST_COLUMNS ? ours : columns.slice(0, Math.max(FEWEST_COLUMNS, ours.length));
  return {
    noun: 'record',
    axes: [
      ...axes.map((axis) => ({ name: axis, title: titleOf(axis) })),
      ...(knobs.length === 0 ? [] : [{ name: 'configuration', title: 'Configuration' }]),
      { name: 'record', title: 'Stands in' },
    ],
    columns,
    shown: [...new Set([...ours, ...shown])].map(({ id }) => id),
    reasons: [...reasons.keys()],
    rows,
    rows_at_first: ROWS_AT_FIRST,
  };
}
