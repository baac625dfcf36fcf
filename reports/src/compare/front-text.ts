import { type Factor, type PublishedFigure, SPREAD_UNKNOWN } from '@perwatt/metrics';
import { formatNumber, formatPercent } from '../format.js';
import type { CellFront, FrontPoint } from './compare-fronts.js';
import type { YearComparison, YearSplit } from './compare-years.js';
import { valueText } from './figure-text.js';
import { type Grid, type GridValue, gridColumns, gridMarkdown, recordsCsv, withoutEmpty } from './grid.js';

/** A grid with lines above and below it. */
export interface TextBlock {
  readonly head: readonly string[];
  readonly grid: Grid;
  readonly notes: readonly string[];
}

const names = ({ axes }: CellFront): string[] => axes.map(({ metric }) => metric);

/** Points that a table shows beside those on the front. */
const MOST_POINTS = 30;

function placeText({ on_front, reason }: FrontPoint): string {
  if (on_front === null) return `left out: ${reason}`;
  return on_front ? 'on the front' : '';
}

function beatenText({ beaten_by: [first, ...more] }: FrontPoint): string {
  if (first === undefined) return '';
  return more.length > 0 ? `${first} and ${more.length} more` : first;
}

/** A front as a table, points on it first. */
export function frontBlock(front: CellFront): TextBlock {
  const rank = { true: 0, false: 1, null: 2 };
  const points = front.points.toSorted((a, b) => rank[`${a.on_front}`] - rank[`${b.on_front}`]);
  const shown = points.filter(({ on_front }, i) => on_front === true || i < MOST_POINTS);
  const rows = shown.map((point) => [
    `${point.cell}${point.flagged ? ' *' : ''}`,
    ...names(front).map((name) =>
      valueText({ unit: front.units[name] ?? '', value: point.values[name] ?? null, lo: null, hi: null }),
    ),
    placeText(point),
    point.share === null ? '' : formatPercent(point.share),
    beatenText(point),
  ]);
  const heads = ['cell', ...names(front).map((name) => `>${name}`), 'front', '>in draws', '-beaten by'];
  const directions = front.axes
    .map(({ metric, better }) => `${metric} (${better} is better)`)
    .join(' against ');
  const reference = Object.entries(front.reference).map(
    ([metric, value]) => `${metric} ${formatNumber(value)}`,
  );
  const volume = front.hypervolume === null ? null : formatNumber(front.hypervolume);
  const hidden = points.length - shown.length;
  const unsure = front.points.some(({ on_front, share }) => on_front !== null && share === null);
  const notes = [
    hidden > 0 ? `${hidden} more points off the front; --format csv has all` : null,
    volume === null
      ? null
      : `hypervolume ${volume} up to the reference point ${reference.join(', ')} (${front.reference_source === 'given' ? 'as given' : 'the worst of the points, 0 for accuracy'})`,
    unsure ? 'how sure a place on the front is can not be told: a point has no spread' : null,
    front.spread_unknown
      ? `${SPREAD_UNKNOWN}: the shares are over items alone; set \`repeats: 3\` in the matrix`
      : null,
    front.mixed
      ? '! cells of different boundary, provenance or workload stand on one front by request'
      : null,
  ].filter((note) => note !== null);
  const head = [`front of ${directions}${front.context === '' ? '' : `: ${front.context}`}`];
  return { head, grid: withoutEmpty({ columns: gridColumns(heads), rows }), notes };
}

/** Fronts as CSV, a line a point. */
export const frontsCsv = (fronts: readonly CellFront[]): string[] =>
  recordsCsv(
    fronts.flatMap((front) =>
      front.points.map(
        ({ cell, record, values, on_front, share, reason }): Record<string, GridValue> => ({
          context: front.context,
          cell,
          record,
          ...Object.fromEntries(names(front).map((name) => [name, values[name] ?? null])),
          on_front,
          share,
          reason,
          mixed: front.mixed,
        }),
      ),
    ),
  );

const factorText = ({ value, lo, hi, reason }: Factor): string => {
  if (value === null) return `– (${reason ?? 'not known'})`;
  const interval =
    lo === null || hi === null
      ? ` (${reason ?? 'no interval'})`
      : ` [${formatNumber(lo)}, ${formatNumber(hi)}]`;
  return `×${formatNumber(value)}${interval}`;
};

/** What a split says, line by line. */
function splitBlock({ context, pair, years, split }: YearSplit): TextBlock {
  const rows = [
    ['gain', factorText(split.gain), ''],
    ['model first', factorText(split.model_first.model), factorText(split.model_first.hardware)],
    ['hardware first', factorText(split.hardware_first.model), factorText(split.hardware_first.hardware)],
    ['geometric mean', factorText(split.mean.model), factorText(split.mean.hardware)],
    ['interaction', factorText(split.interaction), ''],
  ];
  const [older, newer] = [0, 1].map((i) => `${pair.model[i]} on ${pair.accelerator[i]}`);
  const span = `models ${years.model.join(' → ')}, accelerators ${years.accelerator.join(' → ')}`;
  return {
    head: [`from ${older} to ${newer} (${span}): ${context}`],
    grid: { columns: gridColumns(['', 'model, or all', 'hardware']), rows },
    notes: [],
  };
}

const publishedValue = ({ value, unit, relation }: PublishedFigure): string => {
  const text = typeof value === 'number' ? String(value) : `${value[0]}–${value[1]}`;
  const about = { about: '≈ ', at_least: '≥ ', at_most: '≤ ', more_than: '> ' }[relation as string] ?? '';
  return `${about}${text}${unit === '1' || unit === 'count' ? '' : ` ${unit}`}`;
};

const MOST_LEFT = 10;

/** A metric by year: the table, a split for each context, and apart from them what the paper published. */
export function yearBlocks({ metric, inverted, table, splits, published }: YearComparison): TextBlock[] {
  const name = inverted ? `1 / ${metric}` : metric;
  const rows = table.entries.map(({ model_year, accelerator_year, context, cells, best, mean }) => [
    String(model_year),
    String(accelerator_year),
    formatNumber(best.value),
    `${best.model} on ${best.accelerator}`,
    formatNumber(mean),
    String(cells),
    context,
  ]);
  const heads = ['>model year', '>accelerator year', '>best', 'cell', '->mean', '->cells', 'what they share'];
  const left = new Map<string, number>();
  for (const { model, accelerator, reason } of table.left_out) {
    const what = reason.includes('accelerator') ? accelerator : model;
    left.set(`${what}: ${reason}`, (left.get(`${what}: ${reason}`) ?? 0) + 1);
  }
  const notes = [
    ...(rows.length === 0 ? ['no cell whose years are both known'] : []),
    ...[...left].slice(0, MOST_LEFT).map(([text, n]) => `left out: ${text}${n > 1 ? ` (${n} cells)` : ''}`),
    ...(left.size > MOST_LEFT ? [`and ${left.size - MOST_LEFT} more; --format json has all`] : []),
  ];
  const figures = published.figures.map((figure) => [
    figure.quantity,
    publishedValue(figure),
    figure.year === null ? '' : String(figure.year),
    figure.where,
    figure.trust,
    figure.note ?? '',
  ]);
  return [
    { head: [`${name} by year of release`], grid: { columns: gridColumns(heads), rows }, notes },
    ...splits.map(splitBlock),
    {
      head: [
        `published by others, not measured here: ${published.paper.title} (arXiv ${published.paper.arxiv})`,
      ],
      grid: withoutEmpty({
        columns: gridColumns(['quantity', '>value', 'year', 'where', 'trust', '-note']),
        rows: figures,
      }),
      notes: [`not found there: ${published.not_found.join('; ')}`],
    },
  ];
}

/** Blocks in Markdown. */
export const blocksMarkdown = (blocks: readonly TextBlock[]): string[] =>
  blocks.flatMap(({ head, grid, notes }) => [
    ...head.map((line) => `**${line}**`),
    '',
    ...gridMarkdown(grid),
    '',
    ...notes.map((note) => `- ${note}`),
    ...(notes.length > 0 ? [''] : []),
  ]);
