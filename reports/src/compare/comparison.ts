import type { ComparisonVerdict, Metric } from '@perwatt/metrics';
import type { CellVerdict } from '@perwatt/records';
import type { ComparableFigure } from './comparable.js';
import type { PairEstimate } from './pair-estimate.js';

/** One side of a compared figure. */
export interface ComparedSide
  extends Pick<
    ComparableFigure,
    'value' | 'lo' | 'hi' | 'interval' | 'sensor_lo' | 'sensor_hi' | 'provenance' | 'boundary' | 'reason'
  > {
  readonly cell: string;
  readonly record: string;
  readonly state: CellVerdict['state'];
}

/** One metric of two cells. */
export interface ComparisonRow {
  readonly metric: string;
  readonly title: string;
  readonly unit: string;
  readonly better: Metric['better'];
  /** Values on the axes on which pairs differ from one another. */
  readonly where: Readonly<Record<string, string>>;
  /** Value of either on the axis compared by. */
  readonly baseline_value: string;
  readonly other_value: string;
  readonly baseline: ComparedSide;
  readonly other: ComparedSide;
  /** Other against baseline; null with `reason`. */
  readonly estimate: PairEstimate | null;
  /** The sampling interval with the sensors' bounds in it. */
  readonly lo: number | null;
  readonly hi: number | null;
  /** p after the correction; null without a test. */
  readonly p_adjusted: number | null;
  readonly verdict: ComparisonVerdict | null;
  readonly reason: string;
  /** What the two mix, and what else parts them; printed wherever the row stands. */
  readonly mixed: readonly string[];
  readonly circumstances: readonly string[];
  /** Items (in all) that would show a difference of 5 %; null where it can't be told. */
  readonly items_needed: number | null;
  /** Repeats of each that would, against the spread between runs; null where that isn't known. */
  readonly repeats_needed: number | null;
}

/** A finished comparison. */
export interface Comparison {
  readonly by: string;
  readonly runs: readonly string[];
  readonly metrics: readonly string[];
  readonly correction: 'holm' | 'none';
  /** Tests that the correction counts. */
  readonly comparisons: number;
  readonly rows: readonly ComparisonRow[];
  readonly left_out: readonly { readonly cell: string; readonly reason: string }[];
  readonly notes: readonly string[];
}
