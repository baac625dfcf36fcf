import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type KernelRow, PerwattError } from '@perwatt/core';
import { type KernelSpec, usualSpecs } from '@perwatt/kernels';
import { hasKernels } from '@perwatt/records';
import { predictSteps } from '@perwatt/reports';
import { Command, Option } from 'commander';
import { parseDuration } from '../duration.js';
import type { Io } from '../io.js';
import { whole } from '../number-options.js';
import { catalogueWith } from '../open-comparable.js';
import { fitLines } from './kernels-fit-text.js';
import {
  type ChoiceFlags,
  choiceOf,
  type ModelFlags,
  type NamedStep,
  specList,
  stepsOf,
  withChoice,
  withModels,
} from './kernels-flags.js';
import { runKernelSession, type SessionOutcome, type SessionPlan } from './kernels-session.js';
import { predictionLines, rowJson, rowLines } from './kernels-text.js';
import { interruptible, type KernelsWorld, readyKernelRunners } from './kernels-world.js';

interface RunFlags extends ChoiceFlags, ModelFlags {
  readonly spec?: readonly KernelSpec[];
  readonly time: number;
  readonly sweep?: boolean;
  readonly energy?: boolean;
  readonly windows: number;
  readonly threads?: number;
  readonly out: string;
  readonly run?: string;
  readonly quiet?: boolean;
}

const WIDTH = 160;

const examples = `
Every kernel is compared with a reference in double precision before and after it is timed; one that is wrong has no time.
The ceilings of each device (copy, triad, a square GEMM of each type) are measured first. A driver that hangs or crashes makes
a row with its reason, and the rest goes on. Energy is that of a counter of the device; without one there is none.

Without --model, --spec or --sweep, every kernel runs at a usual shape. With --model, the kernels of its steps, and what they add up
to. With --sweep, one vector read and written with 1 to 256 multiply-adds of each element in between, in f32 or the types of --dtype;
with --energy too, its joules are split into per FLOP, per byte and per second by a fit, which \`perwatt kernels fit\` shows again.

Examples:
  perwatt kernels run --kernel gemv,int4_gemv --dtype f16
  perwatt kernels run --model qwen3-8b --batch 1,8,64 --context 1k,8k --weights bf16 --energy
  perwatt kernels run --spec "gemm bf16 m=8192 n=8192 k=8192" --device cuda:0 --time 5s
  perwatt kernels run --run runs/<id> --model smollm2-135m --weights int8
  perwatt kernels run --sweep --energy --device cpu:0

Exit codes: 0 done, 1 when a kernel was wrong, failed, crashed or timed out, 130 interrupted.`;

/** `perwatt kernels run`: times kernels, and meters them. */
export const kernelsRunCommand = (io: Io, world: KernelsWorld): Command =>
  withModels(
    withChoice(
      new Command('run').description('Time kernels against the measured roofline, and measure their energy'),
    ),
  )
    .option(
      '--spec <kernel>',
      'a kernel by hand, "gemm bf16 m=1024 n=1024 k=1024"; may be given several times',
      specList,
    )
    .addOption(
      new Option('--time <time>', 'most time in timed batches of one implementation')
        .argParser(parseDuration)
        .default(2000, '2s'),
    )
    .option('--sweep', 'run a sweep over FLOP per byte: twelve intensities of each type')
    .option('--energy', 'measure energy too: half a minute for each implementation')
    .addOption(new Option('--windows <n>', 'windows of energy').argParser(whole(2, 100)).default(3))
    .addOption(
      new Option('--threads <n>', "threads of the processor's kernels; default: all").argParser(
        whole(1, 4096),
      ),
    )
    .option('--out <dir>', 'folder that session folders are made in', 'runs')
    .option('--run <folder>', 'keep the rows in this run or session folder')
    .option('--quiet', 'no progress')
    .addHelpText('after', examples)
    .action((flags: RunFlags) => interruptible(io, () => run(flags, io, world)));

async function run(flags: RunFlags, io: Io, world: KernelsWorld): Promise<void> {
  const steps = stepsOf(flags, {
    catalogue: catalogueWith(flags.catalogue, io.cwd),
    alsoCalled: (name) => [world.weightFile(name) ?? []].flat(),
  });
  await readyKernelRunners(io, world);
  const folder = folderOf(flags, io);
  const plan: SessionPlan = {
    devices: flags.device,
    specs: specsOf(flags, steps, world),
    sweep: sweepTypes(flags),
    steps,
    phase: 'alone',
    folder,
    timing: { most_ns: flags.time * 1e6, deviation_ratio: 0.005 },
    energy: flags.energy ? { windows: flags.windows, least_ns: 5e9 } : null,
    deadline_ms: flags.deadline,
    threads: flags.threads ?? null,
  };
  const onProgress = flags.quiet ? () => {} : progressOn(io);
  try {
    const outcome = await runKernelSession(plan, { io, world, signal: io.signal, onProgress });
    if (io.columns !== null && !flags.quiet) io.draw('\r\u001b[K');
    conclude(outcome, folder, { io, flags });
  } catch (error) {
    if (io.signal.aborted)
      io.printError(`interrupted; what was measured is kept in ${join(folder, 'kernels')}`);
    throw error;
  }
}

/** Kernels that are wanted beside those of models. */
function specsOf(flags: RunFlags, steps: readonly NamedStep[], { freshSeed }: KernelsWorld): KernelSpec[] {
  const own = flags.spec ?? [];
  const chosen = flags.kernel !== undefined || (flags.dtype !== undefined && !flags.sweep);
  if (!chosen && (flags.sweep || own.length + steps.length > 0)) return [...own];
  return [...own, ...usualSpecs(choiceOf(flags), freshSeed())];
}

const sweepable: readonly string[] = ['f32', 'f16', 'bf16'];

/** Types of the sweep. Throws `USAGE` for one that it doesn't exist in. */
function sweepTypes({ sweep, dtype = ['f32'] }: RunFlags): KernelSpec['dtype'][] {
  if (!sweep) return [];
  const stranger = dtype.find((type) => !sweepable.includes(type));
  if (stranger === undefined) return [...dtype];
  throw new PerwattError('USAGE', `there is no sweep in ${stranger}`, {
    hint: `Give \`--dtype\` of ${sweepable.join(', ')}.`,
  });
}

/** The folder that the rows go to: one that is named, or a new one. */
function folderOf({ run, out }: RunFlags, io: Io): string {
  if (run !== undefined) return resolve(io.cwd, run);
  const stamp = io.wallTime().toISOString().replaceAll(/[-:]/g, '').replace(/\..*/, 'Z').replace('T', '-');
  const wanted = resolve(io.cwd, out, `${stamp}-kernels`);
  let folder = wanted;
  for (let i = 2; existsSync(folder) && hasKernels(folder); i++) folder = `${wanted}-${i}`;
  return folder;
}

/** One line that is drawn anew on a terminal; else one line a kernel. */
export function progressOn(io: Pick<Io, 'columns' | 'draw' | 'printError'>): (text: string) => void {
  const { columns } = io;
  if (columns !== null) return (text) => io.draw(`\r\u001b[K${text.slice(0, columns - 1)}`);
  let last = '';
  return (text) => {
    const [kernel = ''] = text.split(': ');
    if (kernel !== last) io.printError(text);
    last = kernel;
  };
}

function conclude(
  { rows, steps, session, devices, fits }: SessionOutcome,
  folder: string,
  { io, flags }: { readonly io: Io; readonly flags: RunFlags },
): void {
  const predictions = predictSteps(steps, rows, session);
  if (flags.json) {
    const absent = devices.absent;
    io.print(
      JSON.stringify({ folder, session, absent, rows: rows.map(rowJson), predictions, fits }, null, 2),
    );
  } else {
    for (const line of rowLines(rows, io.columns ?? WIDTH)) io.print(line);
    for (const line of [...predictionLines(predictions), ...fitLines(fits)]) io.print(line);
    io.print(`kept in ${join(folder, 'kernels')}`);
  }
  if (rows.some(isTrouble)) io.setExitCode(1);
}

/** Whether a row is a failure of something that should have worked. */
export const isTrouble = ({ status }: KernelRow): boolean => status !== 'ok' && status !== 'unsupported';
