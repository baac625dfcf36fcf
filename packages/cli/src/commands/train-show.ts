import { resolve } from 'node:path';
import { accountTraining } from '@perwatt/reports';
import { Command } from 'commander';
import type { Io } from '../io.js';
import { accountJson, accountLines } from '../train-text.js';

/** `perwatt train show`: what a training run cost, and what came of it. */
export const trainShowCommand = (io: Io): Command =>
  new Command('show')
    .description('Tell what a training run cost and what came of it')
    .argument('<run>', 'folder of a training run')
    .option('--json', 'print it as JSON')
    .action((path: string, flags: { readonly json?: boolean }, self: Command) => {
      const report = accountTraining(resolve(io.cwd, path));
      const json = flags.json ?? self.optsWithGlobals<{ json?: boolean }>().json;
      if (json === true) io.print(JSON.stringify(accountJson(report), null, 2));
      else for (const line of accountLines(report)) io.print(line);
    });
