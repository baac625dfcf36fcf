import type { PointAxis } from '@perwatt/core';
import { type Metric, type MetricId, type MetricValue, metrics } from '@perwatt/metrics';
import { modelColour } from '../colours.js';
import { formatMetric } from '../format.js';
import { partsText, reasonText } from '../page-parts.js';
import { accuracyLines } from '../page-results.js';
import type { CellResult } from '../results-types.js';
import { cellTiers } from './provenance-badges.js';
import { cellAddress, runIds, type Site } from './site-model.js';
import { boundsOf, printable, shownAxes } from './site-parts.js';

/** A figure as the table has it: value and bounds to sort by and to copy, texts to show. */
export interface FigureData {
  readonly v: number;
  readonly lo: number | null;
  readonly hi: number | null;
  readonly text: string;
  /** Below the text; null for none. */
  readonly below: string | null;
  readonly title?: string;
}

/** One cell. `figures` has a figure, or the number of its reason, for each column. */
export interface RowData {
  /** Empty for what has no page of its own. */
  readonly href: string;
  readonly colour: string;
  readonly axes: readonly string[];
  readonly verdict: CellResult['verdict']['state'];
  /** Code in words, and the whole sentence. */
  readonly reasons: readonly (readonly [code: string, text: string])[];
  readonly front: boolean;
  readonly tiers: readonly (readonly [word: string, text: string])[];
  readonly figures: readonly (FigureData | number)[];
  /** Below the accuracy. */
  readonly lines: readonly string[];
}

/** A metric as a column. */
export interface ResultColumn extends Pick<Metric<string>, 'id' | 'title' | 'better'> {
  readonly unit: string;
}

/** Everything the result table shows, sorts by and copies. */
export interface ResultsData {
  /** What a row is. */
  readonly noun: 'cell' | 'record';
  readonly axes: readonly { readonly name: string; readonly title: string }[];
  readonly columns: readonly ResultColumn[];
  /** Ids of the columns that are shown at first. */
  readonly shown: readonly string[];
  readonly reasons: readonly string[];
  readonly rows: readonly RowData[];
  /** So many rows are drawn until more are asked for: a browser takes seconds over thousands. */
  readonly rows_at_first: number;
}

export const ROWS_AT_FIRST = 200;

/** Columns that are shown at first. */
export const firstMetrics: readonly MetricId[] = [
  'accuracy',
  'power_w',
  'energy_per_query_j',
  'ipw_per_w',
  'ipj_per_j',
  'energy_per_correct_j',
  'tokens_per_s',
  'ttft_any_p50_ns',
];

/** More cells than this have no tooltips of what their intervals are made of: the page would grow too large. */
const MOST_TITLES = 300;

const axisTitles: Readonly<Record<PointAxis, string>> = {
  model: 'Model',
  accelerator: 'Accelerator',
  dataset: 'Data set',
  strategy: 'Strategy',
  load: 'Load',
  variant: 'Variant',
};

const shortened = (value: number): number => Number(value.toPrecision(7));
const orNull = (value: number | null): number | null => (value === null ? null : shortened(value));

function figureOf(metric: MetricValue, titled: boolean): FigureData | null {
  if (metric.value === null) return null;
  const title = titled ? partsText(metric) : null;
  return {
    v: shortened(metric.value),
    lo: orNull(metric.lo),
    hi: orNull(metric.hi),
    text: formatMetric(metric),
    below: boundsOf(metric),
    ...(title === null ? {} : { title }),
  };
}

/** The cells of a site as data of the result table: columns are the metrics that some cell has. */
export function resultsData(site: Site): ResultsData {
  const { merged, runs } = site;
  const runOf = runIds(site);
  const several = runs.length > 1;
  const { cells, models } = merged;
  const columns = metrics.filter(({ id }) => cells.some((cell) => cell.metrics[id].value !== null));
  const reasons = new Map<string, number>();
  const reasonAt = (reason: string): number => {
    const known = reasons.get(reason) ?? reasons.size;
    reasons.set(reason, known);
    return known;
  };
  const axes = shownAxes(cells);
  const wanted = new Set<string>(
    merged.strategies.length > 1 ? [...firstMetrics, 'sequential_tokens'] : firstMetrics,
  );
  const rows = cells.map((cell): RowData => {
    const { point, verdict } = cell;
    return {
      href: cellAddress(cell.cell_id),
      colour: modelColour(models, point.model),
      axes: [
        ...axes.map((axis) => printable(point[axis] ?? '')),
        ...(several ? [printable(runOf(cell.cell_id))] : []),
      ],
      verdict: verdict.state,
      reasons: verdict.reasons.map(({ code, text }) => [code.replaceAll('_', ' '), printable(text)] as const),
      front: cell.on_front,
      tiers: cellTiers(cell).map(({ word, text }) => [word, text] as const),
      lines: accuracyLines(cell).map(printable),
      figures: columns.map(({ id }) => {
        const metric = cell.metrics[id];
        return (
          figureOf(metric, cells.length <= MOST_TITLES) ?? reasonAt(reasonText(metric.reason ?? 'not known'))
        );
      }),
    };
  });
  return {
    noun: 'cell',
    axes: [
      ...axes.map((axis) => ({ name: axis, title: axisTitles[axis] })),
      ...(several ? [{ name: 'run', title: 'Run' }] : []),
    ],
    columns: columns.map(({ id, title, unit, better }) => ({ id, title, unit, better })),
    shown: columns.filter(({ id }) => wanted.has(id)).map(({ id }) => id),
    reasons: [...reasons.keys()],
    rows,
    rows_at_first: ROWS_AT_FIRST,
  };
}
