import type { AppliedCalibration } from './calibration.js';
import type { ChannelColumns, ChannelInfo } from './power-channels.js';
import type { Instant } from './units.js';

/** What a domain's number covers. Scopes nest (`wall` ⊃ `system` ⊃ `package` …), so they must never be summed blindly. */
export const scopes = ['wall', 'system', 'package', 'cpu', 'dram', 'gpu', 'module', 'soc', 'npu'] as const;
/** One of `scopes`. */
export type Scope = (typeof scopes)[number];

/** Where a figure of power comes from. Tiers are never summed together or ranked in one column. */
export const provenances = [
  'counter',
  'integrated',
  'external',
  'estimated',
  'simulated',
  'replayed',
  'published',
] as const;
/** One of `provenances`. */
export type Provenance = (typeof provenances)[number];

/** The smallest thing with a number of its own: a RAPL zone, a GPU, a wall meter, the estimate of a host's CPUs. */
export interface Domain {
  /** Stable, unique within a host, for example `rapl:0:package-0`. */
  readonly id: string;
  /** Name of the source it belongs to. */
  readonly source: string;
  readonly scope: Scope;
  readonly kind: 'counter' | 'gauge' | 'estimate';
  readonly provenance: Provenance;
  /** Whether it is part of the source's total. False for what lies inside another domain, or overlaps it. */
  readonly in_total: boolean;
  /** How often the sensor renews its value, in ns. Not the poll rate; it bounds the error at a window's edges. */
  readonly update_period_ns: number;
  /** Smallest step of the number, in joules (counters) or watts (gauges); null when unknown. */
  readonly quantum: number | null;
  /** Declared relative error of the sensor, 0…1; null when nobody declares one. */
  readonly scale_error_ratio: number | null;
  /**
   * Share of each update period that the sensor looks at, 0…1: what happens in the rest it takes to be the same. Null or
   * left out when it looks all the time, or nobody knows.
   */
  readonly sensing_share_ratio?: number | null;
  /** Formula and constants of an estimate, or another remark for the reader; null when there is none. */
  readonly note: string | null;
  /** The calibration that `scale_error_ratio` comes from; absent when it is the declared one. */
  readonly calibration?: AppliedCalibration;
  /** Name of the other host that it measures, for what an agent there reads; absent for this host's own. */
  readonly host?: string;
}

/** What the counter state machine made of one reading. */
export const sampleEvents = [
  'first',
  'ok',
  'same',
  'wrap',
  'reset',
  'glitch',
  'suspect',
  'missing',
  'out_of_range',
  'clock',
  'alias',
  'gap',
] as const;
/** One of `sampleEvents`. */
export type SampleEvent = (typeof sampleEvents)[number];

/** Events of readings that gave no number to go by. Their sample repeats what was booked before; of the time since the last good reading it tells nothing. */
export const blindEvents: ReadonlySet<SampleEvent> = new Set(['missing', 'out_of_range', 'suspect', 'clock']);

/**
 * Samples by column; entry `i` of every array belongs to one reading of one domain.
 * `raw` and `power_w` are meaningful only where their `_valid` entry is 1; elsewhere they are null in the records.
 */
export interface SampleColumns {
  /** Middle of the read, ns on the run's clock. */
  readonly at_ns: BigInt64Array;
  /** How long the read took, ns. */
  readonly read_ns: Float64Array;
  /** Index into the recorder's domains. */
  readonly domain: Uint16Array;
  /** The vendor's number as read, in the vendor's unit (µJ, mW …). */
  readonly raw: BigInt64Array;
  readonly raw_valid: Uint8Array;
  /** Index into `sampleEvents`. */
  readonly event: Uint8Array;
  /** Energy booked since the recorder's start, J: grows, never falls. The best estimate. */
  readonly booked_energy_j: Float64Array;
  /** Lower and upper bound of `booked_energy_j` from gaps, alias and the estimator's band, J. Sensor edges not included. */
  readonly booked_lo_j: Float64Array;
  readonly booked_hi_j: Float64Array;
  /** Power of a gauge or an estimate, W. */
  readonly power_w: Float64Array;
  readonly power_valid: Uint8Array;
}

/** How a recorder fares; its own cost included. */
export interface RecorderStatus {
  readonly state: 'running' | 'stopped' | 'failed';
  /** Why it failed, else null. */
  readonly reason: string | null;
  readonly reads: number;
  /** Deadlines that had already passed when the thread woke. */
  readonly missed_deadlines: number;
  /** How late readings on schedule began; null before the first, left out by sources that don't keep it. */
  readonly lateness?: DeadlineLateness | null;
  /** Time spent reading since the start, ns. */
  readonly read_ns: number;
  /** Readings that were overwritten before anyone drained them; left out where none can be. */
  readonly dropped?: number;
  /**
   * What a reader of the samples should know: `stale:<domain>` for a counter that stood still for so long that it can't
   * have been counting, `cross-check:<domain>` for one that is more than 10 % off the power beside it,
   * `averaged_1s:<domain>` for power that is a mean of the last second, `psys<package` for a platform counter that fell
   * below its packages and is no longer believed, `stale->gauge:<domain>` for a counter that stood still while the power
   * beside it says it must have grown, `suspended` for a host that slept meanwhile, `clock_step` for a wall clock that
   * was set.
   */
  readonly flags?: readonly string[];
  /** By domain: what readings showed of its sensor; left out by sources that don't watch it. */
  readonly observed?: readonly ObservedDomain[];
  /** Why the latest reading lacks a number; null or left out when it lacks none, or the source doesn't say. */
  readonly missing_reason?: string | null;
}

/** How late readings on schedule began after their deadlines. */
export interface DeadlineLateness {
  /** Readings behind it. */
  readonly readings: number;
  /** So late was half of them, and 99 of 100, at most, ns; told at most an eighth too great. */
  readonly p50_ns: number;
  readonly p99_ns: number;
  /** The latest of all, ns. */
  readonly max_ns: number;
}

/**
 * What readings of one domain showed of its sensor since the recorder's start, beside what is declared of it. Null where
 * they couldn't show it.
 */
export interface ObservedDomain {
  /** Id of the domain. */
  readonly domain: string;
  /** How often the sensor renewed its value, ns. */
  readonly update_period_ns: number | null;
  /** Why `update_period_ns` is null, else null. */
  readonly reason:
    | 'not_changed'
    | 'too_few_changes'
    | 'faster_than_read'
    | 'coarse_counter'
    | 'not_sensed'
    | null;
  /** The greatest step that every change was a whole multiple of, J (counters) or W (gauges). */
  readonly quantum: number | null;
  /** Readings behind it. */
  readonly samples: number;
}

/** A domain with its update period as it was observed, where that is longer than the declared one; never a shorter one. */
export function asObserved(domain: Domain, observed: readonly ObservedDomain[] = []): Domain {
  const seen = observed.find((one) => one.domain === domain.id)?.update_period_ns ?? 0;
  return seen > domain.update_period_ns ? { ...domain, update_period_ns: seen } : domain;
}

/** A running measurement of one source. `drain` hands over what was read since the last call and never waits. */
export interface Recorder {
  readonly source: string;
  readonly domains: readonly Domain[];
  /** Vendor's unit of `raw`, by domain: `uJ`, `mW`, `ticks` … */
  readonly raw_units: readonly string[];
  readonly period_ns: number;
  /** What is read beside power, in the order that `ChannelColumns.channel` counts; left out by sources without channels. */
  readonly channels?: readonly ChannelInfo[];
  drain(): SampleColumns;
  /** Hands over the channel readings since the last call; never waits. There is one a second or so. */
  drainChannels?(): ChannelColumns;
  /** Reads once now, out of schedule, so that a window's edge has a sample of its own; returns when it was read. */
  mark(): Instant;
  status(): RecorderStatus;
  /** Takes a last reading, then stops. What was read stays drainable. Safe to call twice. */
  stop(): void;
}

/** Something energy can be read from: real hardware, a recording, or a script in a test. */
export interface PowerSource {
  readonly name: string;
  readonly provenance: Provenance;
  /** Sensible time between two readings, ns. */
  readonly default_period_ns: number;
  /** Throws `PerwattError` when nothing can be read; a recorder that exists can read. */
  start(options?: { readonly period_ns?: number }): Recorder;
}

/** One thing `perwatt doctor` tried. */
export interface Probe {
  /** What was tried: `rapl`, `estimate-cpu-load`, `llama.cpp`, `pip` … */
  readonly name: string;
  readonly area: 'power' | 'device' | 'engine' | 'models';
  readonly usable: boolean;
  /** What was found, or why it isn't usable: one line. */
  readonly detail: string;
  /** The exact command or step that would enable it; null when it is usable or nothing would. */
  readonly fix: string | null;
}
