import { pointAxes } from '@perwatt/core';
import type { MetricId } from '@perwatt/metrics';
import { fittedTable, type TableColumn } from './fitted-table.js';
import { formatMetric } from './format.js';
import { hasLoads } from './load-facts.js';
import type { CellResult, RunResults } from './results-types.js';

const metricColumn = (head: string, id: MetricId, leaves: number | null): TableColumn => ({
  head,
  align: 'right',
  leaves,
  text: (cell) => formatMetric(cell.metrics[id]),
});

/** Columns of loads, those left out in which no cell has a value. */
const figures: readonly (readonly [head: string, id: MetricId, leaves: number | null])[] = [
  ['offered/s', 'offered_per_s', null],
  ['sent/s', 'achieved_per_s', 3],
  ['goodput/s', 'goodput_per_s', null],
  ['good', 'good_fraction', 4],
  ['lag p50', 'lag_p50_ns', 1],
  ['lag p99', 'lag_p99_ns', 5],
  ['since due p50', 'e2e_from_schedule_p50_ns', 6],
  ['since due p99', 'e2e_from_schedule_p99_ns', 7],
  ['J/token', 'energy_per_output_token_j', 8],
  ['steady J/token', 'steady_energy_per_output_token_j', 9],
  ['J/query, idle in', 'energy_per_query_window_j', 2],
  ['idle share', 'idle_energy_ratio', 10],
];

function columnsOf({ cells }: RunResults): TableColumn[] {
  const varies = (axis: (typeof pointAxes)[number]) =>
    new Set(cells.map(({ point }) => point[axis])).size > 1;
  const axes = pointAxes.filter((axis) => axis === 'model' || axis === 'load' || varies(axis));
  return [
    ...axes.map(
      (axis): TableColumn => ({
        head: axis,
        align: 'left',
        leaves: null,
        text: (cell: CellResult) => (cell.point[axis] ?? '').replace(/[\p{Cc}\p{Cf}]/gu, ''),
      }),
    ),
    ...figures
      .filter(([, id]) => cells.some(({ metrics }) => metrics[id].value !== null))
      .map((own) => metricColumn(...own)),
  ];
}

/**
 * The table of loads for a terminal: rates, goodput, lag, latency since due, energy per token and idle time. Empty where the
 * run has one load, without a schedule and without limits.
 */
export function loadTable(results: RunResults, width: number): string[] {
  if (!hasLoads(results)) return [];
  const { lines, dropped } = fittedTable(columnsOf(results), results.cells, width);
  const left = dropped.length === 0 ? [] : [`not shown for want of room: ${dropped.join(', ')}`];
  return ['', ...lines, ...left];
}
