import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type AxisName, axisNames, type MatrixFile, matrixJsonSchema, PerwattError } from '@perwatt/core';
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
import { openRun, type RunFolder } from '@perwatt/records';
import { buildResults } from '@perwatt/reports';
import { Command } from 'commander';
import type { Io } from '../io.js';
import { makeReport, printResults } from '../make-report.js';
import { cellLine, type Display, type PowerNow, pointText, spanText, startDisplay } from '../run-display.js';

/**
 * What a run is made of; built from the leaves by `world.ts`. `base` resolves relative paths of the matrix; without
 * `fetch` weights that are not here are known by their pins alone.
 */
export type MakeDeps = (options: {
  readonly base: string;
  readonly power: boolean;
  readonly fetch: boolean;
}) => HarnessDeps;

interface RunFlags {
  readonly out: string;
  readonly resume?: string;
  readonly dryRun?: boolean;
  readonly filter: readonly string[];
  readonly power?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly schema?: boolean;
  readonly report: boolean;
}

const examples = `
Examples:
  perwatt run examples/quickstart.yaml
  perwatt run matrix.yaml --dry-run
  perwatt run matrix.yaml --filter model=smollm2-135m --filter strategy=single
  perwatt run --resume runs/20261129-101500Z-quickstart

A run ends with exit code 0 when every cell was measured, 1 when one failed, 130 after Ctrl-C.`;

/** `perwatt run`: executes a matrix, or goes on with one. */
export const runCommand = (io: Io, makeDeps: MakeDeps): Command =>
  new Command('run')
    .description('Run a benchmark matrix with power sampled all the while, then write its report')
    .argument('[matrix]', 'YAML file that names the matrix')
    .option('--out <dir>', 'folder that run folders are made in', 'runs')
    .option('--resume <run>', 'go on with this run folder: skip what is done, settle what a crash left open')
    .option('--dry-run', 'print the cells and an estimate, run nothing')
    .option('--filter <axis=value>', 'keep only these cells; may be given several times', collect, [])
    .option('--power <sources>', '`none`, or names of power sources separated by commas')
    .option('--no-report', 'leave the report out')
    .option('--schema', 'print the JSON Schema of the matrix file')
    .option('--json', 'print the results as JSON instead of a table')
    .option('--quiet', 'no progress display')
    .addHelpText('after', examples)
    .action(async (file: string | undefined, flags: RunFlags) => {
      if (flags.schema) return io.print(JSON.stringify(matrixJsonSchema(), null, 2));
      if (flags.resume !== undefined) return resume(file, flags, { io, makeDeps });
      if (file === undefined) throw new PerwattError('USAGE', 'no matrix file was given');
      const matrix = readMatrix(file, flags, io);
      const deps = makeDeps({ base: io.cwd, power: flags.power !== 'none', fetch: flags.dryRun !== true });
      const plan = await planMatrix(matrix, deps, parseFilter(flags.filter));
      if (flags.dryRun) return printPlan(plan, flags, io);
      await finish(flags, io, (hooks) => runPlan(plan, deps, { root: resolve(io.cwd, flags.out), ...hooks }));
    });

const collect = (value: string, before: readonly string[]) => [...before, value];

/** The matrix with paths made absolute, so that it means the same from any folder. */
export function readMatrix(file: string, flags: Pick<RunFlags, 'power'>, io: Io): MatrixFile {
  const path = resolve(io.cwd, file);
  if (!existsSync(path)) throw new PerwattError('FILE_UNREADABLE', `matrix file ${file} does not exist`);
  const matrix = parseMatrix(readFileSync(path, 'utf8'), file);
  const base = join(path, '..');
  const absolute = (value: unknown) => (typeof value === 'string' ? resolve(base, value) : value);
  const model = matrix.axes.model.map((m) =>
    m.path === undefined ? m : { ...m, path: resolve(base, m.path) },
  );
  const dataset = matrix.axes.dataset.map((d) => ('path' in d ? { ...d, path: absolute(d['path']) } : d));
  const sources = flags.power === undefined || flags.power === 'none' ? null : flags.power.split(',');
  return {
    ...matrix,
    axes: { ...matrix.axes, model, dataset },
    ...(sources === null ? {} : { power: { ...matrix.power, sources } }),
  };
}

/** `axis=value` texts as a filter. */
export function parseFilter(texts: readonly string[]): Filter {
  const filter: Partial<Record<AxisName, string[]>> = {};
  for (const text of texts) {
    const cut = text.indexOf('=');
    const axis = axisNames.find((name) => name === text.slice(0, cut));
    if (cut < 1 || axis === undefined) {
      throw new PerwattError('USAGE', `--filter ${text} is not axis=value; axes are ${axisNames.join(', ')}`);
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
    io.print(JSON.stringify({ cells, queries, calls, seconds, basis, left_out: plan.left_out }, null, 2));
    return;
  }
  for (const [i, cell] of plan.cells.entries()) {
    const { queries, calls, seconds } = estimate.cells[i] ?? {};
    const time = seconds == null ? 'time unknown' : `about ${spanText(seconds)}`;
    io.print(
      `${cell.id}  ${pointText(cell.point)} on ${cell.point.accelerator}: ${queries} queries, ≤ ${calls} calls, ${time}`,
    );
  }
  for (const { what, reason } of plan.left_out) io.print(`left out: ${what}: ${reason}`);
  const time = estimate.seconds === null ? 'time unknown' : `about ${spanText(estimate.seconds)}`;
  io.print(
    `${plan.cells.length} cells, ${estimate.queries} queries, ≤ ${estimate.calls} calls, ${time} (${estimate.basis})`,
  );
}

async function resume(
  file: string | undefined,
  flags: RunFlags,
  { io, makeDeps }: { readonly io: Io; readonly makeDeps: MakeDeps },
): Promise<void> {
  if (flags.filter.length > 0) throw new PerwattError('USAGE', '--filter cannot be combined with --resume');
  const run = openRun(resolve(io.cwd, flags.resume ?? ''));
  const matrix = file === undefined ? null : readMatrix(file, flags, io);
  const deps = makeDeps({ base: io.cwd, power: flags.power !== 'none', fetch: true });
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
  const report = flags.report ? await makeReport(run) : null;
  printResults(report?.results ?? (await buildResults(run)), io, { json: flags.json === true });
  if (report !== null && !flags.json) io.print(`report: ${report.html}`);
  for (const failure of failures(run)) io.printError(failure);
  if (status === 'interrupted') {
    io.printError(`interrupted; go on with: perwatt run --resume ${run.path}`);
    return io.setExitCode(130);
  }
  if (results.some((r) => r.status === 'failed')) io.setExitCode(1);
}

const failures = (run: RunFolder): string[] =>
  run
    .cells()
    .filter((cell) => cell.status === 'failed')
    .map(
      (cell) => `cell failed: ${Object.values(cell.point).join(' × ')}: ${cell.failure ?? 'unknown reason'}`,
    );
