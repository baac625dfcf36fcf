import type { CallRow, Domain, Instant, Provenance, QueryRow, SteadyRule, Verdict } from '@perwatt/core';
import type { CellColumns } from './cell-columns.js';
import type { EnergyDetail } from './energy-detail.js';
import type { Slo } from './load/slo.js';
import type { MetricId, MetricUnit } from './metric-definitions.js';
import type { RunSpread } from './stats/run-spread.js';
import type { PowerSeries, Window } from './types.js';

/** Idle power of one domain with the model loaded, before or after one sitting. */
export interface BaselineInput {
  readonly domain: string;
  readonly when: 'before' | 'after';
  /** Middle of the span it was taken over. */
  readonly at: Instant;
  readonly power_w: number;
  readonly lo_w: number;
  readonly hi_w: number;
}

/** One session of work on a cell, and what was recorded of power meanwhile. */
export interface SittingInput {
  readonly sitting: number;
  /** The measured window, warm-up and baselines excluded. */
  readonly window: Window;
  /** Empty when no power was recorded. */
  readonly series: readonly PowerSeries[];
  /** Baselines with the model loaded and idle; those that could not be told are left out. */
  readonly baselines: readonly BaselineInput[];
}

/** Baselines of the idle host by sitting. */
export type HostBaselines = ReadonlyMap<number, readonly BaselineInput[]>;

/** What the metrics of one cell are made of beside its rows. */
export interface CellBase {
  readonly sittings: readonly SittingInput[];
  /** Accuracy that guessing reaches, 0…1; null when not known. */
  readonly guess_rate: number | null;
  /** Seed of bootstrap draws. Default 0. */
  readonly seed?: number;
  /** Baselines of the idle host. Default none. */
  readonly host?: HostBaselines;
  /** The domains that the energies of the queries' rows are summed over: used only where no samples are on record. */
  readonly booked?: Boundary | null;
  /** Limits of a good call, ns. Default none. */
  readonly slo?: Slo;
  /** Rule of the steady window. Default none: figures over it have no value. */
  readonly steady?: SteadyRule | null;
}

/** Everything the metrics of one cell are made of, as rows. */
export interface CellInput extends CellBase {
  readonly queries: readonly QueryRow[];
  readonly calls: readonly CallRow[];
}

/** The same with the rows as columns: for cells of millions. */
export interface CellColumnsInput extends CellBase {
  readonly columns: CellColumns;
}

/**
 * How an interval was made. `repeats_t`: 95 % over repeats and items by Student's t. The sensor's bounds are no confidence
 * interval; `repeats_and_sensor` adds them to the 95 % interval over repeats and items, `items_and_sensor` to the one
 * over items alone.
 */
export type IntervalMethod =
  | 'wilson'
  | 'item_bootstrap'
  | 'item_clustered'
  | 'order_statistics'
  | 'repeats_t'
  | 'repeats_and_sensor'
  | 'items_and_sensor'
  | 'sensor_bounds';

/** One metric of one cell. `value` is null with a reason, never 0 or NaN for missing. */
export interface MetricValue {
  readonly value: number | null;
  readonly lo: number | null;
  readonly hi: number | null;
  /** What `lo` and `hi` are: 95 % but for `sensor_bounds`; null without them. */
  readonly interval: IntervalMethod | null;
  /** The 95 % sampling interval alone: over items, and over repeats where there are three or more; null where unknown. */
  readonly sampling_lo: number | null;
  readonly sampling_hi: number | null;
  /** The bounds of the sensor alone; null for figures without energy, and on a side without a bound. */
  readonly sensor_lo: number | null;
  readonly sensor_hi: number | null;
  /** How far repeats lie apart; null for figures that have none by repeat (latencies). */
  readonly spread: RunSpread | null;
  /** Queries, calls or repeats behind the value. */
  readonly n: number;
  readonly unit: MetricUnit;
  /** Where the energy in it comes from; null for figures without energy. */
  readonly provenance: Provenance | null;
  readonly reason: string | null;
  readonly note: string | null;
}

/** The domains summed into a cell's energy. */
export interface Boundary {
  readonly provenance: Provenance;
  readonly domains: readonly Domain[];
}

/** Energy over the busy time of a cell, in the boundary, over all sittings. */
export interface CellEnergy {
  readonly boundary: Boundary | null;
  readonly gross_j: number | null;
  readonly gross_lo_j: number | null;
  readonly gross_hi_j: number | null;
  readonly net_j: number | null;
  readonly net_lo_j: number | null;
  readonly net_hi_j: number | null;
  /** Whether the interval of the net energy excludes 0. */
  readonly net_resolved: boolean;
  /** Length of the busy time T, ns. */
  readonly busy_ns: number;
  /** Length of the measured windows, ns. */
  readonly window_ns: number;
  readonly coverage_ratio: number | null;
  /** Counters that stood still: the integrated power of their devices took their place, or the energy is null. */
  readonly stale_counters: readonly string[];
  /** Largest change of a baseline from before to after, as a share; null when none has both. */
  readonly drift_ratio: number | null;
  readonly reason: string | null;
  readonly net_reason: string | null;
  /** Where the joules are from: samples of the run, or, without any, the energies in the queries' rows. */
  readonly taken_from: 'samples' | 'queries';
}

/** How many queries and calls there were, and how they ended. */
export interface CellCounts {
  readonly attempted: number;
  readonly scored: number;
  readonly failed: number;
  /** Queries that have calls but no row: lost work of a sitting that was cut off. */
  readonly unsettled: number;
  readonly calls: number;
  readonly calls_ok: number;
  readonly repeats: number;
  readonly verdicts: Readonly<Record<Verdict, number>>;
}

/** Something a cell's verdict should say. */
export interface CellFlag {
  readonly code: 'failed_queries' | 'unscored' | 'baseline_drift' | 'no_queries' | 'stale_counter';
  readonly severity: 'flagged' | 'invalid';
  readonly text: string;
}

/** The figures of one repeat alone; null where it has none. */
export interface RepeatFigures {
  readonly repeat: number;
  readonly queries: number;
  readonly values: Readonly<Partial<Record<MetricId, number | null>>>;
}

/** A figure of one label with its 95 % interval over items; null where it can't be told. */
export interface SubjectValue {
  readonly value: number | null;
  readonly lo: number | null;
  readonly hi: number | null;
}

/**
 * The figures of the items of one label of the data set (subject, level, category). Energy and time are those in the
 * queries' rows: measured where queries were isolated, else their shares.
 */
export interface SubjectFigures {
  readonly subject: string;
  readonly items: number;
  readonly queries: number;
  readonly scored: number;
  readonly values: Readonly<Partial<Record<MetricId, SubjectValue>>>;
}

/** All that is told of one cell in numbers. */
export interface CellMetrics {
  readonly spec_version: number;
  readonly values: Readonly<Record<MetricId, MetricValue>>;
  /** In the order of their numbers. */
  readonly by_repeat: readonly RepeatFigures[];
  /** In the order in which labels first appear; empty where items have none. */
  readonly by_subject: readonly SubjectFigures[];
  readonly energy: CellEnergy;
  readonly detail: EnergyDetail;
  readonly counts: CellCounts;
  /** Failed queries over attempted ones; null without queries. */
  readonly failed_ratio: number | null;
  readonly guess_rate: number | null;
  /** Whether the interval of accuracy lies above guessing; null when either isn't known. */
  readonly above_guessing: boolean | null;
  /** Accuracy with unscored queries as 0 and as 1; null when nothing was attempted. */
  readonly accuracy_bounds: { readonly lo: number; readonly hi: number } | null;
  readonly flags: readonly CellFlag[];
}
