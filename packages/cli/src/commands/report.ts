import { resolve } from 'node:path';
import { openRun } from '@perwatt/records';
import { Command } from 'commander';
import type { Io } from '../io.js';
import { makeReport, printResults } from '../make-report.js';

/** `perwatt report`: writes the page, the JSON and the CSV of a run again and prints its table. */
export const reportCommand = (io: Io): Command =>
  new Command('report')
    .description("Write a run's report (one page, results.json, results.csv) and print its table")
    .argument('<run>', 'run folder')
    .option('--out <dir>', "folder of the report; default: the run's own report/")
    .option('--json', 'print the results as JSON instead of a table')
    .addHelpText('after', '\nExample:\n  perwatt report runs/20261129-101500Z-quickstart --out /tmp/report')
    .action(async (path: string, flags: { readonly out?: string; readonly json?: boolean }) => {
      const run = openRun(resolve(io.cwd, path));
      const report = await makeReport(run, flags.out === undefined ? undefined : resolve(io.cwd, flags.out));
      printResults(report.results, io, { json: flags.json === true });
      if (!flags.json) io.print(`report: ${report.html}`);
    });
