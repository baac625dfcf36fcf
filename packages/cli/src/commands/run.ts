import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import {
  type MatrixFile,
  matrixJsonSchema,
  messageOf,
  PerwattError,
  type PointAxis,
  pointAxes,
  systemCode,
} from '@perwatt/core';
import {
  estimatePlan,
  type Filter,
  type HarnessDeps,
  type Plan,
  parseMatrix,
  planMatrix,
  type RunOutcome,
  resumeRun,
  runPlan,
  type WattsNow,
} from '@perwatt/harness';
import { type CellFile, compactRun, openRun, type RunFolder, type RunManifest } from '@perwatt/records';
import { strategies } from '@perwatt/strategies';
import { Command } from 'commander';
import type { Io } from '../io.js';
import { placedMatrix } from '../placed-matrix.js';
import { cellLine, type Display, type PowerNow, pointText, spanText, startDisplay } from '../run-display.js';

/**
 * What a run is made of; built from the leaves by `world.ts`. `base` resolves relative paths of the matrix; without
 * `fetch` weights that are not here are known by their pins alone. With `simulate` in the matrix nothing of it is real.
 */
export type MakeDeps = (options: {
  readonly base: string;
  readonly fetch: boolean;
  readonly matrix?: MatrixFile;
}) => HarnessDeps;

interface RunFlags {
  readonly out: string;
  readonly resume?: string;
  readonly dryRun?: boolean;
  readonly filter?: readonly string[];
  readonly power?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly schema?: boolean;
  readonly report: boolean;
  readonly compact: boolean;
}

const examples = `
Examples:
  perwatt run examples/quickstart.yaml
  perwatt run matrix.yaml --dry-run
  perwatt run matrix.yaml --filter model=smollm2-135m --filter strategy=single
  perwatt run --resume runs/20261129-101500Z-quickstart

docs/matrix.md explains the keys that order, restrict and vary cells.

Strategies:
${strategies()
  .map(({ id, summary }) => `  ${id.padEnd(20)} ${summary}`)
  .join('\n')}

A run ends with exit code 0 when every cell was measured, 1 when a cell or more than 5 % of its queries failed or it was
skipped because what serves it kept failing, 130 after Ctrl-C.`;

/** `perwatt run`: executes a matrix, or goes on with one. */
export const runCommand = (io: Io, makeDeps: MakeDeps): Command =>
  new Command('run')
    .description('Run a benchmark matrix with power sampled all the while, then write its report')
    .argument('[matrix]', 'YAML file that names the matrix')
    .option('--out <dir>', 'folder that run folders are made in', 'runs')
    .option('--resume <run>', 'go on with this run folder: skip what is done, settle what a crash left open')
    .option('--dry-run', 'print the cells and an estimate, run nothing')
    .option('--filter <axis=value>', 'keep only these cells; may be given several times', collect)
    .option('--power <sources>', '`none`, or names of power sources separated by commas')
    .option('--no-report', 'leave the report out')
    .option('--no-compact', 'keep no Parquet copy of the tables')
    .option('--schema', 'print the JSON Schema of the matrix file')
    .option('--json', 'print the results as JSON instead of a table')
    .option('--quiet', 'no progress display')
    .addHelpText('after', examples)
    .action(async (file: string | undefined, flags: RunFlags) => {
      if (flags.schema) return io.print(JSON.stringify(matrixJsonSchema(), null, 2));
      if (flags.resume !== undefined) return resume(file, flags, { io, makeDeps });
      if (file === undefined) throw new PerwattError('USAGE', 'no matrix file was given');
      const matrix = readMatrix(file, flags, io);
      const deps = makeDeps({ base: io.cwd, fetch: flags.dryRun !== true, matrix });
      const plan = await planMatrix(matrix, deps, parseFilter(flags.filter ?? []));
      if (flags.dryRun) {
        await deps.powerSources(matrix.power);
        return printPlan(plan, flags, io);
      }
      await finish(flags, io, (hooks) => runPlan(plan, deps, { root: resolve(io.cwd, flags.out), ...hooks }));
    });

const collect = (value: string, before: readonly string[] = []) => [...before, value];

/** The matrix with paths made absolute, so that it means the same from any folder. */
export function readMatrix(file: string, flags: Pick<RunFlags, 'power'>, io: Io): MatrixFile {
  const path = resolve(io.cwd, file);
  const matrix = withPower(parseMatrix(readText(path, file), file), flags);
  return placedMatrix(matrix, dirname(path));
}

function readText(path: string, file: string): string {
  if (!existsSync(path)) throw new PerwattError('FILE_UNREADABLE', `matrix file ${file} does not exist`);
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new PerwattError('FILE_UNREADABLE', `cannot read matrix file ${file}: ${systemCode(cause)}`, {
      cause,
    });
  }
}

/** `--power` stands in the matrix of the run, so that a resume reads the same sources or, after `none`, no source. */
function withPower(matrix: MatrixFile, { power }: Pick<RunFlags, 'power'>): MatrixFile {
  if (power === undefined) return matrix;
  return { ...matrix, power: { ...matrix.power, sources: power === 'none' ? [] : power.split(',') } };
}

/** `axis=value` texts as a filter. */
export function parseFilter(texts: readonly string[]): Filter {
  const filter: Partial<Record<PointAxis, string[]>> = {};
  for (const text of texts) {
    const cut = text.indexOf('=');
    const axis = pointAxes.find((name) => name === text.slice(0, cut));
    if (cut < 1 || axis === undefined) {
      throw new PerwattError('USAGE', `--filter ${text} is not axis=value; axes are ${pointAxes.join(', ')}`);
    }
    filter[axis] = [...(filter[axis] ?? []), text.slice(cut + 1)];
  }
  return filter;
}

function printPlan(plan: Plan, flags: RunFlags, io: Io): void {
  const estimate = estimatePlan(plan);
  const cells = plan.cells.map((cell, i) => ({ ...cell.point, ...estimate.cells[i] }));
  if (flags.json) {
    const { queries, calls, seconds, basis } = estimate;
    const { left_out, pruned, order_rule } = plan;
    io.print(
      JSON.stringify({ cells, queries, calls, seconds, basis, left_out, pruned, order_rule }, null, 2),
    );
    return;
  }
  const atMost = plan.cells.some(({ rule }) => rule !== null) ? '≤ ' : '';
  for (const [i, cell] of plan.cells.entries()) {
    const { queries, calls, seconds } = estimate.cells[i] ?? {};
    const time = seconds == null ? 'time unknown' : `about ${spanText(seconds)}`;
    io.print(
      `${cell.id}  ${pointText(cell.point)}: ${cell.rule === null ? '' : '≤ '}${queries} queries, ≤ ${calls} calls, ${time}`,
    );
  }
  for (const { what, reason } of plan.left_out) io.print(`left out: ${what}: ${reason}`);
  for (const { point, reason } of plan.pruned) io.print(`no cell: ${pointText(point)}: ${reason}`);
  const time = estimate.seconds === null ? 'time unknown' : `about ${spanText(estimate.seconds)}`;
  io.print(
    `${plan.cells.length} cells, ${atMost}${estimate.queries} queries, ≤ ${estimate.calls} calls, ${time} (${estimate.basis})`,
  );
}

async function resume(
  file: string | undefined,
  flags: RunFlags,
  { io, makeDeps }: { readonly io: Io; readonly makeDeps: MakeDeps },
): Promise<void> {
  const alone = flags.filter === undefined ? (flags.dryRun ? '--dry-run' : null) : '--filter';
  if (alone !== null) throw new PerwattError('USAGE', `${alone} cannot be combined with --resume`);
  const run = openRun(resolve(io.cwd, flags.resume ?? ''));
  const matrix = file === undefined ? withPower(run.manifest.matrix, flags) : readMatrix(file, flags, io);
  const deps = makeDeps({ base: io.cwd, fetch: true, matrix });
  const root = join(run.path, '..');
  await finish(flags, io, (hooks) => resumeRun(run, matrix, { deps, options: { root, ...hooks } }));
}

/** The watts of all domains of the total; null before there are two samples of one. */
function totalOf(domains: readonly WattsNow[]): PowerNow | null {
  if (domains.length === 0) return null;
  return {
    power_w: domains.reduce((sum, d) => sum + d.power_w, 0),
    estimated: domains.some((d) => d.estimated),
  };
}

type Hooks = Pick<Parameters<typeof runPlan>[2], 'signal' | 'onStart' | 'onCell'>;

async function finish(
  flags: RunFlags,
  io: Io,
  execute: (hooks: Hooks) => Promise<RunOutcome>,
): Promise<void> {
  let display: Display | null = null;
  const hooks: Hooks = {
    signal: io.signal,
    onStart(progress, run, power) {
      if (flags.quiet) return;
      io.printError(`run ${run.path}`);
      for (const { what, reason } of run.manifest.left_out) io.printError(`left out: ${what}: ${reason}`);
      display = startDisplay(io, () => ({ snapshot: progress.snapshot(), power: totalOf(power.wattsNow()) }));
    },
    onCell: (result) => display?.log(cellLine(result)),
  };
  const outcome = await execute(hooks).finally(() => display?.stop());
  await conclude(outcome, flags, io);
}

async function conclude({ run, status, results }: RunOutcome, flags: RunFlags, io: Io): Promise<void> {
  if (status === 'done' && results.length === 0)
    io.printError('nothing to do: every cell of the run is done');
  if (flags.compact && status === 'done') await compact(run.path, io);
  // Loaded now: what makes reports is a good part of the program, and nothing of it is needed before.
  const { makeReport, printResults } = await import('../make-report.js');
  const { computeResults } = await import('../compute-results.js');
  const report = flags.report ? await makeReport([run], { env: io.env }) : null;
  printResults(report?.results ?? [await computeResults(run)], io, { json: flags.json === true });
  if (report !== null && !flags.json) io.print(`report: ${report.html}`);
  const { troubles, broken } = troublesOfRun(run);
  for (const trouble of troubles) io.printError(trouble);
  if (status === 'interrupted') {
    io.printError(`interrupted; go on with: perwatt run --resume ${run.path}`);
    return io.setExitCode(130);
  }
  if (broken) io.setExitCode(1);
}

/** Parquet beside the segments of a run that ended. It can be made again at any time: a failure is told and no more. */
async function compact(path: string, io: Io): Promise<void> {
  try {
    await compactRun(path);
  } catch (error) {
    io.printError(`tables were not copied to Parquet: ${messageOf(error)}`);
  }
}

/** What a user must know of a run that ended, and whether it makes the exit code 1. */
function troublesOfRun(run: RunFolder): { readonly troubles: readonly string[]; readonly broken: boolean } {
  const cells = run.cells();
  const limit = limitTrouble(run.manifest);
  return {
    troubles: [...cells.flatMap(troublesOf), ...(limit === null ? [] : [limit])],
    broken: limit !== null || cells.some(isBroken),
  };
}

/** Why the power limit is not what it was before the run, with the command that puts it back; null when it is. */
function limitTrouble({ power_cap: facts, matrix }: RunManifest): string | null {
  if (facts === undefined || facts.state === 'restored') return null;
  const command = matrix.power_cap?.restore.join(' ').replaceAll('{watts}', String(facts.before_w));
  return `the power limit was not put back to ${facts.before_w} W: ${facts.problem ?? 'unknown reason'}; by hand: ${command}`;
}

/** What keeps a cell's figures from being used, and what would mend it. */
function troublesOf({ point, status, failure, verdict, skipped }: CellFile): string[] {
  const name = Object.values(point).join(' × ');
  if (skipped != null) return [`cell skipped: ${name}: ${skipped}`];
  if (status === 'failed') return [`cell failed: ${name}: ${failure ?? 'unknown reason'}`];
  if (verdict?.state !== 'invalid') return [];
  const reasons = verdict.reasons.filter(({ code }) => code !== 'quick' && code !== 'resumed');
  return [`cell invalid: ${name}: ${reasons.map(({ text }) => text).join('; ')}`];
}

/** A cell that failed as a whole, was skipped for it, or so many of whose queries failed that it says nothing. */
const isBroken = ({ status, verdict, skipped }: CellFile) =>
  status === 'failed' ||
  skipped != null ||
  (verdict?.state === 'invalid' && verdict.reasons.some(({ code }) => code === 'failed_queries'));
