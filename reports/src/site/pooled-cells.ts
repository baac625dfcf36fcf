import { pointAxes } from '@perwatt/core';
import { type MetricId, type MetricValue, metrics } from '@perwatt/metrics';
import type { CellResult, RunResults } from '../results-types.js';

/** Configurations over several data sets, one group for each tier and boundary of their energy. */
export interface PooledCells {
  readonly name: string;
  /** Cells that stand for means over data sets; their ids are no pages. */
  readonly cells: readonly CellResult[];
}

const rest = pointAxes.filter((axis) => axis !== 'dataset');

/** The run of a cell, by the cell's id: the same point in two runs is two configurations. */
type RunOf = (cell_id: string) => string;

const configurationOf = ({ cell_id, point }: CellResult, runOf: RunOf): string =>
  JSON.stringify([runOf(cell_id), ...rest.map((axis) => point[axis] ?? null)]);

const boundaryOf = ({ energy: { boundary } }: CellResult): string =>
  JSON.stringify([
    boundary?.provenance ?? null,
    [...new Set(boundary?.domains.map(({ scope }) => scope))].sort(),
  ]);

function grouped(cells: readonly CellResult[], keyOf: (cell: CellResult) => string): CellResult[][] {
  const groups = new Map<string, CellResult[]>();
  for (const cell of cells) groups.set(keyOf(cell), [...(groups.get(keyOf(cell)) ?? []), cell]);
  return [...groups.values()];
}

/** Half of an interval on one side of its value; null without one. */
const halfOf = (value: number | null, bound: number | null): number | null =>
  value === null || bound === null ? null : Math.abs(bound - value);

/** Half-width of a mean of values that vary by themselves; null where one has no interval. */
function halfOfMean(halves: readonly (number | null)[]): number | null {
  let squares = 0;
  for (const half of halves) {
    if (half === null) return null;
    squares += half * half;
  }
  return Math.sqrt(squares) / halves.length;
}

/** The plain mean over data sets; null where one of them has no value. */
function meanFigure(figures: readonly MetricValue[]): MetricValue | null {
  const [first] = figures;
  const values = figures.flatMap(({ value }) => (value === null ? [] : [value]));
  if (first === undefined || values.length < figures.length) return null;
  const value = values.reduce((sum, own) => sum + own, 0) / values.length;
  const [below, above] = [
    halfOfMean(figures.map((own) => halfOf(own.value, own.lo))),
    halfOfMean(figures.map((own) => halfOf(own.value, own.hi))),
  ];
  const known = below !== null && above !== null;
  return {
    ...first,
    value,
    lo: known ? value - below : null,
    hi: known ? value + above : null,
    interval: null,
    sampling_lo: null,
    sampling_hi: null,
    sensor_lo: null,
    sensor_hi: null,
    spread: null,
    n: figures.reduce((sum, { n }) => sum + n, 0),
  };
}

const ranks = { valid: 0, flagged: 1, invalid: 2 } as const;

function pooled(cells: readonly CellResult[], runOf: RunOf): CellResult[] {
  const [first] = cells;
  if (first === undefined) return [];
  const figures = metrics.map(({ id }): [MetricId, MetricValue] => [
    id,
    meanFigure(cells.map((cell) => cell.metrics[id])) ?? {
      ...first.metrics[id],
      value: null,
      lo: null,
      hi: null,
      reason: 'not every data set has it',
    },
  ]);
  const worst = cells.reduce((a, b) => (ranks[a.verdict.state] >= ranks[b.verdict.state] ? a : b));
  return [
    {
      ...first,
      cell_id: `mean ${configurationOf(first, runOf)}`,
      point: { ...first.point, dataset: 'mean' },
      metrics: Object.fromEntries(figures) as CellResult['metrics'],
      verdict: worst.verdict,
    },
  ];
}

/**
 * Every configuration that has one cell of each data set of its tier and boundary, as the plain mean over those data sets:
 * each counts the same, however many items it has. Half-widths add in squares, as of data sets that vary by themselves.
 */
export function pooledCells({ cells }: Pick<RunResults, 'cells'>, runOf: RunOf): PooledCells[] {
  return grouped(cells, boundaryOf).flatMap((alike): PooledCells[] => {
    const datasets = new Set(alike.map(({ point }) => point.dataset));
    if (datasets.size < 2) return [];
    const whole = grouped(alike, (cell) => configurationOf(cell, runOf)).filter(
      (own) =>
        own.length === datasets.size && new Set(own.map(({ point }) => point.dataset)).size === own.length,
    );
    const means = whole.flatMap((own) => pooled(own, runOf));
    return means.length === 0 ? [] : [{ name: `mean over ${datasets.size} data sets`, cells: means }];
  });
}
