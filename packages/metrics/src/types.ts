import type { Domain, Instant } from '@perwatt/core';

/** A half-open span `[start, end)` on the run's clock. */
export interface Window {
  readonly start: Instant;
  readonly end: Instant;
}

/** The booked energy of one domain over time, read by one recorder of one sitting of the run. Times grow. */
export interface PowerSeries {
  readonly domain: Domain;
  /**
   * Time between two readings that the recorder aimed at, ns. Readings out of schedule lie closer together; without it
   * the median interval counts.
   */
  readonly period_ns?: number;
  readonly at_ns: BigInt64Array;
  /** J since the recorder's start, never falling: best estimate and bounds. */
  readonly booked_j: Float64Array;
  readonly lo_j: Float64Array;
  readonly hi_j: Float64Array;
}

/** Energy of one domain over one window. Null with a reason when it can't be told; never 0 for missing. */
export interface EnergyReading {
  readonly energy_j: number | null;
  /** Bounds of the sensor alone: edges, quantum, scale, gaps, estimator band. Null with `energy_j`. */
  readonly lo_j: number | null;
  readonly hi_j: number | null;
  /** Share of the window between samples that lie close enough together, 0…1. */
  readonly coverage_ratio: number;
  readonly samples: number;
  readonly reason: 'not_covered' | 'low_coverage' | 'stale_counter' | 'empty_window' | null;
}

/** The span of one call and the query it belongs to. */
export interface CallSpan {
  readonly query_id: string;
  readonly start: Instant;
  readonly end: Instant;
}
