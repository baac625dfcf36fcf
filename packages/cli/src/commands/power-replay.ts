import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { messageOf, PerwattError } from '@perwatt/core';
import { Command } from 'commander';
import type { Io } from '../io.js';
import { type Replayed, replayCases } from '../replay/replay-case.js';

interface Flags {
  readonly json?: boolean;
}

/** `perwatt power replay`: recorded readings through the rules that live ones go through. */
export const powerReplayCommand = (io: Io): Command =>
  new Command('replay')
    .description('Run recorded readings through the rules that live ones go through')
    .argument('<file>', 'JSON: one fixture of the format perwatt-power-case/1, or an array of them')
    .option('--json', 'print one JSON object a fixture: its id, its kind, and what was computed')
    .addHelpText(
      'after',
      '\nA fixture that no built code can run is said to be unsupported, with the reason.\n\nExamples:\n  perwatt power replay wrap.json\n  perwatt power replay cases.json --json',
    )
    .action((file: string, _own: Flags, self: Command) => {
      const flags = self.optsWithGlobals<Flags>();
      for (const replayed of replayCases(readJson(resolve(io.cwd, file)))) {
        io.print(flags.json ? jsonLine(replayed) : textLine(replayed));
      }
    });

const jsonLine = ({ id, kind, computed }: Replayed): string => JSON.stringify({ id, kind, ...computed });

const textLine = ({ id, kind, computed }: Replayed): string => {
  const parts = Object.entries(computed).map(([name, value]) => `${name} ${JSON.stringify(value)}`);
  return `${id}  ${kind}  ${parts.join('  ')}`;
};

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new PerwattError('INPUT_INVALID', `cannot read fixtures of ${path}: ${messageOf(error)}`, {
      hint: 'Pass a file of JSON: one fixture, or an array of them.',
      cause: error,
    });
  }
}
