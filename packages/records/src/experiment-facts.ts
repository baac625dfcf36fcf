import type { EndpointFacts, StopMetric } from '@perwatt/core';

/** Warm-up until tokens per second and watts no longer change. */
export interface WarmUpFacts {
  readonly stable: boolean;
  readonly rounds: number;
  readonly seconds: number;
  /** Greatest less least of the last rounds as a share of their mean; null where it could not be told. */
  readonly throughput_spread_ratio: number | null;
  readonly power_spread_ratio: number | null;
  /** Why it is not stable, or what could not be watched; null when both are stable. */
  readonly reason: string | null;
}

/** One figure that a cool-down waited for. */
export interface GateReading {
  /** Device and channel (`cpu cpu_temp_c`), or a domain. */
  readonly what: string;
  readonly unit: '°C' | 'W';
  readonly value: number;
  readonly idle: number;
  readonly limit: number;
}

/** How the wait for idle temperature and power ended. */
export interface CoolDownFacts {
  /** `cool`; `gave_up` at the longest wait; `on_time` where nothing could be watched; `first` with nothing before it. */
  readonly state: 'cool' | 'gave_up' | 'on_time' | 'first';
  readonly waited_s: number;
  /** The last figures; of those that were too high where it gave up. */
  readonly readings: readonly GateReading[];
}

/** A power limit as it was asked for and read back, W. */
export interface CellCapFacts {
  readonly asked_w: number;
  readonly read_w: number;
  /** After the measured window; null when it could not be read. */
  readonly after_w: number | null;
  readonly tolerance_w: number;
}

/** The power limit around a run, W. */
export interface PowerCapFacts {
  readonly before_w: number;
  /** `set`: touched and not put back, as while the run lasts or after a crash. */
  readonly state: 'set' | 'restored' | 'not_restored';
  /** Read after it was put back; null where it was not, or could not be read. */
  readonly after_w: number | null;
  /** Why it could not be put back; null when it was, or was not tried. */
  readonly problem: string | null;
}

/** What server, engine and device report of themselves, less addresses, processes and times, and its sha256. */
export interface ObservedFacts {
  readonly sha256: string;
  readonly facts: Readonly<Record<string, unknown>>;
}

/** In what a cell's server or device differs from an earlier sitting, of itself or of a cell that the same was to answer. */
export interface DriftFacts {
  readonly cell_id: string;
  readonly sitting: number;
  /** `path: before → now`, the first of them. */
  readonly changes: readonly string[];
}

/** How a rule ended the repeats of a cell. */
export interface StoppingFacts {
  readonly metric: StopMetric;
  /** Half of the 95 % interval over the mean: as wanted, and at the last look; null where it can't be told. */
  readonly half_width_wanted: number;
  readonly half_width: number | null;
  /** The metric of each repeat, in order; null where it isn't known. */
  readonly values: readonly (number | null)[];
  /** `narrow`: the interval was; `cap`: the most repeats were made; null while it goes on. */
  readonly stopped: 'narrow' | 'cap' | null;
  readonly repeats: number;
  /** What stopping by the data does to an interval. */
  readonly note: string;
}

/** What one role of a strategy took at one endpoint, over the answered queries of all sittings. */
export interface RoleLedger {
  readonly role: string;
  readonly endpoint: string;
  readonly model: string;
  readonly calls: number;
  /** Null where one call's count isn't known. */
  readonly prompt_tokens: number | null;
  readonly completion_tokens: number | null;
  /** Joules of the total, shared by time among calls in flight on what a meter is about; null where one isn't known. */
  readonly energy_j: number | null;
}

/** A model behind an endpoint of a strategy other than `main`. */
export interface BoundFacts {
  /** Ids of the matrix. */
  readonly model: string;
  readonly accelerator: string;
  readonly endpoint: EndpointFacts;
}

/** A device that can run models, as it names itself. Null where it does not tell. */
export interface DeviceFacts {
  readonly kind: 'cpu' | 'gpu';
  readonly name: string;
  readonly memory_bytes: number | null;
  /** Greatest power that it is let draw, W. */
  readonly power_limit_w: number | null;
  readonly driver: string | null;
}
