import { join, resolve } from 'node:path';
import { accountTraining, readPlotlySource, writeTrainingReport } from '@perwatt/reports';
import { Command } from 'commander';
import type { Io } from '../io.js';

/** `perwatt train report`: learning curves, costs and claims of training runs as a page. */
export const trainReportCommand = (io: Io): Command =>
  new Command('report')
    .description('Write a page of learning curves over joules, costs and claims')
    .argument('<runs...>', 'folders of training runs')
    .option('--to <dir>', "folder of the page; default: the first run's own report/")
    .action(async (paths: readonly string[], { to }: { readonly to?: string }) => {
      const folders = paths.map((path) => resolve(io.cwd, path));
      const reports = folders.map((path) => accountTraining(path));
      const folder = to === undefined ? join(folders[0] ?? io.cwd, 'report') : resolve(io.cwd, to);
      io.print(
        `report: ${await writeTrainingReport(reports, folder, { plotlySource: await readPlotlySource() })}`,
      );
    });
