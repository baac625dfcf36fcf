import { type PointAxis, pointAxes } from '@perwatt/core';
import type { MetricId } from '@perwatt/metrics';
import { type Grid, gridColumns } from '../compare/grid.js';
import { formatMetric, formatNumber, markNotes, meaningfulDigits } from '../format.js';
import type { CellResult, RunResults } from '../results-types.js';

const figures: readonly { readonly head: string; readonly id: MetricId }[] = [
  { head: 'accuracy (95 %)', id: 'accuracy' },
  { head: 'power (W)', id: 'power_w' },
  { head: 'energy per query (J)', id: 'energy_per_query_j' },
  { head: 'IPW (1/W)', id: 'ipw_per_w' },
  { head: 'IPJ (1/J)', id: 'ipj_per_j' },
  { head: 'tokens per second', id: 'tokens_per_s' },
  { head: 'TTFT, median', id: 'ttft_any_p50_ns' },
];

const axisTexts: Readonly<Record<PointAxis, string>> = {
  model: 'model',
  accelerator: 'accelerator',
  dataset: 'data set',
  strategy: 'strategy',
  load: 'load',
  variant: 'variant',
};

/** A figure with its bounds behind it, as a table for readers has it. */
function withBounds({ metrics }: CellResult, id: MetricId): string {
  const metric = metrics[id];
  const text = formatMetric(metric);
  const { value, lo, hi, unit } = metric;
  if (value === null || lo === null || hi === null || unit === '1' || unit === 'ns') return text;
  const digits = meaningfulDigits(metric);
  return `${text} [${formatNumber(lo, digits)}, ${formatNumber(hi, digits)}]`;
}

/** The result table of publications: a line a cell, every figure with its bounds, where its joules are from, its verdict. */
export function publicationGrid(runs: readonly RunResults[]): Grid {
  const cells = runs.flatMap((run) => run.cells.map((cell) => ({ run, cell })));
  const varies = (axis: PointAxis) => new Set(cells.map(({ cell }) => cell.point[axis])).size > 1;
  const always: readonly PointAxis[] = ['model', 'accelerator', 'dataset', 'strategy'];
  const axes = pointAxes.filter((axis) => always.includes(axis) || varies(axis));
  const several = runs.length > 1;
  return {
    columns: gridColumns([
      ...(several ? ['run'] : []),
      ...axes.map((axis) => axisTexts[axis]),
      ...figures.map(({ head }) => `>${head}`),
      'joules are',
      'verdict',
    ]),
    rows: cells.map(({ run, cell }) => [
      ...(several ? [run.run_id] : []),
      ...axes.map((axis) => cell.point[axis] ?? ''),
      ...figures.map(({ id }) => withBounds(cell, id)),
      cell.energy.boundary?.provenance ?? '–',
      [cell.verdict.state, ...cell.verdict.reasons.map(({ code }) => code)].join(' '),
    ]),
  };
}

/** What stands below the table, one line each. */
export function publicationNotes(runs: readonly RunResults[]): string[] {
  const tiers = runs.flatMap(({ cells }) =>
    cells.map(({ metrics }) => metrics.energy_per_query_j.provenance),
  );
  const unknown = runs.some(({ cells }) =>
    cells.some(({ metrics }) => metrics.energy_per_query_j.interval === 'sensor_bounds'),
  );
  return [
    ...markNotes(tiers),
    'Power, energy, IPW and IPJ are gross, over the time with calls in flight. Accuracy has its 95 % interval.',
    unknown
      ? 'Bounds of energy of fewer than three repeats are those of the sensor alone: the spread between runs is not known.'
      : 'Bounds of energy are 95 % intervals over repeats and items.',
  ];
}
