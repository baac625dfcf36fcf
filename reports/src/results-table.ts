import { type PointAxis, pointAxes } from '@perwatt/core';
import type { MetricId } from '@perwatt/metrics';
import { fittedTable, type TableColumn } from './fitted-table.js';
import { formatMetric, markNotes } from './format.js';
import { loadTable } from './load-table.js';
import type { CellResult, RunResults } from './results-types.js';

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
  const { lines, dropped } = fittedTable(all, cells, width);
  return [...lines, '', ...notesOf(results, dropped), ...loadTable(results, width)].join('\n');
}

/** A cell that was never finished has figures of its own kind: none. */
function verdictText({ verdict: { state, reasons } }: CellResult): string {
  return reasons.find(({ code }) => code === 'unfinished' || code === 'failed')?.code ?? state;
}
