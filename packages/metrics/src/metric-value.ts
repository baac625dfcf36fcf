import type { MetricValue } from './cell-types.js';
import type { Metric } from './metric-definitions.js';

/** A metric without a value. */
export const absent = ({ unit }: Metric, n: number, reason: string): MetricValue => ({
  value: null,
  lo: null,
  hi: null,
  interval: null,
  sampling_lo: null,
  sampling_hi: null,
  sensor_lo: null,
  sensor_hi: null,
  spread: null,
  n,
  unit,
  provenance: null,
  reason,
  note: null,
});
