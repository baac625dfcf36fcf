import { PerwattError } from '@perwatt/core';
import { markNotes } from '../format.js';
import type { PartFigures } from './cell-parts.js';
import { axisValue, type ComparableFigure } from './comparable.js';
import { rangeText, valueText } from './figure-text.js';
import { type Grid, type GridValue, gridColumns, recordsCsv, withoutEmpty } from './grid.js';

/** One figure on a line of its own. */
export interface FigureLine {
  readonly entry: PartFigures;
  readonly figure: ComparableFigure;
}

export interface FigureQuery {
  readonly metrics: readonly string[];
  /** `axis=value`, all of which hold. */
  readonly where: readonly string[];
  /** A metric, or an axis; best first for metrics. Null keeps the order of the run. */
  readonly sort: string | null;
}

/** `axis=value` as a pair. Throws `USAGE` for what is none. */
export function parseWhere(text: string): readonly [axis: string, value: string] {
  const at = text.indexOf('=');
  if (at < 1) throw new PerwattError('USAGE', `--where ${text} is no axis=value`);
  return [text.slice(0, at), text.slice(at + 1)];
}

const valueOn = (entry: PartFigures, axis: string): string => {
  if (axis === 'part') return entry.part ?? '–';
  if (axis === 'verdict') return entry.cell.verdict.state;
  return axisValue(entry.cell, axis);
};

const orderOf = (metric: ComparableFigure | undefined): number => {
  if (metric?.value == null) return Number.POSITIVE_INFINITY;
  return metric.better === 'higher' ? -metric.value : metric.value;
};

function compareBy(sort: string): (a: PartFigures, b: PartFigures) => number {
  return (a, b) => {
    const difference = orderOf(a.figures[sort]) - orderOf(b.figures[sort]);
    if (!Number.isNaN(difference) && difference !== 0) return difference;
    const [left, right] = [valueOn(a, sort), valueOn(b, sort)];
    return left < right ? -1 : Number(left > right);
  };
}

/** The asked figures of the asked cells in the asked order. Throws `INPUT_INVALID` where nothing is left. */
export function figureLines(
  entries: readonly PartFigures[],
  { metrics, where, sort }: FigureQuery,
): FigureLine[] {
  const pairs = where.map(parseWhere);
  const kept = entries.filter((entry) => pairs.every(([axis, value]) => valueOn(entry, axis) === value));
  if (kept.length === 0 && entries.length > 0) {
    const [axis] = pairs[0] ?? ['model'];
    const values = [...new Set(entries.map((entry) => valueOn(entry, axis)))].slice(0, 20);
    throw new PerwattError(
      'INPUT_INVALID',
      `no cell with ${where.join(' and ')}; ${axis} has ${values.join(', ')}`,
    );
  }
  const ordered = sort === null ? kept : kept.toSorted(compareBy(sort));
  return ordered.flatMap((entry) =>
    metrics.flatMap((metric) => {
      const figure = entry.figures[metric];
      return figure === undefined ? [] : [{ entry, figure }];
    }),
  );
}

const states = { valid: '', flagged: 'flagged', invalid: 'invalid' } as const;

/** How a figure came about, in a word or two. */
const madeOf = ({ provenance, boundary, statistic }: ComparableFigure): string =>
  [provenance, boundary, statistic === 'mean' ? null : statistic].filter((part) => part !== null).join(' ');

const spreadText = ({ spread }: ComparableFigure): string => {
  if (spread === null || spread.sd_ratio === null) return '';
  return `${(100 * spread.sd_ratio).toFixed(1)} % ${spread.source === 'declared' ? 'declared' : `of ${spread.repeats}`}`;
};

/** Figures as a grid: a line each, with its interval, the sensor's bounds, the spread, and where it comes from. */
export function figuresGrid(lines: readonly FigureLine[], part: string): Grid {
  const axes = [...new Set(lines.flatMap(({ entry }) => Object.keys(entry.cell.axes)))];
  const varying = axes.filter((axis) => new Set(lines.map(({ entry }) => valueOn(entry, axis))).size > 1);
  const named = varying.length > 0 ? varying : axes.slice(0, 1);
  const rows = lines.map(({ entry, figure }) => [
    ...named.map((axis) => valueOn(entry, axis)),
    entry.part ?? '',
    figure.metric,
    `${valueText(figure)}${unitText(figure)}`,
    rangeText(figure),
    rangeText({ ...figure, lo: figure.sensor_lo, hi: figure.sensor_hi }),
    spreadText(figure),
    figure.n === null ? '' : String(figure.n),
    madeOf(figure),
    figure.value === null ? (figure.reason ?? '') : states[entry.cell.verdict.state],
  ]);
  const heads = [
    ...named,
    part,
    'figure',
    '>value',
    '>interval',
    '->sensors',
    '->spread',
    '->n',
    'power',
    'verdict',
  ];
  return withoutEmpty({ columns: gridColumns(heads), rows });
}

const unitText = ({ unit, value }: ComparableFigure): string =>
  value === null || unit === '1' || unit === 'ns' ? '' : ` ${unit}`;

const intervals: Readonly<Record<string, string>> = {
  wilson: '95 %, Wilson',
  item_bootstrap: '95 %, items drawn again',
  item_clustered: '95 %, clustered by item',
  order_statistics: '95 %, order statistics',
  repeats_t: "95 % over repeats and items, Student's t",
  repeats_and_sensor: "95 % over repeats and items, with the sensor's bounds",
  items_and_sensor: "95 % over items, with the sensor's bounds; between-run spread unknown",
  sensor_bounds: "the sensor's bounds alone; between-run spread unknown",
  published_range: 'the range of the source',
  published_spread: 'from the spread that the source gives',
};

/** What stands below a table of figures: what intervals are, what flags say, what figures note. */
export function figuresNotes(lines: readonly FigureLine[]): string[] {
  const used = [
    ...new Set(lines.flatMap(({ figure }) => (figure.interval === null ? [] : [figure.interval]))),
  ];
  const byInterval = used.map((interval) => {
    const metrics = new Set(
      lines.filter(({ figure }) => figure.interval === interval).map(({ figure }) => figure.metric),
    );
    return `interval of ${[...metrics].join(', ')}: ${intervals[interval] ?? interval}`;
  });
  const notes = new Set(
    lines.flatMap(({ figure }) => (figure.note === null ? [] : [`${figure.metric}: ${figure.note}`])),
  );
  const reasons = new Set(
    lines.flatMap(({ entry }) =>
      entry.cell.verdict.reasons.map(({ text }) => `${entry.cell.verdict.state}: ${text}`),
    ),
  );
  const marks = [
    lines.every(({ entry }) => entry.cell.verdict.state === 'valid') ? 'every cell here is valid' : null,
    ...markNotes(lines.map(({ figure }) => figure.provenance)),
    lines.some(({ figure }) => figure.bound === 'upper')
      ? '≤ an upper bound: the true value is at most this'
      : null,
    lines.some(({ figure }) => figure.provenance === 'published')
      ? 'published by others, not measured here'
      : null,
  ].filter((mark) => mark !== null);
  return [...byInterval, ...marks, ...capped([...notes]), ...capped([...reasons])];
}

const MOST = 10;
const capped = (lines: readonly string[]): string[] =>
  lines.length <= MOST
    ? [...lines]
    : [...lines.slice(0, MOST), `and ${lines.length - MOST} more; --format json has all`];

/** Figures as records for CSV and JSON: everything that is known of each. */
export const figureRecords = (lines: readonly FigureLine[], part: string): Record<string, GridValue>[] => {
  const axes = [...new Set(lines.flatMap(({ entry }) => Object.keys(entry.cell.axes)))];
  return lines.map(({ entry, figure }) => ({
    record: entry.cell.record,
    ...Object.fromEntries(axes.map((axis) => [axis, entry.cell.axes[axis] ?? null])),
    ...(part === 'cell' ? {} : { [part]: entry.part }),
    metric: figure.metric,
    unit: figure.unit,
    value: figure.value,
    lo: figure.lo,
    hi: figure.hi,
    interval: figure.interval,
    sampling_lo: figure.sampling_lo,
    sampling_hi: figure.sampling_hi,
    sensor_lo: figure.sensor_lo,
    sensor_hi: figure.sensor_hi,
    spread_sd: figure.spread?.sd ?? null,
    spread_source: figure.spread?.source ?? null,
    n: figure.n,
    provenance: figure.provenance,
    boundary: figure.boundary,
    statistic: figure.statistic,
    bound: figure.bound,
    verdict: entry.cell.verdict.state,
    verdict_reasons: entry.cell.verdict.reasons.map(({ code }) => code).join(' '),
    reason: figure.reason,
    note: figure.note,
  }));
};

/** Figures as CSV lines. */
export const figuresCsv = (lines: readonly FigureLine[], part: string): string[] =>
  recordsCsv(figureRecords(lines, part));
