import type { NativeRow } from './protocol.js';

/** Times of one launch, ns. */
export interface OutcomeTime {
  readonly mean_ns: number;
  /** 95 % interval of the mean over batches, by Student's t; null below two batches. */
  readonly lo_ns: number | null;
  readonly hi_ns: number | null;
  readonly median_ns: number;
  readonly deviation_ratio: number | null;
  readonly batches: number;
  readonly launches: number;
  readonly stop_reason: string;
  readonly source: 'device' | 'host';
  /** (host − device) / device; null where only the host timed it. */
  readonly host_difference_ratio: number | null;
  readonly clock_lo_hz: number | null;
  readonly clock_hi_hz: number | null;
  /** Null where nobody could tell. */
  readonly throttled: readonly string[] | null;
}

/** Times of single launches with empty caches, ns. */
export interface OutcomeCold {
  readonly mean_ns: number;
  /** 95 % interval of the mean over launches. */
  readonly lo_ns: number | null;
  readonly hi_ns: number | null;
  readonly median_ns: number;
  readonly launches: number;
}

/** Energy of one launch, J. */
export interface OutcomeEnergy {
  readonly gross_j: number;
  readonly lo_j: number;
  readonly hi_j: number;
  readonly net_j: number | null;
  readonly power_w: number;
  readonly idle_w: number | null;
  /** Windows that count. */
  readonly windows: number;
  readonly window_ns: number;
  /** Launches in them together. */
  readonly launches: number;
  /** Systematic error of the meter, a share; null when unknown. */
  readonly systematic_ratio: number | null;
  readonly duty_ratio: number;
  readonly domain: string;
  readonly scope: string;
  readonly provenance: string;
}

/** What came of one implementation of a kernel. */
export interface KernelOutcome {
  readonly implementation: string;
  readonly portable: boolean | null;
  readonly convention: string;
  readonly flop: number;
  readonly bytes: number;
  readonly start_ns: bigint | null;
  readonly end_ns: bigint | null;
  readonly time: OutcomeTime | null;
  readonly cold: OutcomeCold | null;
  /** Why no cold launch was timed; null where one was. */
  readonly cold_reason: string | null;
  readonly energy: OutcomeEnergy | null;
  /** Why there is no energy, or no net energy; null where there is both. */
  readonly energy_reason: string | null;
  /** Relative error, the greater of before and after timing; null for what wasn't compared, or is no number. */
  readonly error_ratio: number | null;
  readonly tolerance_ratio: number | null;
  readonly flags: readonly string[];
  readonly status: NativeRow['status'] | 'crashed' | 'timed_out' | 'interrupted';
  readonly error_code: string | null;
  readonly reason: string | null;
}

/** A product of matrices that is none of a vendor's library, and no measure of the device. */
const isOwnGemm = ({ spec, implementation_id }: NativeRow): boolean =>
  spec.kind === 'gemm' && /^[^/]+\/own/.test(implementation_id ?? '');

interface Told {
  readonly row: NativeRow;
  readonly start_ns: string;
  readonly end_ns: string;
  readonly provenance: string | null;
}

/** What the native runner told, as the table has it. */
export function outcomeOf({ row, start_ns, end_ns, provenance }: Told): KernelOutcome {
  const { implementation_id, backend, convention, flop, bytes, flags, status, error_code, error_message } =
    row;
  const energy = energyOf(row, provenance);
  return {
    implementation: implementation_id ?? 'none',
    portable: implementation_id === null ? null : backend === 'wgpu' || isOwnGemm(row),
    convention,
    flop,
    bytes,
    start_ns: BigInt(start_ns),
    end_ns: BigInt(end_ns),
    time: timeOf(row),
    cold: coldOf(row),
    cold_reason: row.cold === null ? (row.cold_reason ?? 'no cold launch was timed') : null,
    energy,
    energy_reason: energyReason(row, energy),
    ...checkOf(row),
    flags,
    status,
    error_code,
    reason: error_message,
  };
}

function energyReason(row: NativeRow, energy: OutcomeEnergy | null): string | null {
  if (energy === null) return row.energy?.reason ?? row.energy_reason ?? 'no energy was measured';
  return energy.net_j === null ? `no net energy: ${row.energy?.idle_reason ?? 'no idle power'}` : null;
}

const coldOf = ({ cold }: NativeRow): OutcomeCold | null =>
  cold === null
    ? null
    : {
        mean_ns: cold.mean_ns,
        lo_ns: cold.interval?.low ?? null,
        hi_ns: cold.interval?.high ?? null,
        median_ns: cold.median_ns,
        launches: cold.launches,
      };

function timeOf({ timing }: NativeRow): OutcomeTime | null {
  if (timing === null) return null;
  const launches_ns = timing.batches.map(
    ({ launches, device_ns, host_ns }) => (device_ns ?? host_ns) / launches,
  );
  const { mean, half } = meanInterval(launches_ns);
  const healths = [timing.health_before, timing.health_after].filter((health) => health !== null);
  const clocks = healths.flatMap(({ clock_hz }) => clock_hz ?? []);
  return {
    mean_ns: mean,
    lo_ns: half === null ? null : mean - half,
    hi_ns: half === null ? null : mean + half,
    median_ns: timing.launch_ns,
    deviation_ratio: timing.deviation_ratio,
    batches: timing.batches.length,
    launches: timing.batches.reduce((sum, { launches }) => sum + launches, 0),
    stop_reason: timing.stopped,
    source: timing.clock === 'host' ? 'host' : 'device',
    host_difference_ratio: timing.host_difference_ratio,
    clock_lo_hz: clocks.length === 0 ? null : Math.min(...clocks),
    clock_hi_hz: clocks.length === 0 ? null : Math.max(...clocks),
    throttled:
      healths.length === 0 ? null : [...new Set(healths.flatMap((health) => health.throttle_reasons))],
  };
}

/** Two-sided 95 % quantiles of Student's t for 1, 2 … degrees of freedom. */
const students = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262];
/** Beyond the table by the expansion in 1/n of Cornish and Fisher, two terms: within 0.2 %. */
function studentsT(n: number): number {
  const z = 1.96;
  const expanded = z + (z ** 3 + z) / (4 * n) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * n ** 2);
  return students[n - 1] ?? expanded;
}

function meanInterval(values: readonly number[]): { readonly mean: number; readonly half: number | null } {
  const n = values.length;
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  if (n < 2) return { mean, half: null };
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n - 1);
  return { mean, half: studentsT(n - 1) * Math.sqrt(variance / n) };
}

function energyOf({ energy }: NativeRow, provenance: string | null): OutcomeEnergy | null {
  const windows = energy?.windows.filter(({ invalid }) => invalid === null) ?? [];
  if (energy === null || energy.energy_j === null || provenance === null || windows.length === 0) return null;
  const length_ns = windows.reduce((sum, { start_ns, end_ns }) => sum + end_ns - start_ns, 0);
  const joules = windows.reduce((sum, { energy_j }) => sum + energy_j, 0);
  const { mean, low, high } = energy.energy_j;
  const { source, domain, scope } = energy.counter;
  return {
    gross_j: mean,
    lo_j: low,
    hi_j: high,
    net_j: energy.net_energy_j?.mean ?? null,
    power_w: (joules / length_ns) * 1e9,
    idle_w: energy.idle?.power_w ?? null,
    windows: windows.length,
    window_ns: length_ns / windows.length,
    launches: windows.reduce((sum, { launches }) => sum + launches, 0),
    systematic_ratio: energy.counter.systematic_ratio,
    duty_ratio: Math.min(...windows.map(({ duty_ratio }) => duty_ratio)),
    domain: domain.startsWith(source) ? domain : `${source}:${domain}`,
    scope,
    provenance,
  };
}

function checkOf({ check_before, check_after }: NativeRow) {
  const checks = [check_before, check_after].filter((check) => check !== null);
  const errors = checks.map(({ relative_error }) => relative_error);
  const known = errors.filter((error) => error !== null);
  return {
    error_ratio: errors.length === 0 || known.length < errors.length ? null : Math.max(...known),
    tolerance_ratio: checks[0]?.limit ?? null,
  };
}
