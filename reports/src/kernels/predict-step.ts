import { type KernelRow, kernelSizes } from '@perwatt/core';
import type { KernelStep, StepKernel } from '@perwatt/records';

/** What one kernel of a step takes on a device: figures of all its launches in one step. */
export interface PredictedKernel {
  readonly kernel: StepKernel;
  /** The fastest implementation; null where none was timed. */
  readonly implementation: string | null;
  /** Null where none was timed. */
  readonly time_ns: number | null;
  readonly lo_ns: number | null;
  readonly hi_ns: number | null;
  /** Gross; null where it was not measured. */
  readonly energy_j: number | null;
  /** Share of the time of all kernels of the step, 0…1; null with the time. */
  readonly share: number | null;
}

/** A step of a model as its kernels alone say, on one device. */
export interface StepPrediction {
  readonly step: KernelStep;
  readonly device: string;
  readonly device_name: string;
  readonly session: number;
  readonly kernels: readonly PredictedKernel[];
  /** Sum over the kernels; null where one was not timed. */
  readonly time_ns: number | null;
  /** Sums of their lower and upper ends: as if all were off the same way. */
  readonly lo_ns: number | null;
  readonly hi_ns: number | null;
  /** Output tokens of all sequences over that time, 1/s; null for a prefill, which gives none. */
  readonly tokens_per_s: number | null;
  /** J; null where that of one kernel was not measured. */
  readonly energy_j: number | null;
  /** J per output token; null for a prefill too. */
  readonly energy_per_token_j: number | null;
  /** Where the joules come from; null where there are none. */
  readonly energy_provenance: string | null;
}

/**
 * What each step of a session takes on each of its devices, by the fastest implementation of each kernel that was right: the sum
 * over kernels of launches × mean time. What a step does beside them (rotary embedding, sums, activations, sampling, starting
 * kernels) is in none, so that a real step takes longer unless it has better kernels.
 */
export function predictSteps(
  steps: readonly KernelStep[],
  rows: readonly KernelRow[],
  session: number,
): StepPrediction[] {
  const own = rows.filter(
    (row) => row.session === session && row.status === 'ok' && row.time_mean_ns !== null,
  );
  const devices = [...new Map(own.map((row) => [row.device, row.device_name]))];
  return devices.flatMap(([device, device_name]) => {
    const best = fastest(own.filter((row) => row.device === device));
    return steps.map((step) => predicted(step, best, { device, device_name, session }));
  });
}

/** The row of the fastest implementation of each kernel. */
function fastest(rows: readonly KernelRow[]): Map<string, KernelRow> {
  const best = new Map<string, KernelRow>();
  for (const row of rows) {
    const known = best.get(rowKey(row));
    if (known === undefined || (row.time_mean_ns ?? Infinity) < (known.time_mean_ns ?? Infinity))
      best.set(rowKey(row), row);
  }
  return best;
}

const rowKey = (row: KernelRow): string =>
  [row.kernel, row.dtype, ...kernelSizes.map((name) => row[name] ?? ''), row.options ?? ''].join('|');

const stepKey = ({ kernel, dtype, sizes: own, options }: StepKernel): string =>
  [kernel, dtype, ...kernelSizes.map((name) => own[name] ?? ''), options ?? ''].join('|');

type Place = Pick<StepPrediction, 'device' | 'device_name' | 'session'>;

function predicted(step: KernelStep, best: ReadonlyMap<string, KernelRow>, place: Place): StepPrediction {
  const found = step.kernels.map((kernel) => ({ kernel, row: best.get(stepKey(kernel)) ?? null }));
  const total = (of: (row: KernelRow) => number | null): number | null =>
    found.reduce<number | null>((sum, { kernel, row }) => {
      const value = row === null ? null : of(row);
      return sum === null || value === null ? null : sum + kernel.launches * value;
    }, 0);
  const known_ns = found.reduce(
    (sum, { kernel, row }) => sum + kernel.launches * (row?.time_mean_ns ?? 0),
    0,
  );
  const time_ns = total(meanOf);
  const energy_j = total((row) => row.energy_gross_j);
  const tokens = step.phase === 'decode' ? step.batch : null;
  const provenances = new Set(found.map(({ row }) => row?.energy_provenance ?? null));
  const [provenance = null] = provenances.size === 1 ? provenances : [];
  return {
    step,
    ...place,
    kernels: found.map(({ kernel, row }) => predictedKernel(kernel, row, known_ns)),
    time_ns,
    lo_ns: total((row) => row.time_lo_ns ?? row.time_mean_ns),
    hi_ns: total((row) => row.time_hi_ns ?? row.time_mean_ns),
    tokens_per_s: tokens === null || time_ns === null || time_ns === 0 ? null : (tokens / time_ns) * 1e9,
    energy_j,
    energy_per_token_j: tokens === null || energy_j === null ? null : energy_j / tokens,
    energy_provenance: energy_j === null ? null : provenance,
  };
}

const meanOf = (row: KernelRow): number | null => row.time_mean_ns;

function predictedKernel(kernel: StepKernel, row: KernelRow | null, known_ns: number): PredictedKernel {
  const times = (value: number | null | undefined): number | null =>
    value === null || value === undefined ? null : kernel.launches * value;
  const time_ns = times(row?.time_mean_ns);
  return {
    kernel,
    implementation: row?.implementation ?? null,
    time_ns,
    lo_ns: times(row?.time_lo_ns),
    hi_ns: times(row?.time_hi_ns),
    energy_j: times(row?.energy_gross_j),
    share: time_ns === null || known_ns === 0 ? null : time_ns / known_ns,
  };
}
