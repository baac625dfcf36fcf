import { resolve } from 'node:path';
import { PerwattError } from '@perwatt/core';
import { kernelsOf } from '@perwatt/records';
import { energyFits } from '@perwatt/reports';
import { Command } from 'commander';
import type { Io } from '../io.js';
import { whole } from '../number-options.js';
import { printTorn } from '../torn.js';
import { fitLines, fitPoints, fitTables } from './kernels-fit-text.js';
import { sessionOf } from './kernels-roofline.js';

const WIDTH = 160;

const help = `
Energy of a launch = joules per FLOP × FLOP + joules per byte × bytes + watts × time, by least squares of relative errors without
negative coefficients, over a sweep of eight intensities or more. It is worked out again from the rows of the table: gross energy,
and the time of a launch within the energy windows. A coefficient that would be negative is held at 0. The intervals are of 95 %
and know only the scatter about the fit. The coefficients describe this sweep; they are no constants of the hardware.

Examples:
  perwatt kernels run --sweep --energy --device cpu:0
  perwatt kernels fit runs/20261130-110000Z-kernels
  perwatt kernels fit runs/<id> --session 2 --json

Exit codes: 0 done, 1 when there is no sweep, or no fit of any.`;

/** `perwatt kernels fit`: energy of a sweep split into per FLOP, per byte and per second. */
export const kernelsFitCommand = (io: Io): Command =>
  new Command('fit')
    .description('Split the energy of a sweep into joules per FLOP, per byte and per second, by a fit')
    .argument('<folder>', 'run or session folder')
    .option('--session <n>', 'session; default: the last one', whole(0, 65_535))
    .option('--json', 'print JSON')
    .addHelpText('after', help)
    .action((path: string, flags: { readonly session?: number; readonly json?: boolean }) => {
      const { rows, sessions, torn } = kernelsOf(resolve(io.cwd, path));
      printTorn(io, torn);
      const { session } = sessionOf(sessions, flags.session);
      const fits = energyFits(rows, session);
      if (fits.length === 0)
        throw new PerwattError('INPUT_INVALID', `session ${session} has no sweep over intensities`, {
          hint: 'Run one with `perwatt kernels run --sweep --energy`.',
        });
      if (fits.every(({ fit }) => fit === null)) io.setExitCode(1);
      if (flags.json) {
        const told = fits.map((fit) => ({ ...fit, points: fitPoints(rows, fit, session) }));
        return io.print(JSON.stringify({ session, fits: told }, null, 2));
      }
      const width = io.columns ?? WIDTH;
      for (const line of [...fitLines(fits), ...fitTables(rows, fits, { session, width })]) io.print(line);
    });
