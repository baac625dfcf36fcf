import { PerwattError } from '@perwatt/core';
import { axisValue, type ComparableCell, type ComparableFigure, cellLabel } from './comparable.js';
import type { CellPair } from './match-cells.js';

/** Something that two figures must have in common to be compared, and have not. */
export interface Mixed {
  readonly what: 'boundary' | 'provenance' | 'workload' | 'statistic';
  /** `gpu and wall` */
  readonly text: string;
}

/** Axes that say what was worked on: cells that differ in one did other work. */
const workloadAxes = ['dataset', 'item'];

const mixed = (what: Mixed['what'], a: string | null, b: string | null): Mixed[] =>
  a === b ? [] : [{ what, text: `${what} "${a ?? 'none'}" and "${b ?? 'none'}"` }];

function workloads(a: ComparableCell, b: ComparableCell): Mixed[] {
  const named = new Set([...Object.keys(a.workload), ...Object.keys(b.workload)]);
  const axes = workloadAxes.flatMap((axis) =>
    axisValue(a, axis) === axisValue(b, axis)
      ? []
      : [{ what: 'workload' as const, text: `${axis} "${axisValue(a, axis)}" and "${axisValue(b, axis)}"` }],
  );
  const facts = [...named].flatMap((name) => {
    const [left, right] = [a.workload[name] ?? 'not known', b.workload[name] ?? 'not known'];
    return left === right ? [] : [{ what: 'workload' as const, text: `${name} "${left}" and "${right}"` }];
  });
  return [...axes, ...facts];
}

/** What one metric of a pair mixes. Boundary and provenance only count for figures with energy in them. */
export function mixedIn({ baseline, other }: CellPair, metric: string): Mixed[] {
  const [a, b] = [baseline.figures[metric], other.figures[metric]];
  if (a === undefined || b === undefined) return [];
  return [...workloads(baseline, other), ...figuresMix(a, b)];
}

/** What two figures mix, their cells aside. */
function figuresMix(a: ComparableFigure, b: ComparableFigure): Mixed[] {
  const energy = a.value !== null && b.value !== null;
  return [
    ...(energy ? mixed('provenance', a.provenance, b.provenance) : []),
    ...(energy ? mixed('boundary', a.boundary, b.boundary) : []),
    ...mixed('statistic', statisticOf(a), statisticOf(b)),
  ];
}

const statisticOf = ({ statistic, bound }: ComparableFigure): string =>
  bound === 'upper' ? `${statistic}, an upper bound` : statistic;

/** What parts groups of cells that may stand on one front or in one table of years. */
export function contextOf(cell: ComparableCell, metrics: readonly string[]): string {
  const figures = metrics.map((metric) => cell.figures[metric]).filter((figure) => figure !== undefined);
  const energy = figures.filter(({ provenance }) => provenance !== null);
  const statistics = new Set(figures.map(statisticOf).filter((text) => text !== 'mean'));
  return [
    ...workloadAxes.map((axis) => cell.axes[axis] ?? ''),
    ...Object.entries(cell.workload).map(([name, value]) => `${name} ${value}`),
    ...new Set(energy.map(({ provenance }) => provenance ?? '')),
    ...new Set(energy.map(({ boundary }) => boundary ?? '')),
    ...statistics,
  ]
    .filter((part) => part !== '')
    .join(', ');
}

/**
 * Refuses a mix unless it was asked for. Cells compared by data set differ in their workload by request; that is flagged, not
 * refused. Throws `INPUT_INVALID` naming both sides of the first mix.
 */
export function refuseMixed(pairs: readonly CellPair[], metrics: readonly string[], by: string): void {
  const found = pairs.flatMap((pair) =>
    metrics.flatMap((metric) =>
      mixedIn(pair, metric)
        .filter(({ what }) => !(what === 'workload' && workloadAxes.includes(by)))
        .map(({ text }) => ({ pair, metric, text })),
    ),
  );
  const [first] = found;
  if (first === undefined) return;
  const { baseline, other } = first.pair;
  const several = new Set(found.map(({ pair }) => pair)).size;
  const more = several > 1 ? ` (so do ${several - 1} more of ${pairs.length} pairs)` : '';
  throw new PerwattError(
    'INPUT_INVALID',
    `${first.metric} of ${cellLabel(baseline)} and ${cellLabel(other)} differ in ${first.text}${more}`,
    {
      hint: 'Compare figures of one boundary, provenance and workload, or pass `--allow-mixed`, which flags each such figure.',
    },
  );
}
