import type { Provenance } from '@perwatt/core';
import type { CellContributions, CellEnergy, LatencyName, Metric, RunSpread } from '@perwatt/metrics';
import type { CellVerdict } from '@perwatt/records';

/** One figure of a cell with what a comparison must know of it. */
export interface ComparableFigure {
  readonly metric: string;
  readonly title: string;
  readonly unit: string;
  readonly better: Metric['better'];
  /** Null with a reason. */
  readonly value: number | null;
  /** The interval to show beside the value, and how it was made (`published_range`: by the source); null where there is none. */
  readonly lo: number | null;
  readonly hi: number | null;
  readonly interval: string | null;
  /** The 95 % sampling interval alone. */
  readonly sampling_lo: number | null;
  readonly sampling_hi: number | null;
  readonly sensor_lo: number | null;
  readonly sensor_hi: number | null;
  /** Queries, calls, runs or samples behind it; null when nobody says. */
  readonly n: number | null;
  readonly spread: RunSpread | null;
  /** Null for figures without energy, and for their boundary too. */
  readonly provenance: Provenance | null;
  readonly boundary: string | null;
  /** `mean` for figures measured here; else as published. */
  readonly statistic: string;
  /** `upper` where the true value is at most this. */
  readonly bound: 'none' | 'upper';
  /** False where its source made it in a way that allows no order, as peaks are. */
  readonly rankable: boolean;
  readonly reason: string | null;
  readonly note: string | null;
}

/** One call's time for its item, ns. */
export interface ItemLatency {
  readonly item: string;
  readonly ns: number;
}

/** A cell of a run, or a configuration that others published, in the terms of a comparison. */
export interface ComparableCell {
  readonly run_id: string;
  /** Unique over all runs: cell or record within its run. */
  readonly record: string;
  readonly tier: 'measured' | 'published';
  /** Value by axis: those of the matrix, or the knobs that were published. */
  readonly axes: Readonly<Record<string, string>>;
  /** What must be the same for two cells to have worked on the same: by name, in words. */
  readonly workload: Readonly<Record<string, string>>;
  /** What else made the figures: told where it differs, never refused. */
  readonly circumstances: Readonly<Record<string, string>>;
  readonly figures: Readonly<Record<string, ComparableFigure>>;
  readonly verdict: CellVerdict;
  readonly repeats: number | null;
  /** What each query adds to the totals; null for published figures. */
  readonly contributions: CellContributions | null;
  /** Times of the calls that ended well, by item; null for published figures. */
  readonly latencies: Readonly<Record<LatencyName, readonly ItemLatency[]>> | null;
  readonly energy: CellEnergy | null;
  /** Machine of the sensors. */
  readonly host: string;
  /** Model and accelerator years of the catalogue; null where it doesn't know them. */
  readonly years: { readonly model: number | null; readonly accelerator: number | null };
}

/** Name of a cell for people: its values on `names`, or on all axes. */
export const cellLabel = (cell: ComparableCell, names: readonly string[] = Object.keys(cell.axes)): string =>
  names.map((name) => axisValue(cell, name)).join(' / ');

/** The value of an axis, `run` and `record` among them; `–` where the cell has none. */
export function axisValue(cell: Pick<ComparableCell, 'run_id' | 'record' | 'axes'>, axis: string): string {
  if (axis === 'run') return cell.run_id;
  if (axis === 'record') return cell.record;
  return cell.axes[axis] ?? '–';
}

/** `Qwen3-8B` of `Qwen/Qwen3-8B`: the owner of a model tells nothing that a table needs. */
const withoutOwner = (name: string): string => name.replace(/^[\w.-]+\//, '');

/** A short name on the axes on which cells differ: `Qwen3-8B / c8`. */
export const shortLabel = (cell: ComparableCell, axes: readonly string[]): string =>
  axes
    .map((axis) => (axis === 'model' ? withoutOwner(axisValue(cell, axis)) : axisValue(cell, axis)))
    .join(' / ');

/** Axes on which some of the cells differ. */
export const varyingAxes = (cells: readonly ComparableCell[]): string[] =>
  axesOf(cells).filter((axis) => new Set(cells.map((cell) => axisValue(cell, axis))).size > 1);

/** Axes that any of the cells has, in the order they first appear. */
export const axesOf = (cells: readonly ComparableCell[]): string[] => [
  ...new Set(cells.flatMap(({ axes }) => Object.keys(axes))),
];
