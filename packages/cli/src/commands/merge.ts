import { relative, resolve } from 'node:path';
import { mergeRuns } from '@perwatt/records';
import { Command } from 'commander';
import type { Io } from '../io.js';

const help = `
The runs may be of one matrix, made on several hosts, or of several that have protocol and sharing of energy in common and
call equal things by equal names. Segments are copied byte for byte; rows and cells keep the id of the run they come from, and
run.json says on which host and of which matrix each was made. What is still open is resumed in the runs it was planned in;
then merge again.

Equal cells (the same resolved hash) that several runs finished become one with the repeats of all, numbered on, and flagged
as merged; where what answered them differs, as drift too. Cells that were metered by other meters are not put together: no
total would hold for both.

Example:
  perwatt merge runs/host-a runs/host-b --out runs/both`;

/** `perwatt merge`: runs of several hosts, or of several matrices, as one run. */
export const mergeCommand = (io: Io): Command =>
  new Command('merge')
    .description('Put runs, made in several places or of several matrices, into one')
    .argument('<run...>', 'run folders, two or more')
    .requiredOption('--out <dir>', 'folder of the new run; must not exist')
    .option('--json', 'print what was made as JSON')
    .addHelpText('after', help)
    .action((paths: readonly string[], flags: { readonly out: string; readonly json?: boolean }) => {
      const merged = mergeRuns(
        paths.map((path) => resolve(io.cwd, path)),
        resolve(io.cwd, flags.out),
      );
      const { path, measured, cells, manifest } = merged;
      if (flags.json)
        return io.print(JSON.stringify({ path, measured, cells, merged: manifest.merged ?? [] }));
      for (const { run_id, host, cells: ids } of manifest.merged ?? [])
        io.print(`${run_id} (${host.hostname}): ${ids.length} cells`);
      io.print(`${relative(io.cwd, path)}: ${measured} of ${cells} cells measured`);
    });
