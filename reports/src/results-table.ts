import { type PointAxis, pointAxes } from '@perwatt/core';
import type { MetricId } from '@perwatt/metrics';
import { formatMetric, markNotes } from './format.js';
import type { CellResult, RunResults } from './results-types.js';

interface TableColumn {
  readonly head: string;
  readonly align: 'left' | 'right';
  /** Order in which columns leave a narrow terminal; null stays. */
  readonly leaves: number | null;
  readonly text: (cell: CellResult) => string;
}

const metricColumn = (head: string, id: MetricId, leaves: number | null = null): TableColumn => ({
  head,
  align: 'right',
  leaves,
  text: (cell) => formatMetric(cell.metrics[id]),
});

const axisColumn = (axis: PointAxis): TableColumn => ({
  head: axis,
  align: 'left',
  leaves: null,
  text: (cell) => printable(cell.point[axis] ?? ''),
});

/** Text with control characters and direction marks taken out, so that a name cannot rewrite a terminal. */
const printable = (text: string): string => text.replace(/[\p{Cc}\p{Cf}]/gu, '');

/** Columns of the result table: model, data set and strategy always, other axes where they vary. */
function columnsOf({ cells }: RunResults): TableColumn[] {
  const varies = (axis: PointAxis) => new Set(cells.map(({ point }) => point[axis])).size > 1;
  const always: readonly PointAxis[] = ['model', 'dataset', 'strategy'];
  return [
    ...pointAxes.filter((axis) => always.includes(axis) || varies(axis)).map(axisColumn),
    metricColumn('accuracy', 'accuracy'),
    metricColumn('W', 'power_w', 4),
    metricColumn('J/query', 'energy_per_query_j'),
    metricColumn('IPW 1/W', 'ipw_per_w', 3),
    metricColumn('IPJ 1/J', 'ipj_per_j', 5),
    metricColumn('tok/s', 'tokens_per_s', 2),
    metricColumn('TTFT', 'ttft_any_p50_ns', 1),
    { head: 'verdict', align: 'left', leaves: null, text: verdictText },
  ];
}

const GAP = '  ';
/** Shortest that names become while columns can still leave, and after. */
const SHORT = 14;
const SHORTEST = 6;
const widthOf = (lengths: readonly number[]): number =>
  lengths.reduce((sum, length) => sum + length, 0) + GAP.length * Math.max(lengths.length - 1, 0);

interface Laid {
  readonly columns: readonly TableColumn[];
  readonly lengths: readonly number[];
  readonly dropped: readonly string[];
}

const lengthsOf = (columns: readonly TableColumn[], cells: readonly CellResult[]): number[] =>
  columns.map((column) =>
    Math.max(column.head.length, ...cells.map((cell) => [...column.text(cell)].length)),
  );

/** Takes from the widest names what is too much, one sign at a time, never below `shortest`. */
function squeezed({ columns, lengths, dropped }: Laid, width: number, shortest: number): Laid {
  const narrow = [...lengths];
  while (widthOf(narrow) > width) {
    const widest = narrow.reduce<number>((best, length, i) => {
      const shrinks = columns[i]?.align === 'left' && columns[i]?.head !== 'verdict' && length > shortest;
      return shrinks && length > (narrow[best] ?? 0) ? i : best;
    }, -1);
    if (widest < 0) break;
    narrow[widest] = (narrow[widest] ?? 0) - 1;
  }
  return { columns, lengths: narrow, dropped };
}

/** Columns that fit: names are shortened first, then columns leave in their order. */
function fitted(laid: Laid, cells: readonly CellResult[], width: number): Laid {
  const leaving = laid.columns
    .filter(({ leaves }) => leaves !== null)
    .sort((a, b) => (a.leaves ?? 0) - (b.leaves ?? 0))[0];
  const tight = squeezed(laid, width, leaving === undefined ? SHORTEST : SHORT);
  if (widthOf(tight.lengths) <= width || leaving === undefined) return tight;
  const columns = laid.columns.filter((column) => column !== leaving);
  const dropped = [...laid.dropped, leaving.head];
  return fitted({ columns, lengths: lengthsOf(columns, cells), dropped }, cells, width);
}

function padded(text: string, length: number, align: 'left' | 'right'): string {
  const signs = [...text];
  const short = signs.length > length ? `${signs.slice(0, length - 1).join('')}…` : text;
  const fill = ' '.repeat(Math.max(length - [...short].length, 0));
  return align === 'left' ? `${short}${fill}` : `${fill}${short}`;
}

function notesOf({ cells }: RunResults, dropped: readonly string[]): string[] {
  const tiers = cells.map((cell) => cell.metrics.energy_per_query_j.provenance);
  const spread = cells.some((cell) => cell.metrics.energy_per_query_j.interval === 'sensor_bounds');
  const notes = [
    ...markNotes(tiers),
    'accuracy with its 95 % interval; W, J, IPW and IPJ gross, over the busy time',
    spread ? 'between-run spread of energy unknown (fewer than 3 repeats)' : null,
    dropped.length > 0 ? `not shown for want of room: ${dropped.join(', ')}` : null,
  ];
  return notes.filter((note) => note !== null);
}

/**
 * The result table for a terminal of `width` columns: plain aligned text, a legend below, no trailing blanks. On a
 * narrow terminal names are cut with `…`, then the less important columns are left out and named.
 */
export function resultsTable(results: RunResults, width: number): string {
  const { cells } = results;
  if (cells.length === 0) return 'no cells';
  const all = columnsOf(results);
  const { columns, lengths, dropped } = fitted(
    { columns: all, lengths: lengthsOf(all, cells), dropped: [] },
    cells,
    width,
  );
  const line = (texts: readonly string[]) =>
    texts
      .map((text, i) => padded(text, lengths[i] ?? 0, columns[i]?.align ?? 'left'))
      .join(GAP)
      .trimEnd();
  const rows = cells.map((cell) => line(columns.map((column) => column.text(cell))));
  return [line(columns.map(({ head }) => head)), ...rows, '', ...notesOf(results, dropped)].join('\n');
}

/** A cell that was never finished has figures of its own kind: none. */
function verdictText({ verdict: { state, reasons } }: CellResult): string {
  return reasons.find(({ code }) => code === 'unfinished' || code === 'failed')?.code ?? state;
}
