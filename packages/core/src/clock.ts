import type { Instant } from './units.js';

/** The run's one monotonic clock. Every stamp of every table is on it. */
export interface Clock {
  /** Nanoseconds (ns) of the host's monotonic clock. Never goes back; comparable between processes of one boot. */
  now(): Instant;
}
