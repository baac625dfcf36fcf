import {
  checkSpecs,
  type KernelDevice,
  type KernelOutcome,
  type KernelSpec,
  runKernels,
  specText,
} from '@perwatt/kernels';
import { Command, Option } from 'commander';
import type { Io } from '../io.js';
import { whole } from '../number-options.js';
import { powerPlace } from '../power-place.js';
import { textTable } from '../text-table.js';
import { type ChoiceFlags, choiceOf, withChoice } from './kernels-flags.js';
import { absentLines } from './kernels-list.js';
import { progressOn } from './kernels-run.js';
import { chosenDevices, devicesNow } from './kernels-session.js';
import { interruptible, type KernelsWorld, readyKernelRunners } from './kernels-world.js';

interface SelftestFlags extends ChoiceFlags {
  readonly seed?: number;
}

/** One kernel of one device, compared. */
interface Checked {
  readonly device: string;
  readonly spec: KernelSpec;
  readonly outcome: KernelOutcome;
}

const WIDTH = 140;

const help = `
Every kernel in every type that a device has is run once on fresh random inputs and compared with a reference in double
precision; nothing is timed. Software drivers are tested too. The seed is printed: with --seed the same inputs come again.

Examples:
  perwatt kernels selftest
  perwatt kernels selftest --device cpu:0 --kernel gemm --json

Exit codes: 0 all right, 1 when a kernel was wrong, failed, crashed or timed out, 130 interrupted.`;

/** `perwatt kernels selftest`: whether kernels compute what they should here. */
export const kernelsSelftestCommand = (io: Io, world: KernelsWorld): Command =>
  withChoice(new Command('selftest').description('Compare every kernel on every device with its reference'))
    .addOption(
      new Option('--seed <n>', 'seed of the inputs; default: a fresh one').argParser(whole(0, 2 ** 31 - 1)),
    )
    .addHelpText('after', help)
    .action((flags: SelftestFlags) => interruptible(io, () => selftest(flags, io, world)));

async function selftest(flags: SelftestFlags, io: Io, world: KernelsWorld): Promise<void> {
  await readyKernelRunners(io, world);
  const seed = flags.seed ?? world.freshSeed();
  const specs = checkSpecs(choiceOf(flags), seed);
  const found = await devicesNow([], { deadline_ms: flags.deadline }, { io, world, signal: io.signal });
  io.signal.throwIfAborted();
  const every = flags.device ?? found.devices.map(({ device: { id } }) => id);
  const checked: Checked[] = [];
  for (const { device } of chosenDevices(found, every))
    checked.push(...(await checkDevice(device, specs, { io, world, flags })));
  io.signal.throwIfAborted();
  if (flags.json) io.print(JSON.stringify(document(seed, checked, found.absent), null, 2));
  else
    for (const line of [...lines(checked, io), ...absentLines(found.absent), `seed ${seed}`]) io.print(line);
  if (checked.some(({ outcome: { status } }) => status !== 'ok' && status !== 'unsupported'))
    io.setExitCode(1);
}

interface Checking {
  readonly io: Io;
  readonly world: KernelsWorld;
  readonly flags: SelftestFlags;
}

async function checkDevice(
  device: KernelDevice,
  specs: readonly KernelSpec[],
  { io, world, flags }: Checking,
): Promise<Checked[]> {
  const checked: Checked[] = [];
  const show = flags.json ? () => {} : progressOn(io);
  await runKernels(
    {
      device: device.id,
      specs,
      check_only: true,
      timing: { most_ns: 1e9, deviation_ratio: 0.05 },
      energy: null,
      power: powerPlace(io),
      threads: null,
    },
    {
      program: world.program(),
      env: io.env,
      deadline_ms: flags.deadline,
      signal: io.signal,
      onOutcome: (spec, outcome) => void checked.push({ device: device.id, spec, outcome }),
      onProgress: ({ index }) => show(`${device.id}: ${index + 1} of ${specs.length}`),
    },
  );
  if (io.columns !== null && !flags.json) io.draw('\r\u001b[K');
  return checked;
}

const document = (seed: number, checked: readonly Checked[], absent: readonly unknown[]) => ({
  seed,
  absent,
  checks: checked.map(({ device, spec, outcome }) => ({
    device,
    spec,
    implementation: outcome.implementation,
    status: outcome.status,
    error_ratio: outcome.error_ratio,
    tolerance_ratio: outcome.tolerance_ratio,
    error_code: outcome.error_code,
    reason: outcome.reason,
  })),
});

function lines(checked: readonly Checked[], io: Io): string[] {
  const columns = ['device', 'kernel', 'implementation', 'error', 'at most', 'status'].map((name, i) => ({
    name,
    right: i === 3 || i === 4,
  }));
  const cells = checked
    .filter(({ outcome }) => outcome.status !== 'unsupported')
    .map(({ device, spec, outcome: { implementation, error_ratio, tolerance_ratio, status, reason } }) => [
      device,
      specText(spec),
      implementation,
      error_ratio === null ? '–' : error_ratio.toExponential(1),
      tolerance_ratio === null ? '–' : String(tolerance_ratio),
      status === 'ok' ? status : `${status}: ${reason ?? ''}`,
    ]);
  const right = checked.filter(({ outcome }) => outcome.status === 'ok').length;
  const missing = checked.length - cells.length;
  return [
    ...(cells.length === 0 ? [] : textTable(columns, cells, io.columns ?? WIDTH)),
    `${right} right, ${cells.length - right} not, ${missing} that a device has not`,
  ];
}
