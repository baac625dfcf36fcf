import { type KernelRow, PerwattError } from '@perwatt/core';
import {
  ceilingSpecs,
  ceilingsOf,
  type DeviceCeilings,
  type EnergyOptions,
  type FoundDevice,
  type KernelDevice,
  type KernelDevices,
  type KernelOutcome,
  type KernelSpec,
  kernelRow,
  listDevices,
  modelKernels,
  optionsText,
  type RanKernel,
  runKernels,
  sizesOf,
  specText,
  sweepSpecs,
  type TimingOptions,
} from '@perwatt/kernels';
import { type KernelFit, type KernelStep, type KernelWriter, openKernelSession } from '@perwatt/records';
import { energyFits } from '@perwatt/reports';
import type { Io } from '../io.js';
import { powerPlace } from '../power-place.js';
import type { NamedStep } from './kernels-flags.js';
import type { KernelsWorld } from './kernels-world.js';

/** Kernels to run and to keep. */
export interface SessionPlan {
  /** Ids; all that are no software drivers where left out. */
  readonly devices: readonly string[] | undefined;
  /** Kernels of the session beside those of its steps, and the ceilings. */
  readonly specs: readonly KernelSpec[];
  /** Types that the sweep over intensities is run in; none for no sweep. */
  readonly sweep: readonly KernelSpec['dtype'][];
  readonly steps: readonly NamedStep[];
  readonly phase: 'alone' | 'before' | 'after';
  /** Folder that the rows go to. */
  readonly folder: string;
  readonly timing: TimingOptions;
  readonly energy: EnergyOptions | null;
  readonly deadline_ms: number;
  /** Threads of the processor's kernels; null for all that there are. */
  readonly threads: number | null;
}

export interface SessionContext {
  readonly io: Pick<Io, 'env' | 'wallTime'>;
  readonly world: KernelsWorld;
  readonly signal: AbortSignal;
  /** Told what is being run. */
  readonly onProgress: (text: string) => void;
}

/** What a session gave. */
export interface SessionOutcome {
  readonly session: number;
  readonly devices: KernelDevices;
  readonly rows: readonly KernelRow[];
  readonly steps: readonly KernelStep[];
  /** Fits of the sweep, a device and type each. */
  readonly fits: readonly KernelFit[];
}

/** Devices and backends as they are now, with what each device does with `specs`. */
export function devicesNow(
  specs: readonly KernelSpec[],
  { deadline_ms }: Pick<SessionPlan, 'deadline_ms'>,
  { io, world, signal }: Pick<SessionContext, 'io' | 'world' | 'signal'>,
): Promise<KernelDevices> {
  return listDevices(specs, { program: world.program(), env: io.env, deadline_ms, signal });
}

/** Those of the devices that are asked for. Throws `INPUT_INVALID` for an id that none has, or where there is none. */
export function chosenDevices(
  { devices, absent }: KernelDevices,
  ids: readonly string[] | undefined,
): FoundDevice[] {
  const known = devices.map(({ device: { id } }) => id);
  const stranger = ids?.find((id) => !known.includes(id));
  if (stranger !== undefined) {
    const [wanted] = stranger.split(':');
    const why = absent.filter(({ backend }) => backend === wanted || backend === 'all');
    const reasons = why.map(({ backend, reason }) => `; ${backend}: ${reason}`).join('');
    throw new PerwattError(
      'INPUT_INVALID',
      `there is no device "${stranger}"; there is ${known.join(', ') || 'none'}${reasons}`,
    );
  }
  const chosen = devices.filter(({ device }) => ids?.includes(device.id) ?? device.kind !== 'software');
  if (chosen.length > 0) return chosen;
  const reasons = absent.map(({ backend, reason }) => `${backend}: ${reason}`).join('; ');
  throw new PerwattError(
    'INPUT_INVALID',
    `there is no device to run kernels on${reasons === '' ? '' : `: ${reasons}`}`,
  );
}

/**
 * Runs kernels on each device, the ceilings first, and keeps every row as soon as there is one. What goes wrong with a kernel is
 * a row. An interruption keeps what there is and is thrown on.
 */
export async function runKernelSession(plan: SessionPlan, context: SessionContext): Promise<SessionOutcome> {
  const { io, world } = context;
  const devices = await devicesNow([], plan, context);
  context.signal.throwIfAborted();
  const chosen = chosenDevices(devices, plan.devices);
  const steps = plan.steps.map(stepFacts);
  const writer = openKernelSession(plan.folder, {
    phase: plan.phase,
    perwatt_version: world.version,
    wall_time: io.wallTime().toISOString(),
    host: world.hostFacts(),
    devices: chosen.map(({ device }) => deviceFacts(device)),
    absent: devices.absent.map(({ backend, reason }) => ({ backend, reason })),
    steps,
  });
  const rows: KernelRow[] = [];
  try {
    const specs = distinct([
      ...plan.specs,
      ...plan.steps.flatMap((step) => modelKernels(step).map(({ spec }) => spec)),
    ]);
    for (const { device } of chosen) {
      const own = distinct([...specs, ...sweepSpecs(device, plan.sweep)]);
      await runOn(device, own, { plan, context, writer, rows });
    }
  } finally {
    const fits = energyFits(rows, writer.session);
    writer.close(context.signal.aborted ? 'interrupted' : 'done', fits);
  }
  return { session: writer.session, devices, rows, steps, fits: energyFits(rows, writer.session) };
}

interface Running {
  readonly plan: SessionPlan;
  readonly context: SessionContext;
  readonly writer: KernelWriter;
  readonly rows: KernelRow[];
}

/** Rows of the ceilings wait until all are known. Those of the others are written as they come. */
async function runOn(
  device: KernelDevice,
  specs: readonly KernelSpec[],
  { plan, context, writer, rows }: Running,
): Promise<void> {
  const ran: RanKernel[] = [];
  const { io, world, signal, onProgress } = context;
  const keep = (kernels: readonly RanKernel[], ceilings: readonly RanKernel[]) => {
    const made = kernels.map(({ spec, outcome }) =>
      kernelRow(spec, outcome, {
        run_id: writer.run_id,
        session: writer.session,
        phase: plan.phase,
        device,
        ceilings: ceilingsFor(spec, ceilings),
      }),
    );
    writer.append(made);
    rows.push(...made);
  };
  const run = (some: readonly KernelSpec[], onOutcome: (spec: KernelSpec, outcome: KernelOutcome) => void) =>
    runKernels(
      {
        device: device.id,
        specs: some,
        check_only: false,
        timing: plan.timing,
        energy: plan.energy,
        power: powerPlace(io),
        threads: plan.threads,
      },
      {
        program: world.program(),
        env: io.env,
        deadline_ms: plan.deadline_ms,
        signal,
        onOutcome,
        onProgress: ({ index, spec, implementation, phase }) =>
          onProgress(
            `${device.id} ${index + 1}/${some.length} ${specText(spec)}: ${implementation}, ${phase}`,
          ),
      },
    );
  const types = [...new Set(specs.map(({ dtype }) => dtype))];
  try {
    await run(ceilingSpecs(device, types), (spec, outcome) => void ran.push({ spec, outcome }));
  } finally {
    keep(ran, ran);
  }
  signal.throwIfAborted();
  const ceilings = new Set(ran.map(({ spec }) => specText(spec)));
  const others = specs.filter((spec) => !ceilings.has(specText(spec)));
  await run(others, (spec, outcome) => keep([{ spec, outcome }], ran));
  signal.throwIfAborted();
}

/** Ceilings of a kernel's type. Multiply-adds of a sweep compute in 32 bits whatever they read: no peak of another type is theirs. */
function ceilingsFor(spec: KernelSpec, ran: readonly RanKernel[]): DeviceCeilings {
  const found = ceilingsOf(ran, spec.dtype);
  return spec.kind === 'fma' && spec.dtype !== 'f32'
    ? { ...found, peak_flop_per_s: null, peak_implementation: null }
    : found;
}

const distinct = (specs: readonly KernelSpec[]): KernelSpec[] => [
  ...new Map(specs.map((spec) => [specText(spec), spec])).values(),
];

const deviceFacts = ({
  id,
  name,
  backend,
  kind,
  driver,
  memory_bytes,
  notes,
  environment,
}: KernelDevice) => ({
  id,
  name,
  backend,
  kind,
  driver,
  memory_bytes,
  notes,
  environment,
});

/** A step as the session keeps it. */
export function stepFacts(step: NamedStep): KernelStep {
  const { model, names, phase, batch, context, weights } = step;
  const kernels = modelKernels(step).map(({ spec, launches, parts }) => ({
    kernel: spec.kind,
    dtype: spec.dtype,
    sizes: Object.fromEntries(
      Object.entries(sizesOf(spec)).flatMap(([name, size]) => (size === null ? [] : [[name, size]])),
    ),
    options: optionsText(spec),
    launches,
    parts,
  }));
  return {
    model,
    names,
    phase,
    batch,
    context,
    weights: step.head_weights === undefined ? weights : `${weights}, head ${step.head_weights}`,
    activations: kernels.find(({ kernel }) => kernel === 'rms_norm')?.dtype ?? weights,
    kernels,
  };
}
