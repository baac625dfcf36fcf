import { resolve } from 'node:path';
import { PerwattError } from '@perwatt/core';
import { openRun, type RunFolder } from '@perwatt/records';
import { Command } from 'commander';
import type { Io } from '../io.js';
import { makeReport, printResults } from '../make-report.js';

interface ReportFlags {
  readonly out?: string;
  readonly singleFile?: boolean;
  readonly json?: boolean;
}

const examples = `
A report is a folder that opens from the disk and needs no network: index.html and its pages, one page a cell,
results.json and results.csv. Several runs come into one report, their cells side by side. --single-file makes one page that
holds everything, to be sent by mail: for one small run.

Examples:
  perwatt report runs/20261129-101500Z-quickstart --out /tmp/report
  perwatt report runs/laptop runs/server --out /tmp/both
  perwatt report runs/20261129-101500Z-quickstart --single-file --out /tmp/page`;

/** The runs of the arguments, each once. */
function openRuns(paths: readonly string[], io: Io): [RunFolder, ...RunFolder[]] {
  const [first, ...others] = [...new Set(paths.map((path) => resolve(io.cwd, path)))];
  if (first === undefined) throw new PerwattError('USAGE', 'no run folder was given');
  return [openRun(first), ...others.map((path) => openRun(path))];
}

/** `perwatt report`: writes the report of runs and prints their tables. */
export const reportCommand = (io: Io): Command =>
  new Command('report')
    .description(
      'Write the report of one or more runs (pages, results.json, results.csv) and print their tables',
    )
    .argument('<runs...>', 'run folders')
    .option(
      '--out <dir>',
      "folder of the report; default: the run's own report/; must be given for several runs",
    )
    .option('--single-file', 'one page that holds everything instead of a site')
    .option('--json', 'print the results as JSON instead of a table')
    .addHelpText('after', examples)
    .action(async (paths: readonly string[], { out, singleFile, json }: ReportFlags) => {
      const runs = openRuns(paths, io);
      if (runs.length > 1 && out === undefined)
        throw new PerwattError('USAGE', `a report of ${runs.length} runs needs --out`);
      if (runs.length > 1 && singleFile === true)
        throw new PerwattError('USAGE', `--single-file holds one run, not ${runs.length}`);
      const { results, html } = await makeReport(runs, {
        form: singleFile === true ? 'single-file' : 'site',
        env: io.env,
        ...(out === undefined ? {} : { folder: resolve(io.cwd, out) }),
      });
      printResults(results, io, { json: json === true });
      if (!json) io.print(`report: ${html}`);
    });
