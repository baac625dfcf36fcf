import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command, CommanderError } from 'commander';
import { describe, expect, test } from 'vitest';
import { addExamples, pathOf } from './help-examples.js';
import { recordedIo } from './io.fixture.js';
import { loadCommands } from './load-commands.js';

const repository = fileURLToPath(new URL('../../../', import.meta.url));
const parts = { io: recordedIo({ cwd: tmpdir() }).io, version: '0.0.0' };

const below = (command: Command): Command[] => [command, ...command.commands.flatMap(below)];

/** The command line, of which nothing is done: a call is parsed, and that is all. Of a call only its own command. */
async function parsedOnly(args: readonly string[] = []): Promise<Command> {
  const program = new Command('perwatt').option('--verbose').version('0.0.0');
  for (const command of await loadCommands(args, parts)) program.addCommand(command);
  addExamples(program);
  for (const command of below(program)) {
    command.exitOverride().configureOutput({ writeErr: () => {}, writeOut: () => {} });
    command.action(() => {});
  }
  return program;
}

/** The words of a line of a shell up to a comment (or a column of its own), a pipe, a redirection or the next command. */
function wordsOf(line: string): string[] {
  const [call = ''] = line.trim().split(/\s{2,}/);
  const tokens = call.match(/(?:"[^"]*"|'[^']*'|<[^<>\s]+>|[^\s"'<>|;&]|&(?!&))+|[|;<>]|&&/g) ?? [];
  const end = tokens.findIndex((token) => /^(?:[|;<>]|&&|#.*|→)$/.test(token));
  return tokens.slice(0, end === -1 ? undefined : end).map((token) => token.replaceAll(/["']/g, ''));
}

/** The arguments of the call of ours that a line shows; null where it shows none. */
function callOf(line: string): string[] | null {
  const words = wordsOf(line);
  const start = words.findIndex((word) => !/^(?:npx|[A-Z_]+=\S*|sudo|\$)$/.test(word));
  return words[start] === 'perwatt' ? words.slice(start + 1) : null;
}

interface Shown {
  readonly where: string;
  readonly line: string;
  readonly args: readonly string[];
  /** Whether it only names a command and options, within a sentence. */
  readonly mention: boolean;
}

const shownIn = (where: string, lines: readonly string[], mention = false): Shown[] =>
  lines.flatMap((line) => {
    const args = callOf(line);
    return args === null || args.some((word) => word.includes('…')) ? [] : [{ where, line, args, mention }];
  });

/** What a mention may leave out. */
const left = [
  'commander.missingArgument',
  'commander.missingMandatoryOptionValue',
  'commander.optionMissingArgument',
];

/** What is wrong with a call; null when it could be made as it stands. */
async function problemOf({ where, line, args, mention }: Shown): Promise<string | null> {
  try {
    await (await parsedOnly(args)).parseAsync(args, { from: 'user' });
    return null;
  } catch (error) {
    if (error instanceof CommanderError && (error.exitCode === 0 || (mention && left.includes(error.code))))
      return null;
    return `${where}: ${line.trim()}: ${error instanceof Error ? error.message : String(error)}`;
  }
}

async function problemsOf(shown: readonly Shown[]): Promise<string[]> {
  const problems: string[] = [];
  for (const call of shown) {
    const problem = await problemOf(call);
    if (problem !== null) problems.push(problem);
  }
  return problems;
}

const pages = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], {
  cwd: repository,
  encoding: 'utf8',
})
  .trim()
  .split('\n');

describe('a call that is shown', () => {
  test('on a page could be made as it stands', async () => {
    const shown = pages.flatMap((page) => {
      const text = readFileSync(join(repository, page), 'utf8').replaceAll(/\\\n\s*/g, ' ');
      const fenced = [...text.matchAll(/^```(?:sh|bash|text)?\n(.*?)^```/gms)].flatMap(([, block = '']) =>
        block.split('\n'),
      );
      const indented = text.split('\n').filter((line) => /^ {4}\S/.test(line));
      const inline = [...text.matchAll(/`((?:npx )?perwatt [^`\n]+)`/g)].flatMap(([, call = '']) => call);
      return [...shownIn(page, [...fenced, ...indented]), ...shownIn(page, inline, true)];
    });
    expect(shown.length).toBeGreaterThan(80);
    expect(await problemsOf(shown)).toEqual([]);
  }, 60_000);

  test('in a help could be made as it stands', async () => {
    const shown = below(await parsedOnly()).flatMap((command) => {
      let text = '';
      command.configureOutput({
        writeOut: (part) => {
          text += part;
        },
      });
      command.outputHelp();
      return shownIn(
        pathOf(command),
        text
          .replaceAll(/\\\n\s*/g, ' ')
          .split('\n')
          .filter((line) => line.startsWith('  ')),
      );
    });
    expect(shown.length).toBeGreaterThan(100);
    expect(await problemsOf(shown)).toEqual([]);
  }, 60_000);

  test('in the table of commands has the options that stand beside it', async () => {
    const program = await parsedOnly();
    const rows = readFileSync(join(repository, 'README.md'), 'utf8').split('\n');
    const cells = rows.flatMap((row) => {
      const own = row.startsWith('| `')
        ? program.commands.filter((command) => row.match(/^\|[^|]*/)?.[0].includes(`\`${command.name()}`))
        : [];
      return own.map((command) => ({ command, text: row }));
    });
    const listed = new Set(cells.map(({ command }) => command.name()));
    expect(program.commands.map((command) => command.name()).filter((name) => !listed.has(name))).toEqual([]);
    const unknown = cells.flatMap(({ command, text }) => {
      const known = below(command).flatMap(({ options }) => options.flatMap(({ long }) => long ?? []));
      const named = [...text.matchAll(/`[^`]*`/g)].flatMap(([code]) => code.match(/--[a-z][a-z-]*/g) ?? []);
      return named
        .filter((option) => !known.includes(option))
        .map((option) => `${command.name()}: ${option}`);
    });
    expect(unknown).toEqual([]);
  });

  // biome-ignore format: a table is read in columns
  test.each<[string, readonly string[] | null, string]>([
    ['perwatt run a.yaml  # the matrix',         ['run', 'a.yaml'],                      'a comment is none of it'],
    ['  npx perwatt query runs/<id> "SELECT 1"', ['query', 'runs/<id>', 'SELECT 1'],     'a placeholder and a quoted text'],
    ['KEY=x perwatt call --json | jq .',         ['call', '--json'],                     'a variable before, a pipe behind'],
    ['perwatt datasets list      what there is', ['datasets', 'list'],                   'what it does, in a column of its own'],
    ['echo perwatt run',                         null,                                   'another command'],
  ])('%j is the call %j: %s', (line, args) => {
    expect(callOf(line)).toEqual(args);
  });
});
