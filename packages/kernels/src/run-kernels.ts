import { CONVENTION, kernelCounts } from './kernel-counts.js';
import { type KernelOutcome, outcomeOf } from './kernel-outcome.js';
import { askProcess, type KernelProcessEnd, type KernelProcessOptions } from './kernel-process.js';
import type { KernelSpec } from './kernel-spec.js';
import {
  type EnergyOptions,
  type KernelCell,
  type KernelEvent,
  type PowerPlace,
  PROTOCOL_VERSION,
  type TimingOptions,
} from './protocol.js';

/** Kernels to run on one device. */
export interface KernelJob {
  readonly device: string;
  readonly specs: readonly KernelSpec[];
  /** Whether outputs are only compared with their references. */
  readonly check_only: boolean;
  readonly timing: TimingOptions;
  /** How energy is measured; null where it isn't. */
  readonly energy: EnergyOptions | null;
  readonly power: PowerPlace;
  /** Threads of the processor's kernels; null for all that there are. */
  readonly threads: number | null;
}

export interface RunKernelsOptions extends Omit<KernelProcessOptions, 'onEvent'> {
  /** Told of each outcome as it comes, in the order of the specs. */
  readonly onOutcome: (spec: KernelSpec, outcome: KernelOutcome) => void;
  /** Told what is being done. */
  readonly onProgress?: (progress: KernelProgress) => void;
}

/** What is being done. */
export interface KernelProgress {
  /** Place among the specs, from 0. */
  readonly index: number;
  readonly spec: KernelSpec;
  readonly implementation: string;
  readonly phase: string;
}

/** Where a job stands. */
interface Standing {
  index: number;
  /** The implementation at work; null between two. */
  implementation: string | null;
  /** Implementations of the cell at `index` that are over. */
  over: string[];
  /** Whether anything was started since the process began. */
  started: boolean;
  /** Whether the device was lost: nothing works on it until another process opens it. */
  lost: boolean;
  /** Why the device could not be used at all. */
  refusal: { readonly error_code: string; readonly reason: string } | null;
}

const nothingYet = { index: 0, implementation: null, started: false, lost: false, refusal: null } as const;

/**
 * Runs every implementation of every spec on one device, in a process that is replaced when it crashes or hangs: that makes
 * the implementation at work a row with its reason, and the next goes on; so too after a row whose device was lost. A device that can't be opened, or whose process ends
 * before it has begun anything, gives each spec left such a row. An interrupted job ends at once.
 */
export async function runKernels(job: KernelJob, options: RunKernelsOptions): Promise<void> {
  const standing: Standing = { ...nothingYet, over: [] };
  while (standing.index < job.specs.length) {
    standing.started = false;
    standing.lost = false;
    standing.implementation = null;
    const end = await askProcess(
      { kind: 'run', version: PROTOCOL_VERSION, ...withCells(job, standing) },
      { ...options, onEvent: (event) => take(event, { job, standing, options }) },
    );
    const replaced = standing.lost && end.how === 'ended';
    if (!replaced && !goesOn(end, { job, standing, options })) return;
  }
}

/** Makes the row of what was lost with its process, or those of all that is left; says whether there is anything to go on with. */
function goesOn(end: KernelProcessEnd, { job, standing, options: { onOutcome } }: Taking): boolean {
  const spec = job.specs[standing.index];
  if (spec === undefined) return false;
  onOutcome(spec, lostOutcome(spec, end, standing));
  if (end.how === 'interrupted') return false;
  if (standing.refusal !== null || !standing.started) {
    for (const left of job.specs.slice(standing.index + 1)) onOutcome(left, lostOutcome(left, end, standing));
    return false;
  }
  goOn(standing);
  return true;
}

function withCells({ specs, ...job }: KernelJob, { index, over }: Standing) {
  const cells: KernelCell[] = specs
    .slice(index)
    .map((spec, i) => ({ index: index + i, spec, skip: i === 0 ? [...over] : [] }));
  return { ...job, cells };
}

/** Leaves the implementation at work behind; where none was, or it was to be left out already, the whole spec. */
function goOn(standing: Standing): void {
  const { implementation, over } = standing;
  if (implementation === null || over.includes(implementation)) nextSpec(standing);
  else over.push(implementation);
}

/** An implementation is over. One that lost its device again, although it was to be left out, takes the whole spec with it. */
function leaveBehind(standing: Standing, { implementation, error_code }: KernelOutcome): void {
  const over = standing.implementation ?? implementation;
  const again = standing.over.includes(over);
  standing.over.push(over);
  standing.implementation = null;
  standing.lost = error_code === 'KERNEL_DEVICE_LOST';
  if (standing.lost && again) nextSpec(standing);
}

function nextSpec(standing: Standing): void {
  standing.index += 1;
  standing.over = [];
  standing.implementation = null;
}

interface Taking {
  readonly job: KernelJob;
  readonly standing: Standing;
  readonly options: RunKernelsOptions;
}

function take(event: KernelEvent, { job, standing, options }: Taking): void {
  const spec = job.specs[standing.index];
  switch (event.event) {
    case 'start':
      standing.started = true;
      standing.implementation = event.implementation;
      return;
    case 'phase': {
      const { index, implementation } = standing;
      if (spec !== undefined)
        options.onProgress?.({ index, spec, implementation: implementation ?? '', phase: event.phase });
      return;
    }
    case 'result': {
      const outcome = outcomeOf(event);
      standing.started = true;
      if (spec !== undefined) options.onOutcome(spec, outcome);
      leaveBehind(standing, outcome);
      return;
    }
    case 'end':
      standing.started = true;
      nextSpec(standing);
      return;
    case 'failed':
      standing.refusal = { error_code: event.error_code, reason: event.reason };
      return;
    default:
  }
}

/** The row of what was lost with its process. */
function lostOutcome(
  spec: KernelSpec,
  { how, reason }: KernelProcessEnd,
  { refusal, implementation }: Standing,
): KernelOutcome {
  const status = refusal !== null || how === 'ended' ? 'failed' : how;
  const codes = {
    failed: null,
    crashed: 'KERNEL_KILLED',
    timed_out: 'KERNEL_TIMEOUT',
    interrupted: null,
  } as const;
  return {
    implementation: implementation ?? 'none',
    portable: null,
    ...kernelCounts(spec),
    convention: CONVENTION,
    start_ns: null,
    end_ns: null,
    time: null,
    cold: null,
    cold_reason: 'the kernel was not timed',
    energy: null,
    energy_reason: 'the kernel was not measured',
    error_ratio: null,
    tolerance_ratio: null,
    flags: [],
    status,
    error_code: refusal?.error_code ?? codes[status],
    reason: refusal?.reason ?? reason ?? 'its process ended without a result',
  };
}
