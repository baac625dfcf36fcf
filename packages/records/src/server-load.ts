/** What a server said of its load within a window. Null where it did not say. */
export interface ServerLoad {
  /** Whose names it used. */
  readonly names: string;
  /** Readings within the window, and readings that failed. */
  readonly readings: number;
  readonly failed: number;
  /** Calls being worked on, and waiting for their turn. */
  readonly running: GaugeLoad | null;
  readonly waiting: GaugeLoad | null;
  /** Share of the key-value cache in use, 0…1. */
  readonly kv_cache_ratio: GaugeLoad | null;
  /** From just before the window to just after it; null where the counter began anew. */
  readonly prompt_tokens: number | null;
  readonly generation_tokens: number | null;
}

/** A value that was looked at once a second. */
export interface GaugeLoad {
  readonly mean: number;
  readonly max: number;
}
