import { PerwattError } from '@perwatt/core';
import {
  FEWEST_REPEATS,
  frontShares,
  hypervolume,
  type Metric,
  type MetricPoint,
  metricFront,
  type ParetoAxis,
} from '@perwatt/metrics';
import { type ComparableCell, shortLabel, varyingAxes } from './comparable.js';
import { drawCells } from './draws.js';
import { contextOf } from './mixed.js';

/** One point of a trade-off. */
export interface FrontPoint {
  readonly cell: string;
  readonly record: string;
  readonly values: Readonly<Record<string, number | null>>;
  /** Whether no other point beats it; null where it has no place, with `reason`. */
  readonly on_front: boolean | null;
  /** Share of bootstrap draws in which it stands on the front, 0…1; null where nothing tells how its figures spread. */
  readonly share: number | null;
  readonly beaten_by: readonly string[];
  readonly reason: string | null;
  /** Whether its cell is flagged. */
  readonly flagged: boolean;
}

/** The front of cells that may be compared. */
export interface CellFront {
  /** What all its points have in common. */
  readonly context: string;
  readonly axes: readonly ParetoAxis[];
  readonly units: Readonly<Record<string, string>>;
  readonly points: readonly FrontPoint[];
  /** Volume between the front and the reference point, in the product of the axes' units; null without points. */
  readonly hypervolume: number | null;
  readonly reference: Readonly<Record<string, number>>;
  /** `given`, or how it was chosen. */
  readonly reference_source: 'given' | 'worst_of_points';
  readonly mixed: boolean;
  /** Whether too few repeats leave the spread between runs out of the shares. */
  readonly spread_unknown: boolean;
}

export interface FrontOptions {
  /** Two or three metrics. */
  readonly metrics: readonly string[];
  /** One value a metric. Default: the worst of the points; 0 for accuracy. */
  readonly reference?: readonly number[];
  /** Puts all cells on one front, whatever parts them. */
  readonly allow_mixed?: boolean;
}

const directionOf = (cells: readonly ComparableCell[], metric: string): Metric['better'] | undefined =>
  cells.map(({ figures }) => figures[metric]?.better).find((better) => better !== undefined);

/** The axes of a front. Power counts as better when lower. Throws `INPUT_INVALID` for other than two or three. */
function axesFor(cells: readonly ComparableCell[], metrics: readonly string[]): ParetoAxis[] {
  if (metrics.length < 2 || metrics.length > 3 || new Set(metrics).size < metrics.length)
    throw new PerwattError(
      'INPUT_INVALID',
      `a front of ${metrics.join(', ') || 'nothing'}: give two or three metrics`,
    );
  return metrics.map((metric) => {
    const better = directionOf(cells, metric);
    if (better === undefined) throw new PerwattError('INPUT_INVALID', `no figure "${metric}" in these runs`);
    return { metric, better: better === 'higher' ? 'higher' : 'lower' };
  });
}

function referenceOf(
  points: readonly MetricPoint[],
  axes: readonly ParetoAxis[],
  given: readonly number[] | undefined,
): Record<string, number> | null {
  if (given !== undefined && given.length !== axes.length)
    throw new PerwattError('INPUT_INVALID', `a reference of ${given.length} numbers for ${axes.length} axes`);
  const entries = axes.map(({ metric, better }, i): [string, number] => {
    const own = given?.[i];
    if (own !== undefined) return [metric, own];
    if (metric === 'accuracy') return [metric, 0];
    const values = points.map(({ values }) => values[metric] ?? Number.NaN).filter(Number.isFinite);
    return [metric, better === 'higher' ? Math.min(...values) : Math.max(...values)];
  });
  return entries.every(([, value]) => Number.isFinite(value)) ? Object.fromEntries(entries) : null;
}

/** `not to be ranked` in place of `no …` for a figure that is there. */
function reasonOf(cell: ComparableCell | undefined, names: readonly string[], reason: string): string {
  const unranked = names.filter((name) => cell?.figures[name]?.rankable === false);
  return unranked.length === 0 ? reason : `${unranked.join(', ')} not to be ranked`;
}

/** The value of a figure that may be ordered. */
function rankedValue({ figures }: ComparableCell, name: string): number | null {
  const figure = figures[name];
  return figure?.rankable === true ? figure.value : null;
}

function frontOf(
  cells: readonly ComparableCell[],
  context: string,
  axes: readonly ParetoAxis[],
  options: FrontOptions,
): CellFront {
  const names = axes.map(({ metric }) => metric);
  const points = cells.map(
    (cell): MetricPoint => ({
      id: cell.record,
      values: Object.fromEntries(names.map((name) => [name, rankedValue(cell, name)])),
    }),
  );
  const { front, beaten, left_out } = metricFront(points, axes);
  const placed = cells.filter(({ record }) => !left_out.some(({ id }) => id === record));
  const draws = drawCells(placed, names);
  const drawn = placed.map(({ record }) => ({ id: record, draws: draws.get(record) ?? {} }));
  const spread = drawn.every(({ draws: own }) => names.every((name) => (own[name]?.length ?? 0) > 0));
  const shares = new Map(spread ? frontShares(drawn, axes).map(({ id, share }) => [id, share] as const) : []);
  const varying = varyingAxes(cells);
  const labels = new Map(cells.map((cell) => [cell.record, shortLabel(cell, varying) || cell.record]));
  const reference = referenceOf(points, axes, options.reference);
  return {
    context,
    axes,
    units: Object.fromEntries(
      names.map((name) => [name, cells.find(({ figures }) => figures[name])?.figures[name]?.unit ?? '']),
    ),
    points: points.map(({ id, values }, i) => {
      const reason = left_out.find((left) => left.id === id)?.reason ?? null;
      return {
        cell: labels.get(id) ?? id,
        record: id,
        values,
        on_front: reason === null ? front.includes(id) : null,
        share: shares.get(id) ?? null,
        beaten_by: (beaten.find((point) => point.id === id)?.by ?? []).map((by) => labels.get(by) ?? by),
        reason: reason === null ? null : reasonOf(cells[i], names, reason),
        flagged: cells[i]?.verdict.state === 'flagged',
      };
    }),
    hypervolume: reference === null || placed.length === 0 ? null : hypervolume(points, axes, reference),
    reference: reference ?? {},
    reference_source: options.reference === undefined ? 'worst_of_points' : 'given',
    spread_unknown: placed.some(
      (cell) =>
        cell.tier === 'measured' &&
        (cell.repeats ?? 0) < FEWEST_REPEATS &&
        names.some((name) => cell.figures[name]?.provenance !== null),
    ),
    mixed: options.allow_mixed === true && new Set(cells.map((cell) => contextOf(cell, names))).size > 1,
  };
}

/**
 * The Pareto front over two or three metrics of cells that share workload, boundary and provenance: one front for each
 * such group. Invalid cells are out. A share on the front is told where every point's figures have a
 * spread. Throws `INPUT_INVALID` for unknown metrics and wrong numbers of axes.
 */
export function compareFronts(cells: readonly ComparableCell[], options: FrontOptions): CellFront[] {
  const axes = axesFor(cells, options.metrics);
  const valid = cells.filter(
    ({ verdict, figures }) =>
      verdict.state !== 'invalid' && options.metrics.some((metric) => figures[metric] !== undefined),
  );
  const groups = new Map<string, ComparableCell[]>();
  for (const cell of valid) {
    const context = options.allow_mixed === true ? 'mixed' : contextOf(cell, options.metrics);
    groups.set(context, [...(groups.get(context) ?? []), cell]);
  }
  return [...groups].map(([context, group]) => frontOf(group, context, axes, options));
}
