import { resolve } from 'node:path';
import { type KernelRow, PerwattError } from '@perwatt/core';
import { type KernelSession, kernelsOf } from '@perwatt/records';
import { predictSteps } from '@perwatt/reports';
import { Command } from 'commander';
import type { Io } from '../io.js';
import { catalogueWith } from '../open-comparable.js';
import { printTorn } from '../torn.js';
import { ceilingLines, ceilingsIn } from './kernels-ceilings.js';
import { predictionLines, rowJson, rowLines } from './kernels-text.js';

const WIDTH = 160;

interface RooflineFlags {
  readonly session?: number;
  readonly catalogue?: string;
  readonly json?: boolean;
}

const help = `
The ceilings are those that the session measured: the best copy or triad, and the best GEMM of each type. A kernel's share of
the roofline is the least time that they allow over its own; above 100 % says that a ceiling was measured too low. What a datasheet
says of the part stands beside them where the catalogue knows the device by the name of its driver; it is never a ceiling.

Examples:
  perwatt kernels roofline runs/20261130-110000Z-kernels
  perwatt kernels roofline runs/<id> --json`;

/** `perwatt kernels roofline`: kernels beside the ceilings of their devices, as they were kept. */
export const kernelsRooflineCommand = (io: Io): Command =>
  new Command('roofline')
    .description('Show kernels that were run beside the measured ceilings of their devices')
    .argument('<folder>', 'run or session folder')
    .option('--session <n>', 'session; default: the last one', Number)
    .option('--catalogue <path>', 'file with accelerators of your own')
    .option('--json', 'print JSON')
    .addHelpText('after', help)
    .action((path: string, flags: RooflineFlags) => {
      const { rows, sessions, torn } = kernelsOf(resolve(io.cwd, path));
      printTorn(io, torn);
      const known = sessionOf(sessions, flags.session);
      const { session } = known;
      const own = rows.filter((row) => row.session === session);
      const ceilings = ceilingsIn(own, catalogueWith(flags.catalogue, io.cwd));
      const predictions = predictSteps(known.steps, own, session);
      if (flags.json)
        return io.print(JSON.stringify({ session, ceilings, rows: own.map(rowJson), predictions }, null, 2));
      const width = io.columns ?? WIDTH;
      const lines = [
        ...ceilingLines(ceilings, width),
        '',
        ...rowLines(sorted(own), width),
        ...predictionLines(predictions),
      ];
      for (const line of lines) io.print(line);
    });

/** The session of a number, or the last one. Throws `INPUT_INVALID` for a number that none has. */
export function sessionOf(sessions: readonly KernelSession[], number: number | undefined): KernelSession {
  const found = number === undefined ? sessions.at(-1) : sessions.find(({ session }) => session === number);
  if (found !== undefined) return found;
  const known = sessions.map(({ session }) => session).join(', ');
  throw new PerwattError('INPUT_INVALID', `there is no session ${number ?? ''}; there is ${known || 'none'}`);
}

/** Those that come nearest to the roofline first; without a time, last. */
const sorted = (rows: readonly KernelRow[]): KernelRow[] =>
  rows.toSorted((a, b) => (b.roofline_ratio ?? -1) - (a.roofline_ratio ?? -1));
