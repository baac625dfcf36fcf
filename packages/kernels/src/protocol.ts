import * as z from 'zod';
import { KernelSpec } from './kernel-spec.js';

/**
 * What the process that drives devices is asked, and what it answers: JSON, one value a line. The Rust side of it is
 * `crates/kernels-napi/src/protocol.rs`; both change together.
 */
export const PROTOCOL_VERSION = 1;

/** How long things may be measured. Times in ns. */
export interface TimingOptions {
  /** Most time that is timed for one implementation. */
  readonly max_ns: number;
  /** Relative standard deviation of batches below which it stops. */
  readonly stable_ratio: number;
}

/** How energy is measured. */
export interface EnergyOptions {
  /** Power source by name; null for the most trustworthy one that measures the device. */
  readonly source: string | null;
  /** Least length of a window, ns. */
  readonly window_ns: number;
  /** Windows. */
  readonly windows: number;
}

/** Where power sources look. */
export interface PowerPlace {
  readonly root: string;
  readonly libraries: Readonly<Record<string, string>>;
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
    };

const figure = z.number();
const count = z.int().min(0);
const instant = z.string().regex(/^\d+$/);

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

const Time = z.object({
  mean_ns: figure,
  lo_ns: figure.nullable(),
  hi_ns: figure.nullable(),
  median_ns: figure,
  batches: count,
  launches: figure,
  stop_reason: z.string(),
  source: z.string(),
  clock_ratio: figure.nullable(),
});

const Energy = z.object({
  gross_j: figure,
  lo_j: figure.nullable(),
  hi_j: figure.nullable(),
  net_j: figure.nullable(),
  power_w: figure.nullable(),
  idle_w: figure.nullable(),
  windows: count,
  window_ns: figure,
  duty_ratio: figure.nullable(),
  domain: z.string(),
  scope: z.string(),
  provenance: z.string(),
});

const Clocks = z.object({
  lo_hz: figure.nullable(),
  hi_hz: figure.nullable(),
  throttled: z.array(z.string()).nullable(),
});

const Result = z.object({
  implementation: z.string(),
  portable: z.boolean().nullable(),
  flop: figure,
  bytes: figure,
  convention: z.string(),
  start_ns: instant.nullable(),
  end_ns: instant.nullable(),
  time: Time.nullable(),
  clocks: Clocks.nullable(),
  energy: Energy.nullable(),
  energy_reason: z.string().nullable(),
  error_ratio: figure.nullable(),
  tolerance_ratio: figure.nullable(),
  status: z.enum(['ok', 'wrong', 'unsupported', 'failed']),
  error_code: z.string().nullable(),
  reason: z.string().nullable(),
});
/** What came of one implementation of a kernel. Figures are of one launch. */
export type KernelResult = z.infer<typeof Result>;

const Supported = z.object({
  spec: KernelSpec,
  implementations: z.array(z.string()),
  reason: z.string().nullable(),
});

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
  z.object({ event: z.literal('result'), index: count, result: Result }),
  z.object({ event: z.literal('end'), index: count }),
  z.object({ event: z.literal('failed'), error_code: z.string(), reason: z.string() }),
  z.object({ event: z.literal('done') }),
]);
/** One line of an answer. */
export type KernelEvent = z.infer<typeof KernelEvent>;
