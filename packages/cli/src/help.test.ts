import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { shells } from './completion-scripts.js';
import { addExamples, pathOf } from './help-examples.js';
import { recordedIo } from './io.fixture.js';
import { loadCommands } from './load-commands.js';

const parts = { io: recordedIo({ cwd: tmpdir() }).io, version: '0.0.0' };

async function wholeProgram(): Promise<Command> {
  const program = new Command('perwatt');
  for (const command of await loadCommands([], parts)) program.addCommand(command);
  addExamples(program);
  return program;
}

const below = (command: Command): Command[] => [command, ...command.commands.flatMap(below)];

function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({
    writeOut: (part) => {
      text += part;
    },
  });
  command.outputHelp();
  return text;
}

describe('the help', () => {
  let commands: Command[] = [];
  beforeAll(async () => {
    commands = below(await wholeProgram()).slice(1);
  });

  /** Whether a line of its help calls it. */
  const callsItself = (command: Command): boolean =>
    helpOf(command)
      .split('\n')
      .some((line) => line.startsWith(`  ${pathOf(command)}`));

  test('of every command tells what it is, and calls it in an example', () => {
    const leaves = commands.filter((command) => command.commands.length === 0);
    expect(leaves.length).toBeGreaterThan(40);
    expect(leaves.filter((command) => !callsItself(command)).map(pathOf)).toEqual([]);
    expect(commands.filter((command) => command.description() === '').map(pathOf)).toEqual([]);
  });

  test('of every option says what it does', () => {
    const silent = commands.flatMap((command) =>
      command.options
        .filter(({ description }) => description === '')
        .map(({ flags }) => `${pathOf(command)} ${flags}`),
    );
    expect(silent).toEqual([]);
  });
});

describe('completions', () => {
  let root = '';
  const scripts = new Map<string, string>();
  beforeAll(async () => {
    root = mkdtempSync(join(tmpdir(), 'perwatt-completions-'));
    for (const shell of shells) {
      const { io, result } = recordedIo({ cwd: root });
      const [command] = await loadCommands(['completions'], { ...parts, io });
      await command?.parseAsync([shell], { from: 'user' });
      scripts.set(shell, result.out.join('\n'));
      writeFileSync(join(root, shell), result.out.join('\n'));
    }
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  const inBash = (...words: readonly string[]): string[] => {
    const given = words.map((word) => `'${word}'`).join(' ');
    const program = `source ${root}/bash; COMP_WORDS=(perwatt ${given}); COMP_CWORD=${words.length}; _perwatt; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return execFileSync('bash', ['-c', program], { encoding: 'utf8' }).trim().split('\n');
  };

  // biome-ignore format: a table is read in columns
  test.each<[readonly string[], readonly string[], string]>([
    [['bun'],                                   ['bundle'],                      'a command'],
    [['bundle', 'ch'],                          ['check'],                       'a command of a command'],
    [['bundle', 'check', '--in'],               ['--into'],                      'an option of it'],
    [['results', 'runs/x', '--format', ''],     ['table', 'md', 'csv', 'json'],  'values of an option'],
    [['completions', 'z'],                      ['zsh'],                         'values of an argument'],
    [['--ver'],                                 ['--version'],                   'an option of the program'],
    [['run', 'file with a blank', 'x'],         [''],                            'nothing of ours: a file'],
  ])('in bash %j gives %j: %s', (words, wanted, _why) => {
    expect(inBash(...words)).toEqual(wanted);
  });

  /** Words of commands and options that a script lacks. */
  const missing = (script: string, names: readonly string[]) =>
    names.filter((name) => !script.includes(name));
  const read = (shell: string): string | null => {
    try {
      execFileSync(shell, ['-n', join(root, shell)], { stdio: 'pipe' });
      return null;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      return `${shell} is not installed`;
    }
  };

  test.each([...shells])('for %s name every command and option, and the shell reads them', async (shell) => {
    const commands = below(await wholeProgram()).slice(1);
    const flags = commands.flatMap(({ options }) => options.flatMap(({ long }) => long ?? []));
    const names = [
      ...commands.map((command) => (shell === 'bash' ? pathOf(command) : command.name())),
      ...(shell === 'fish' ? flags.map((flag) => `-l ${flag.slice(2)}`) : flags),
    ];
    expect(missing(scripts.get(shell) ?? '', names)).toEqual([]);
    const why = read(shell);
    if (why !== null)
      process.stderr.write(`skipped: whether ${shell} reads its completions, because ${why}\n`);
  });
});
