import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { PerwattError, SCHEMA_VERSION } from '@perwatt/core';
import { createTrainingRun, openTrainingRun, type TrainingFacts, type TrainingRun } from '@perwatt/records';
import { accountTraining } from '@perwatt/reports';
import { Command } from 'commander';
import type { Io } from '../io.js';
import { atLeast, whole } from '../number-options.js';
import { startTrainDisplay } from '../train-display.js';
import { isMatrixPath, parseSets, trainingFacts, trainingsOf } from '../train-plan.js';
import { trainRun, writeItems, writeModels } from '../train-session.js';
import { accountJson, accountLines } from '../train-text.js';
import { type MakeDeps, readMatrix } from './run.js';
import { trainCompareCommand } from './train-compare.js';
import { trainListCommand } from './train-list.js';
import { trainReportCommand } from './train-report.js';
import { trainShowCommand } from './train-show.js';

interface Flags {
  readonly seeds: number;
  readonly set?: readonly string[];
  readonly out: string;
  readonly name?: string;
  readonly threads?: number;
  readonly power?: string;
  readonly idle: number;
  readonly resume?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

const examples = `
A recipe trains a small real policy with power sampled all the while: joules, tokens and environment actions of every step
go to a run folder, with checkpoints to go on from and to serve. Several recipes go into one run by the \`train\` section
of a matrix file.

Examples:
  perwatt train list
  perwatt train ovcsd --seeds 4
  perwatt train selfcest --set iterations=100 --set gate=off --name no-gate
  perwatt train examples/training.yaml
  perwatt train --resume runs/20261130-101500Z-train-ovcsd
  perwatt train show runs/20261130-101500Z-train-ovcsd
  perwatt train report runs/20261130-101500Z-train-ovcsd --to /tmp/curves
  perwatt train compare runs/a:grpo runs/a:ovcsd
  perwatt train report runs/a runs/b --to /tmp/page

A training ends with exit code 0 when every seed reached its last step, 130 after Ctrl-C.`;

const collect = (value: string, before: readonly string[] = []) => [...before, value];

/** `perwatt train`: trains recipes, and tells what a point of accuracy cost. */
export const trainCommand = (
  io: Io,
  parts: { readonly makeDeps: MakeDeps; readonly version: string },
): Command =>
  new Command('train')
    .description('Train a recipe with power sampled all the while: what a point of accuracy costs, in joules')
    .argument('[recipe]', 'recipe that `perwatt train list` shows, or a matrix file with a `train` section')
    .option('--seeds <n>', 'seeds to train, from 0', whole(1, 1000), 4)
    .option('--set <key=value>', 'parameter of the recipe; may be given several times', collect)
    .option('--out <dir>', 'folder that run folders are made in', 'runs')
    .option('--name <name>', 'name of the run folder; default: the time and the recipe')
    .option('--threads <n>', 'seeds trained side by side; results do not depend on it', whole(1, 256))
    .option('--power <sources>', '`none`, or names of power sources separated by commas')
    .option(
      '--idle <seconds>',
      'metering of the idle host before and after, for net energy; 0 for none',
      atLeast(0),
      3,
    )
    .option('--resume <run>', 'go on with this training from its last checkpoints')
    .option('--json', 'print the account as JSON')
    .option('--quiet', 'no progress display')
    .addHelpText('after', examples)
    .addCommand(trainListCommand(io))
    .addCommand(trainShowCommand(io))
    .addCommand(trainCompareCommand(io))
    .addCommand(trainReportCommand(io))
    .action(async (recipe: string | undefined, flags: Flags, self: Command) => {
      if (flags.resume !== undefined) refuseWithResume(self);
      const { run, sources } = runOf(recipe, flags, { io, ...parts });
      await train(run, { io, flags, sources, deps: parts.makeDeps({ base: io.cwd, fetch: false }) });
    });

/** What belongs to a new training only. */
const ofNewRuns = ['set', 'seeds', 'name', 'out'] as const;

/** A training goes on as it began: nothing of it can be told anew. */
function refuseWithResume(self: Command): void {
  const told = ofNewRuns.find((name) => self.getOptionValueSource(name) === 'cli');
  if (told === undefined) return;
  throw new PerwattError('USAGE', `--${told} cannot be combined with --resume`, {
    hint: 'A training goes on with the parameters and seeds that it began with; start another one for others.',
  });
}

interface Opening {
  readonly io: Io;
  readonly makeDeps: MakeDeps;
  readonly version: string;
}

/** The run to work on, with the power sources it asks for. */
function runOf(recipe: string | undefined, flags: Flags, opening: Opening) {
  const { io } = opening;
  const named = flags.power === 'none' ? [] : flags.power?.split(',');
  if (flags.resume !== undefined) {
    if (recipe !== undefined) throw new PerwattError('USAGE', 'a recipe cannot be combined with --resume');
    return { run: openTrainingRun(resolve(io.cwd, flags.resume)), sources: named };
  }
  if (recipe === undefined) throw new PerwattError('USAGE', 'no recipe was given');
  if (!isMatrixPath(recipe)) {
    const set = parseSets(flags.set ?? []);
    return {
      run: newRun([trainingFacts({ recipe, seeds: flags.seeds, set })], flags, opening),
      sources: named,
    };
  }
  if (flags.set !== undefined)
    throw new PerwattError('USAGE', '--set belongs to a recipe; a matrix file sets its own parameters');
  const matrix = readMatrix(recipe, {}, io);
  const run = newRun(trainingsOf(matrix), { ...flags, name: flags.name ?? matrix.name }, opening);
  return { run, sources: named ?? matrix.power?.sources };
}

function newRun(
  trainings: readonly TrainingFacts[],
  flags: Flags,
  { io, makeDeps, version }: Opening,
): TrainingRun {
  const deps = makeDeps({ base: io.cwd, fetch: false });
  const stamp = io.wallTime().toISOString().replaceAll(/[-:]/g, '').replace('T', '-').slice(0, 15);
  const run_id = flags.name ?? `${stamp}Z-train-${trainings.map(({ name }) => name).join('+')}`;
  const run = createTrainingRun(join(resolve(io.cwd, flags.out), run_id), {
    schema_version: SCHEMA_VERSION,
    kind: 'training',
    run_id,
    perwatt_version: version,
    status: 'running',
    trainings,
    host: deps.hostFacts(),
    clocks: [],
    power: [],
    boundary: null,
    sittings: [],
    segments: [],
  });
  writeItems(run, { count: 200 });
  return run;
}

interface Training {
  readonly io: Io;
  readonly flags: Flags;
  readonly sources: readonly string[] | undefined;
  readonly deps: ReturnType<MakeDeps>;
}

async function train(run: TrainingRun, { io, flags, sources, deps }: Training): Promise<void> {
  const release = run.lock();
  const display = startTrainDisplay(io, flags.quiet === true);
  if (flags.quiet !== true) io.printError(`training ${run.path}`);
  const threads = flags.threads ?? Math.max(1, availableParallelism() - 1);
  try {
    const status = await trainRun(run, {
      io,
      deps,
      threads,
      sources,
      period_ms: undefined,
      idle_ms: 1000 * flags.idle,
      onProgress: display.tell,
    }).finally(() => display.stop());
    writeModels(run);
    const report = accountTraining(run.path);
    if (flags.json === true) io.print(JSON.stringify(accountJson(report), null, 2));
    else for (const line of accountLines(report)) io.print(line);
    if (status === 'done') return;
    io.printError(`interrupted; go on with: perwatt train --resume ${run.path}`);
    io.setExitCode(130);
  } finally {
    release();
  }
}
