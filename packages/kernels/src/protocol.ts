import * as z from 'zod';
import type { KernelSpec } from './kernel-spec.js';

/**
 * What the process that drives devices is asked, and what it answers: JSON, one value a line. The Rust side of it is
 * `crates/kernels-run/src/protocol.rs`; both change together.
 */
export const PROTOCOL_VERSION = 2;

/** How long things may be timed. Times in ns. */
export interface TimingOptions {
  /** Most time in batches of one implementation. */
  readonly most_ns: number;
  /** Standard deviation over mean of batches below which it stops earlier. */
  readonly deviation_ratio: number;
}

/** How energy is measured. */
export interface EnergyOptions {
  /** Windows that must be valid; at least 2. */
  readonly windows: number;
  /** Shortest window, ns; one has 50 update periods of its counter at least. */
  readonly least_ns: number;
  /** Warm-up before each window, ns. Default: 2 s. The device is left alone for half as long before it is metered idle. */
  readonly warm_up_ns?: number;
}

/** Where power sources look. */
export interface PowerPlace {
  readonly root: string;
  readonly libraries: { readonly nvml?: string; readonly amdsmi?: string; readonly level_zero?: string };
}

/** One kernel to run, with the implementations that were run already. */
export interface KernelCell {
  readonly index: number;
  readonly spec: KernelSpec;
  /** Ids of implementations to leave out. */
  readonly skip: readonly string[];
}

/** One request. */
export type KernelRequest =
  | {
      readonly kind: 'list';
      readonly version: number;
      /** Kernels whose support is asked for. */
      readonly specs: readonly KernelSpec[];
      /** Backends to leave out. */
      readonly skip: readonly string[];
    }
  | {
      readonly kind: 'run';
      readonly version: number;
      readonly device: string;
      readonly cells: readonly KernelCell[];
      /** Whether outputs are only compared with their references. */
      readonly check_only: boolean;
      readonly timing: TimingOptions;
      readonly energy: EnergyOptions | null;
      readonly power: PowerPlace;
      /** Threads of the processor's kernels; null for all that there are. */
      readonly threads: number | null;
    };

const figure = z.number();
const count = z.int().min(0);
const instant = z.string().regex(/^-?\d+$/);

const Device = z.object({
  id: z.string(),
  backend: z.string(),
  name: z.string(),
  kind: z.enum(['discrete_gpu', 'integrated_gpu', 'virtual_gpu', 'cpu', 'software', 'other']),
  driver: z.string().nullable(),
  hardware_id: z.string().nullable(),
  memory_bytes: figure.nullable(),
  max_buffer_bytes: figure.nullable(),
  last_level_cache_bytes: figure.nullable(),
  compute_units: count.nullable(),
  notes: z.array(z.string()),
  environment: z.record(z.string(), z.string()),
});
/** A device that kernels can run on. Unknown is null. */
export type KernelDevice = z.infer<typeof Device>;

const Health = z.object({ clock_hz: figure.nullable(), throttle_reasons: z.array(z.string()) });

const Timing = z.object({
  launch_ns: figure,
  deviation_ratio: figure.nullable(),
  rotated_sets: count,
  clock: z.enum(['event', 'timestamp', 'host']),
  host_difference_ratio: figure.nullable(),
  stopped: z.enum(['settled', 'noise_settled', 'timed_out']),
  batches: z.array(z.object({ launches: count, device_ns: figure.nullable(), host_ns: figure })).min(1),
  health_before: Health.nullable(),
  health_after: Health.nullable(),
});

const Cold = z.object({
  mean_ns: figure,
  interval: z.object({ low: figure, high: figure }).nullable(),
  median_ns: figure,
  launches: count,
});

const Interval = z.object({ mean: figure, low: figure, high: figure });

const Energy = z.object({
  counter: z.object({
    source: z.string(),
    domain: z.string(),
    scope: z.string(),
    systematic_ratio: figure.nullable(),
  }),
  windows: z.array(
    z.object({
      start_ns: figure,
      end_ns: figure,
      launches: figure,
      energy_j: figure,
      duty_ratio: figure,
      invalid: z.string().nullable(),
    }),
  ),
  idle: z.object({ power_w: figure }).nullable(),
  idle_reason: z.string().nullable(),
  energy_j: Interval.nullable(),
  net_energy_j: Interval.nullable(),
  reason: z.string().nullable(),
});

const Check = z.object({ relative_error: figure.nullable(), limit: figure });

/** The row of `kernels-core`, as far as it is used here. */
const Row = z.object({
  spec: z.object({ kind: z.string() }),
  implementation_id: z.string().nullable(),
  backend: z.string(),
  status: z.enum(['ok', 'wrong', 'unsupported', 'failed']),
  error_code: z.string().nullable(),
  error_message: z.string().nullable(),
  convention: z.string(),
  flop: figure,
  bytes: figure,
  check_before: Check.nullable(),
  check_after: Check.nullable(),
  timing: Timing.nullable(),
  cold: Cold.nullable(),
  cold_reason: z.string().nullable(),
  energy: Energy.nullable(),
  energy_reason: z.string().nullable(),
  flags: z.array(z.string()),
});
/** What came of one implementation of a kernel, as the native runner tells it. Figures are of one launch. */
export type NativeRow = z.infer<typeof Row>;

/** What a device does with a kernel; one for each that was asked for, in order. */
const Supported = z.object({ implementations: z.array(z.string()), reason: z.string().nullable() });

/** One line of an answer. */
export const KernelEvent = z.discriminatedUnion('event', [
  /** From here on, what goes wrong is the fault of this backend. */
  z.object({ event: z.literal('probe'), backend: z.string() }),
  z.object({ event: z.literal('device'), device: Device, supports: z.array(Supported) }),
  z.object({
    event: z.literal('unavailable'),
    backend: z.string(),
    error_code: z.string(),
    reason: z.string(),
  }),
  /** From here on, what goes wrong is the fault of this implementation. */
  z.object({ event: z.literal('start'), index: count, implementation: z.string() }),
  z.object({ event: z.literal('phase'), index: count, phase: z.string() }),
  z.object({
    event: z.literal('result'),
    index: count,
    /** When it was begun and over, on the clock of the host, ns. */
    start_ns: instant,
    end_ns: instant,
    /** Where the joules come from; null without a counter. */
    provenance: z.string().nullable(),
    row: Row,
  }),
  z.object({ event: z.literal('end'), index: count }),
  z.object({ event: z.literal('failed'), error_code: z.string(), reason: z.string() }),
  z.object({ event: z.literal('done') }),
]);
/** One line of an answer. */
export type KernelEvent = z.infer<typeof KernelEvent>;
