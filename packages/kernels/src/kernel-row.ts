import type { KernelRow } from '@perwatt/core';
import { type Ceilings, rooflineOf } from './kernel-counts.js';
import type { KernelOutcome } from './kernel-outcome.js';
import { type KernelSpec, optionsText, sizesOf } from './kernel-spec.js';
import type { KernelDevice } from './protocol.js';

/** Ceilings of a device for one type, with what reached the peak. */
export interface DeviceCeilings extends Ceilings {
  readonly peak_implementation: string | null;
}

/** What a row says beside its outcome. */
export interface RowPlace {
  readonly run_id: string;
  readonly session: number;
  readonly phase: 'alone' | 'before' | 'after';
  readonly device: Pick<KernelDevice, 'id' | 'name' | 'backend'>;
  readonly ceilings: DeviceCeilings;
}

/** The row of the table `kernels` for one outcome. */
export function kernelRow(spec: KernelSpec, outcome: KernelOutcome, place: RowPlace): KernelRow {
  const { run_id, session, phase, device, ceilings } = place;
  const { implementation, portable, convention, flop, bytes, error_ratio, tolerance_ratio } = outcome;
  const { flags, status, error_code, reason } = outcome;
  return {
    run_id,
    session,
    phase,
    device: device.id,
    device_name: device.name,
    backend: device.backend,
    implementation,
    portable,
    kernel: spec.kind,
    dtype: spec.dtype,
    ...sizesOf(spec),
    options: optionsText(spec),
    convention,
    flop,
    bytes,
    ...timeColumns(outcome),
    ...coldColumns(outcome),
    ...ceilingColumns(outcome, ceilings),
    ...energyColumns(outcome),
    error_ratio,
    tolerance_ratio,
    flags: flags.length === 0 ? null : flags.join(' '),
    status,
    error_code,
    reason,
  };
}

const noTime = {
  time_mean_ns: null,
  time_lo_ns: null,
  time_hi_ns: null,
  time_median_ns: null,
  deviation_ratio: null,
  batches: 0,
  launches: 0,
  stop_reason: null,
  time_source: null,
  host_difference_ratio: null,
  clock_lo_hz: null,
  clock_hi_hz: null,
  throttled: null,
};

function timeColumns({ time, start_ns, end_ns }: KernelOutcome) {
  if (time === null) return { start_ns, end_ns, ...noTime };
  return {
    start_ns,
    end_ns,
    time_mean_ns: time.mean_ns,
    time_lo_ns: time.lo_ns,
    time_hi_ns: time.hi_ns,
    time_median_ns: time.median_ns,
    deviation_ratio: time.deviation_ratio,
    batches: time.batches,
    launches: time.launches,
    stop_reason: time.stop_reason,
    time_source: time.source,
    host_difference_ratio: time.host_difference_ratio,
    clock_lo_hz: time.clock_lo_hz,
    clock_hi_hz: time.clock_hi_hz,
    throttled: time.throttled?.join(' ') ?? null,
  };
}

function coldColumns({ cold, cold_reason }: KernelOutcome) {
  return {
    cold_mean_ns: cold?.mean_ns ?? null,
    cold_lo_ns: cold?.lo_ns ?? null,
    cold_hi_ns: cold?.hi_ns ?? null,
    cold_median_ns: cold?.median_ns ?? null,
    cold_launches: cold?.launches ?? null,
    cold_reason,
  };
}

function ceilingColumns({ time, flop, bytes }: KernelOutcome, ceilings: DeviceCeilings) {
  const roofline = rooflineOf({ flop, bytes }, ceilings);
  const { peak_flop_per_s, peak_implementation, bandwidth_bytes_per_s } = ceilings;
  return {
    peak_flop_per_s,
    peak_implementation,
    bandwidth_bytes_per_s,
    bound: roofline?.bound ?? null,
    roofline_ns: roofline?.roofline_ns ?? null,
    roofline_ratio: roofline === null || time === null ? null : roofline.roofline_ns / time.mean_ns,
  };
}

const noEnergy = {
  energy_gross_j: null,
  energy_lo_j: null,
  energy_hi_j: null,
  energy_net_j: null,
  energy_power_w: null,
  energy_idle_w: null,
  energy_systematic_ratio: null,
  energy_windows: 0,
  energy_window_ns: null,
  energy_launches: null,
  energy_duty_ratio: null,
  energy_domain: null,
  energy_scope: null,
  energy_provenance: null,
};

function energyColumns({ energy, energy_reason }: KernelOutcome) {
  if (energy === null) return { ...noEnergy, energy_reason: energy_reason ?? 'no energy was measured' };
  return {
    energy_gross_j: energy.gross_j,
    energy_lo_j: energy.lo_j,
    energy_hi_j: energy.hi_j,
    energy_net_j: energy.net_j,
    energy_power_w: energy.power_w,
    energy_idle_w: energy.idle_w,
    energy_systematic_ratio: energy.systematic_ratio,
    energy_windows: energy.windows,
    energy_window_ns: energy.window_ns,
    energy_launches: energy.launches,
    energy_duty_ratio: energy.duty_ratio,
    energy_domain: energy.domain,
    energy_scope: energy.scope,
    energy_provenance: energy.provenance,
    energy_reason,
  };
}
