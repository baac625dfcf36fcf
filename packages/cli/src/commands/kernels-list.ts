import { type AbsentBackend, checkSpecs, type FoundDevice, type KernelDevice } from '@perwatt/kernels';
import { formatNumber } from '@perwatt/reports';
import { Command } from 'commander';
import type { Io } from '../io.js';
import { type ChoiceFlags, choiceOf, withChoice } from './kernels-flags.js';
import { chosenDevices, devicesNow } from './kernels-session.js';
import { interruptible, type KernelsWorld, readyKernelRunners } from './kernels-world.js';

const examples = `
Examples:
  perwatt kernels list
  perwatt kernels list --kernel gemm --json`;

/** `perwatt kernels list`: devices, what they run, and what stands in the way of the others. */
export const kernelsListCommand = (io: Io, world: KernelsWorld): Command =>
  withChoice(
    new Command('list').description('Show the devices that kernels can run on here, and what each has'),
  )
    .addHelpText('after', examples)
    .action((flags: ChoiceFlags) => interruptible(io, () => list(flags, io, world)));

async function list(flags: ChoiceFlags, io: Io, world: KernelsWorld): Promise<void> {
  await readyKernelRunners(io, world);
  const context = { io, world, signal: io.signal };
  const found = await devicesNow(checkSpecs(choiceOf(flags), 0), { deadline_ms: flags.deadline }, context);
  io.signal.throwIfAborted();
  const devices = flags.device === undefined ? found.devices : chosenDevices(found, flags.device);
  if (flags.json) io.print(JSON.stringify({ devices, absent: found.absent }, null, 2));
  else for (const line of [...devices.flatMap(deviceLines), ...absentLines(found.absent)]) io.print(line);
}

function deviceLines({ device, supports }: FoundDevice): string[] {
  const kinds = [...new Set(supports.map(({ spec }) => spec.kind))];
  const lines = kinds.map((kind) => {
    const own = supports.filter(({ spec }) => spec.kind === kind);
    const types = [...new Set(own.map(({ spec }) => spec.dtype))].map((dtype) => {
      const has = own
        .filter(({ spec }) => spec.dtype === dtype)
        .flatMap(({ implementations }) => implementations);
      return has.length === 0 ? `no ${dtype}` : `${dtype} (${[...new Set(has.map(shortId))].join(', ')})`;
    });
    return `  ${kind.padEnd(14)} ${types.join(', ')}`;
  });
  return [
    `${device.id}  ${device.name}  ${factsText(device)}`,
    ...device.notes.map((note) => `  ${note}`),
    ...lines,
    '',
  ];
}

/** An implementation without its backend and details. */
const shortId = (id: string): string => id.replace(/^[^/]*\//, '').replace(/\{.*$/, '');

function factsText({ kind, driver, memory_bytes, last_level_cache_bytes }: KernelDevice): string {
  const gib = (bytes: number) => formatNumber(bytes / 2 ** 30);
  return [
    kind === 'software'
      ? 'software driver: right, and no measure of any accelerator'
      : kind.replaceAll('_', ' '),
    ...(driver === null ? [] : [driver]),
    ...(memory_bytes === null ? [] : [`${gib(memory_bytes)} GiB`]),
    ...(last_level_cache_bytes === null
      ? []
      : [`cache ${formatNumber(last_level_cache_bytes / 2 ** 20)} MiB`]),
  ].join(', ');
}

export const absentLines = (absent: readonly AbsentBackend[]): string[] =>
  absent.map(({ backend, reason }) => `not here: ${backend}: ${reason}`);
