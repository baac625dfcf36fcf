import { PerwattError } from '@perwatt/core';
import { type MetricId, type MetricValue, metrics } from '@perwatt/metrics';
import { modelColour } from '../colours.js';
import type { ComparableCell } from '../compare/comparable.js';
import { boundaryText } from '../compare/comparable-run.js';
import { compareFronts } from '../compare/compare-fronts.js';
import { formatMetric, unmeasured } from '../format.js';
import { byWorkload } from '../pareto-cells.js';
import type { CellResult, RunResults } from '../results-types.js';
import { pooledCells } from './pooled-cells.js';
import { type CellNamer, cellAddress, cellNamer, runIds, type Site } from './site-model.js';
import { cellName, plain, shownAxes } from './site-parts.js';

/** `[value, lo, hi, text]`, and `unranked` after it for what its source allows no order of; null where the cell has none. */
export type PointFigure =
  | readonly [v: number, lo: number | null, hi: number | null, text: string, unranked?: 'unranked']
  | null;

/** One mark of the trade-off. */
export interface ParetoPointData {
  readonly id: string;
  readonly name: string;
  /** Empty for means over data sets, which have no page. */
  readonly href: string;
  readonly model: string;
  /** Number of its group: only points of one group share a front. */
  readonly group: number;
  readonly short: string;
  readonly verdict: CellResult['verdict']['state'];
  /** `estimated`, `simulated`, `published`, or empty: then its mark is filled. */
  readonly tier: string;
  readonly figures: readonly PointFigure[];
}

/** What the trade-off can be drawn from. */
export interface ParetoData {
  /** What a mark is. */
  readonly noun: 'cell' | 'record';
  readonly columns: readonly {
    readonly id: string;
    readonly title: string;
    readonly unit: string;
    readonly better: string;
  }[];
  readonly models: readonly { readonly name: string; readonly colour: string }[];
  /** What the points of each group have in common; `pooled` for means over data sets. */
  readonly groups: readonly { readonly name: string; readonly pooled: boolean }[];
  readonly points: readonly ParetoPointData[];
  /** Share of bootstrap draws in which a point stands on the front, by `x|y` and point. */
  readonly shares: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

const shortened = (value: number): number => Number(value.toPrecision(6));

const pointFigure = (metric: MetricValue): PointFigure =>
  metric.value === null
    ? null
    : [
        shortened(metric.value),
        metric.lo === null ? null : shortened(metric.lo),
        metric.hi === null ? null : shortened(metric.hi),
        formatMetric(metric),
      ];

/** Trade-offs whose fronts are drawn again and again; in the others a front has the intervals of its points. */
const drawnPairs = ['energy_per_query_j', 'sequential_tokens'] as const;

function sharesOf(comparables: readonly ComparableCell[]): ParetoData['shares'] {
  const known = comparables.some(({ contributions }) => contributions !== null);
  if (!known) return {};
  return Object.fromEntries(
    drawnPairs.flatMap((metric) => {
      try {
        const fronts = compareFronts(comparables, { metrics: ['accuracy', metric] });
        const shares = fronts.flatMap(({ points }) =>
          points.flatMap(({ record, share }) => (share === null ? [] : [[record, share] as const])),
        );
        return shares.length === 0 ? [] : [[`${metric}|accuracy`, Object.fromEntries(shares)]];
      } catch (error) {
        if (error instanceof PerwattError && error.code === 'INPUT_INVALID') return [];
        throw error;
      }
    }),
  );
}

function groupName(cells: readonly CellResult[]): string {
  const [first] = cells;
  if (first === undefined) return '';
  const boundary = boundaryText(first.energy);
  const tier = first.energy.boundary?.provenance;
  return `${plain(first.point.dataset)} (${boundary === null || tier === undefined ? 'no energy' : `${tier}, ${boundary}`})`;
}

/** Groups whose data sets are told by name alone where that is enough. */
function groupNames(groups: readonly (readonly CellResult[])[]): string[] {
  const datasets = groups.map(([first]) => plain(first?.point.dataset ?? ''));
  const isUnique = new Set(datasets).size === datasets.length;
  return groups.map((cells, i) => (isUnique ? (datasets[i] ?? '') : groupName(cells)));
}

const pointsOf = (
  { merged, nameOf }: { readonly merged: RunResults; readonly nameOf: CellNamer },
  ids: readonly MetricId[],
  {
    cells,
    group,
    pooled,
  }: { readonly cells: readonly CellResult[]; readonly group: number; readonly pooled: boolean },
): ParetoPointData[] => {
  const axes = shownAxes(merged.cells);
  const short = axes.filter((axis) => axis !== 'model' && axis !== 'dataset');
  return cells.map((cell) => ({
    id: cell.cell_id,
    name: plain(nameOf(cell, pooled ? axes.filter((axis) => axis !== 'dataset') : axes)),
    href: pooled ? '' : cellAddress(cell.cell_id),
    model: cell.point.model,
    group,
    short: plain(cellName(cell, short)),
    verdict: cell.verdict.state,
    tier: unmeasured(cell.energy.boundary?.provenance ?? null) ?? '',
    figures: ids.map((id) => pointFigure(cell.metrics[id])),
  }));
};

/** All trade-offs of a site: every metric that two cells have, per data set and as means over data sets. */
export function paretoData(site: Site, comparables: readonly ComparableCell[]): ParetoData {
  const { merged } = site;
  const { cells, models } = merged;
  const named = { merged, nameOf: cellNamer(site) };
  const columns = metrics.filter(({ id }) => cells.some((cell) => cell.metrics[id].value !== null));
  const ids = columns.map(({ id }) => id);
  const groups = byWorkload(cells);
  const pooled = pooledCells(merged, runIds(site));
  return {
    noun: 'cell',
    columns: columns.map(({ id, title, unit, better }) => ({ id, title, unit, better })),
    models: models.map((name) => ({ name, colour: modelColour(models, name) })),
    groups: [
      ...groupNames(groups).map((name) => ({ name, pooled: false })),
      ...pooled.map(({ name }) => ({ name, pooled: true })),
    ],
    points: [
      ...groups.flatMap((own, group) => pointsOf(named, ids, { cells: own, group, pooled: false })),
      ...pooled.flatMap((own, i) =>
        pointsOf(named, ids, { cells: own.cells, group: groups.length + i, pooled: true }),
      ),
    ],
    shares: sharesOf(comparables),
  };
}
