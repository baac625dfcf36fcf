import { resolve } from 'node:path';
import { type Verification, verifyRun } from '@perwatt/records';
import { Command } from 'commander';
import type { Io } from '../io.js';

const help = `
Checked: the sha256 of every closed segment, the seal of every batch, row, batch and byte counts, the columns of each table,
that rows belong to their cell, that no query id occurs twice, that energies lie within their bounds, that queries and
unattributed energy make up the meter (to 1e-9), and that no file is missing or strange. Of an imported
run its one table, of a training its tables and samples, of a folder of kernel sessions their rows.

What a killed process leaves behind, a batch that was cut off, is a note and no problem: it was never said to be written.

Exit codes: 0 as it was written, 1 problems, every one listed.

Example:
  perwatt verify runs/<id>`;

/** `perwatt verify`: whether a run is as it was written. */
export const verifyCommand = (io: Io): Command =>
  new Command('verify')
    .description('Check that a run is whole and unchanged')
    .argument('<run>', 'run folder')
    .option('--json', 'print what was found as JSON')
    .addHelpText('after', help)
    .action((path: string, flags: { readonly json?: boolean }) => {
      const checked = verifyRun(resolve(io.cwd, path));
      const problems = checked.findings.filter(({ level }) => level === 'problem').length;
      if (flags.json) io.print(JSON.stringify({ ...checked, problems }, null, 2));
      else printFindings(io, checked, problems);
      if (problems > 0) io.setExitCode(1);
    });

function printFindings(io: Io, checked: Verification, problems: number): void {
  for (const { level, code, where, text } of checked.findings)
    io.print(`${level} ${code}: ${where}: ${text}`);
  const { cells, segments, batches, rows, bytes } = checked;
  io.print(`${cells} cells, ${segments} segments, ${batches} batches, ${rows} rows, ${bytes} bytes read`);
  io.print(problems === 0 ? 'whole and unchanged' : `${problems} ${problems === 1 ? 'problem' : 'problems'}`);
}
