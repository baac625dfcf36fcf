import { relative, resolve } from 'node:path';
import { mergeRuns } from '@perwatt/records';
import { Command } from 'commander';
import type { Io } from '../io.js';

const help = `
The runs must be of one matrix (the same hash), and no cell may have been worked on in two of them. Segments are copied
byte for byte; rows and cells keep the id of the run they come from, and run.json says on which host each was made. What is
still open is resumed in the runs it was planned in; then merge again.

Example:
  perwatt merge runs/host-a runs/host-b --out runs/both`;

/** `perwatt merge`: several hosts' runs of one matrix as one run. */
export const mergeCommand = (io: Io): Command =>
  new Command('merge')
    .description('Put runs of one matrix, made in several places, into one')
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
