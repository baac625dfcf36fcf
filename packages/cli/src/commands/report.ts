import { join, resolve } from 'node:path';
import { PerwattError } from '@perwatt/core';
import type { PublishedRun, RunFolder } from '@perwatt/records';
import { publishedJson, type RunResults, resultsJsonOf, type TrainingReport } from '@perwatt/reports';
import { Command } from 'commander';
import type { Io } from '../io.js';
import { makeReport, makeUnmeasuredReport, printResults } from '../make-report.js';
import { type AnyRun, openRunOfAnyKind } from '../open-comparable.js';
import { publishedSummary } from '../published-table.js';
import { accountJson, accountLines } from '../train-text.js';

interface ReportFlags {
  readonly out?: string;
  readonly singleFile?: boolean;
  readonly json?: boolean;
}

const examples = `
A report is a folder that opens from the disk and needs no network: index.html and its pages, one page a cell,
results.json and results.csv. Several runs come into one report, their cells side by side. --single-file makes one page that
holds everything, to be sent by mail: for one small run.

Imported runs have pages of their own: where the figures are from, a table of all records, trade-offs, and what is not there and
why; with published.json and published.csv. Beside measured runs they stand apart and are never ranked with them. Training runs
have a page of curves and costs.

Examples:
  perwatt report runs/20261129-101500Z-quickstart --out /tmp/report
  perwatt report runs/laptop runs/server --out /tmp/both
  perwatt report runs/laptop runs/ml-energy --out /tmp/beside-published
  perwatt report runs/20261129-101500Z-quickstart --single-file --out /tmp/page`;

/** Runs by their kinds. */
interface Given {
  readonly paths: readonly string[];
  readonly measured: readonly RunFolder[];
  readonly imports: readonly PublishedRun[];
  readonly trainings: readonly TrainingReport[];
}

/** The runs of the arguments, each once. */
function openRuns(given: readonly string[], io: Io): Given {
  const paths = [...new Set(given.map((path) => resolve(io.cwd, path)))];
  const opened = paths.map((path): AnyRun => openRunOfAnyKind(path, io));
  return {
    paths,
    measured: opened.flatMap((one) => (one.kind === 'measured' ? [one.run] : [])),
    imports: opened.flatMap((one) => (one.kind === 'published' ? [one.run] : [])),
    trainings: opened.flatMap((one) => (one.kind === 'training' ? [one.report] : [])),
  };
}

function checkFlags({ paths, measured }: Given, { out, singleFile }: ReportFlags): void {
  if (paths.length > 1 && out === undefined)
    throw new PerwattError('USAGE', `a report of ${paths.length} runs needs --out`);
  if (singleFile !== true) return;
  if (paths.length > 1) throw new PerwattError('USAGE', `--single-file holds one run, not ${paths.length}`);
  if (measured.length === 0)
    throw new PerwattError('USAGE', `--single-file holds a run of a matrix, and ${paths[0]} is none`, {
      hint: 'Leave it out: the report is then a folder of pages.',
    });
}

/** `perwatt report`: writes the report of runs and prints their tables. */
export const reportCommand = (io: Io): Command =>
  new Command('report')
    .description(
      'Write the report of one or more runs (pages, results.json, results.csv) and print their tables',
    )
    .argument('<runs...>', 'run folders: measured, imported or of trainings')
    .option(
      '--out <dir>',
      "folder of the report; default: the run's own report/; must be given for several runs",
    )
    .option('--single-file', 'one page that holds everything instead of a site')
    .option('--json', 'print the results as JSON instead of a table')
    .addHelpText('after', examples)
    .action(async (paths: readonly string[], flags: ReportFlags) => {
      const given = openRuns(paths, io);
      checkFlags(given, flags);
      const folder =
        flags.out === undefined ? join(given.paths[0] ?? io.cwd, 'report') : resolve(io.cwd, flags.out);
      const { results, html } = await write(given, { folder, flags, io });
      if (flags.json) return io.print(jsonOf(given, results));
      printTables(given, results, io);
      io.print(`report: ${html}`);
    });

function printTables({ imports, trainings }: Given, results: readonly RunResults[], io: Io): void {
  if (results.length > 0) printResults(results, io, { json: false });
  const lines = [...imports.flatMap(publishedSummary), ...trainings.flatMap(accountLines)];
  for (const line of lines) io.print(line);
}

interface Writing {
  readonly folder: string;
  readonly flags: ReportFlags;
  readonly io: Io;
}

async function write({ measured, imports, trainings }: Given, { folder, flags, io }: Writing) {
  const [first, ...others] = measured;
  const beside = { imports, trainings };
  if (first === undefined)
    return { results: [], html: await makeUnmeasuredReport(beside, { folder, env: io.env }) };
  const form = flags.singleFile === true ? 'single-file' : 'site';
  return makeReport([first, ...others], { form, env: io.env, folder, beside });
}

/** Of measured runs alone what `results.json` holds; else every kind under its name. */
function jsonOf({ imports, trainings }: Given, results: readonly RunResults[]): string {
  if (imports.length === 0 && trainings.length === 0) return resultsJsonOf(results);
  return JSON.stringify(
    {
      runs: results.map((own): unknown => JSON.parse(resultsJsonOf([own]))),
      ...(JSON.parse(publishedJson(imports)) as object),
      trainings: trainings.map(accountJson),
    },
    null,
    2,
  );
}
