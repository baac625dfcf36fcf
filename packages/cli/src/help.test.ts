import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { shells } from './completion-scripts.js';
import { addExamples, pathOf } from './help-examples.js';
import { recordedIo } from './io.fixture.js';
import { loadCommands } from './load-commands.js';
import { shapeHelp } from './shape-help.js';

const parts = { io: recordedIo({ cwd: tmpdir() }).io, version: '0.0.0' };

async function wholeProgram(): Promise<Command> {
  const program = new Command('perwatt').option('--verbose', 'add the causes of an error');
  for (const command of await loadCommands([], parts)) program.addCommand(command);
  addExamples(program);
  shapeHelp(program);
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

  test('of every command begins with a capital, and shows no options of its parent', () => {
    const small = commands.filter((command) => !/^[A-Z]/.test(command.description()));
    expect(small.map(pathOf)).toEqual([]);
    const list = commands.find((command) => pathOf(command) === 'perwatt train list');
    const shown = helpOf(list!);
    expect(shown).toMatch(/Global Options:\n {2}--verbose/);
    expect(shown).not.toContain('--seeds');
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
    [['--vers'],                                ['--version'],                   'an option of the program'],
    [['run', 'file with a blank', 'x'],         [''],                            'nothing of ours: a file'],
    [['export', 'x', '--out', ''],              [''],                            'a file after an option of any value'],
  ])('in bash %j gives %j: %s', (words, wanted, _why) => {
    expect(inBash(...words)).toEqual(wanted);
  });

  const drive = fileURLToPath(new URL('complete-in-zsh.fixture.zsh', import.meta.url));
  const has = (shell: string): boolean => {
    try {
      execFileSync(shell, ['--version'], { stdio: 'ignore' });
      return true;
    } catch {
      process.stderr.write(`skipped: completions in ${shell}, because it is not installed\n`);
      return false;
    }
  };

  /** What a line is completed with where the shell stands in a folder of one file, `a-file`. */
  const inShell: Readonly<Record<'zsh' | 'fish', (line: string) => string[]>> = {
    zsh(line) {
      const out = join(root, 'completed');
      execFileSync('zsh', ['-f', drive, join(root, 'zsh'), out, line], {
        cwd: join(root, 'place'),
        timeout: 60_000,
      });
      return readFileSync(out, 'utf8').trim().split('\n').slice(0, -1);
    },
    fish(line) {
      const program = `source ${root}/fish; complete -C${JSON.stringify(line)}`;
      const cwd = join(root, 'place');
      const env = { ...process.env, HOME: cwd };
      return execFileSync('fish', ['--no-config', '-c', program], {
        cwd,
        env,
        encoding: 'utf8',
        timeout: 60_000,
      })
        .trim()
        .split('\n')
        .map((text) => text.split('\t')[0] ?? '');
    },
  };

  // biome-ignore format: a table is read in columns
  const lines: readonly (readonly [line: string, wanted: readonly string[], why: string])[] = [
    ['perwatt bun',                    ['bundle'],                      'a command'],
    ['perwatt --ver',                  ['--verbose', '--version'],      'options of the program'],
    ['perwatt a-f',                    [],                              'no file where only commands may stand'],
    ['perwatt bundle ch',              ['check'],                       'a command of a command'],
    ['perwatt bundle a-',              ['a-file'],                      'a file where a command has both'],
    ['perwatt bundle check --in',      ['--into'],                      'an option of it'],
    ['perwatt results x --format ',    ['csv', 'json', 'md', 'table'],  'values of an option'],
    ['perwatt export x --out ',        ['a-file'],                      'a file after an option of any value'],
    ['perwatt completions ',           ['bash', 'fish', 'zsh'],         'values of an argument, and no file'],
    ['perwatt kernels ro',             ['roofline'],                    'a command of another command'],
  ];
  describe.each(['zsh', 'fish'] as const)('in %s', (shell) => {
    test.skipIf(!has(shell)).each(lines)('%j gives %j: %s', { timeout: 60_000 }, (line, wanted) => {
      mkdirSync(join(root, 'place'), { recursive: true });
      writeFileSync(join(root, 'place/a-file'), '');
      expect(
        inShell[shell](line)
          .filter((word) => word !== '')
          .sort(),
      ).toEqual(wanted);
    });
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
