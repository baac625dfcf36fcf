import { resolve } from 'node:path';
import { didYouMean, PerwattError } from '@perwatt/core';
import {
  accountTraining,
  commonTarget,
  type EffortRatio,
  effortRatios,
  type TrainingAccount,
} from '@perwatt/reports';
import { Command } from 'commander';
import { figure } from '../figure.js';
import type { Io } from '../io.js';
import { shareOf1, whole } from '../number-options.js';

interface Flags {
  readonly target?: number;
  readonly window: number;
  readonly json?: boolean;
}

const help = `
Each side is the folder of a training run; \`FOLDER:NAME\` names one training of several. The effort of a seed is what it had
spent when the moving average of its accuracy first reached the target and stayed there; ratios are of A over B, so that 2
says that B took half of it. Intervals are over the seeds that both share.

Examples:
  perwatt train compare runs/house:grpo runs/house:ovcsd
  perwatt train compare runs/a runs/b --target 0.8`;

/** `perwatt train compare`: how much less one training took than another to the same accuracy. */
export const trainCompareCommand = (io: Io): Command =>
  new Command('compare')
    .description('Compare the effort of two trainings to the same accuracy')
    .argument('<a>', 'training run, or FOLDER:NAME')
    .argument('<b>', 'training run, or FOLDER:NAME')
    .option(
      '--target <accuracy>',
      'accuracy to reach, 0 to 1; default: 95 % of what the lower one ends at',
      shareOf1,
    )
    .option('--window <n>', 'evaluations of the moving average, and that it must stay for', whole(1, 1000), 3)
    .option('--json', 'print it as JSON')
    .addHelpText('after', help)
    .action((first: string, second: string, flags: Flags, self: Command) => {
      const [a, b] = [accountAt(first, io), accountAt(second, io)];
      const target = flags.target ?? commonTarget(a, b, flags.window);
      if (target === null)
        throw new PerwattError('INPUT_INVALID', 'no target: one of the trainings has not ended', {
          hint: 'Give one with `--target`, or go on with the training by `perwatt train --resume`.',
        });
      const ratios = effortRatios(a, b, { target, window: flags.window });
      const json = flags.json ?? self.optsWithGlobals<{ json?: boolean }>().json;
      if (json === true)
        return io.print(JSON.stringify({ a: a.facts.name, b: b.facts.name, target, ratios }, null, 2));
      io.print(`to ${figure(100 * target, 3)} % accuracy, ${a.facts.name} over ${b.facts.name}:`);
      for (const ratio of ratios) io.print(`  ${lineOf(ratio)}`);
    });

/** The account that an argument names. Throws `INPUT_INVALID` when it names none of a run's, or not which of several. */
function accountAt(text: string, io: Io): TrainingAccount {
  const cut = text.lastIndexOf(':');
  const name = cut > 0 ? text.slice(cut + 1) : null;
  const { accounts } = accountTraining(resolve(io.cwd, cut > 0 ? text.slice(0, cut) : text));
  const names = accounts.map(({ facts }) => facts.name);
  const found =
    name === null
      ? accounts.length === 1
        ? accounts[0]
        : undefined
      : accounts.find(({ facts }) => facts.name === name);
  if (found !== undefined) return found;
  if (name === null)
    throw new PerwattError('INPUT_INVALID', `${text} holds several trainings: ${names.join(', ')}`, {
      hint: `Name one, for example ${text}:${names[0]}.`,
    });
  throw new PerwattError('INPUT_INVALID', `there is no training "${name}"${didYouMean(name, names)}`);
}

const effortNames: Readonly<Record<EffortRatio['effort'], string>> = {
  env_actions: 'environment actions',
  tokens: 'tokens',
  energy_j: 'joules',
  cpu_s: 'CPU time',
};

function lineOf({ effort, ratio, reached }: EffortRatio): string {
  const name = effortNames[effort].padEnd(20);
  if (ratio.value === null) return `${name} unknown: ${ratio.reason}`;
  const interval =
    ratio.lo === null || ratio.hi === null
      ? ' (one seed: no interval)'
      : ` (${figure(ratio.lo, 3)} to ${figure(ratio.hi, 3)})`;
  return `${name} ${figure(ratio.value, 3)}×${interval}; reached by ${reached.a} and ${reached.b} of ${reached.seeds} seeds`;
}
