import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommanderError } from 'commander';
import { describe, expect, onTestFinished, test } from 'vitest';
import { recordedIo } from '../io.fixture.js';
import { datasetsCommand } from './datasets.js';

/** Runs the command in a folder; what it threw is a result like any other. */
async function run(
  args: readonly string[],
  cwd = '/',
): Promise<{ readonly out: string[]; readonly error: unknown }> {
  const { io, result } = recordedIo({ cwd });
  const command = datasetsCommand(io);
  for (const each of [command, ...command.commands])
    each.exitOverride().configureOutput({ writeErr: () => {} });
  const error = await command.parseAsync(args, { from: 'user' }).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  return { out: result.out, error };
}

function folderWith(name: string, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'perwatt-datasets-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, name), text);
  return folder;
}

describe('perwatt datasets list', () => {
  test('names every data set with its grader', async () => {
    const { out } = await run(['list']);
    for (const name of ['arithmetic', 'choice-basic', 'gsm8k', 'mmlu-pro', 'jsonl', 'csv'])
      expect(out.some((line) => line.startsWith(`${name} `))).toBe(true);
  });

  test('is JSON on request', async () => {
    const { out } = await run(['list', '--json']);
    expect(JSON.parse(out.join('\n'))).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ id: 'arithmetic', grader: 'numeric', kind: 'generated' }),
      ]),
    );
  });
});

describe('perwatt datasets show', () => {
  test('prints facts and questions of a generated set, the same for the same seed', async () => {
    const args = ['show', 'arithmetic', '--level', '1', '--limit', '2', '--seed', '5'];
    const { out, error } = await run(args);
    expect(error).toBeNull();
    expect(out.join('\n')).toMatch(/grader numeric, guessing reaches 0\.0 %/);
    expect(
      out.filter((line) => /What is [1-9] \+ [1-9]\? Reply with the number only\./.test(line)),
    ).toHaveLength(2);
    expect((await run(args)).out).toEqual(out);
    expect((await run([...args.slice(0, -1), '6'])).out).not.toEqual(out);
  });

  test('is JSON on request, with the items as a run would take them', async () => {
    const { out } = await run(['show', 'choice-basic', '--limit', '4', '--option', 'options=3', '--json']);
    const dataset = JSON.parse(out.join('\n'));
    expect(dataset).toMatchObject({
      id: 'choice-basic',
      grader: 'choice',
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(dataset.items.map((item: { options: string[] }) => item.options.length)).toEqual([3, 3, 3, 3]);
  });

  test('reads a file relative to the working folder, with a mapping', async () => {
    const folder = folderWith('quiz.csv', 'question,answer\nWhat is 2 + 2?,4\n');
    const mapping = [
      '--option',
      'fields={"prompt": "question", "gold": "answer"}',
      '--option',
      'grader=numeric',
    ];
    const { out, error } = await run(['show', 'csv', '--path', 'quiz.csv', ...mapping], folder);
    expect(error).toBeNull();
    expect(out.join('\n')).toContain('row-1, right answer 4\n  What is 2 + 2?');
  });

  test('a file loader without a path is explained', async () => {
    const { out, error } = await run(['show', 'jsonl']);
    expect(error).toBeNull();
    expect(out.join('\n')).toMatch(/path +the file; required/);
  });

  test('a published set without a path says where it comes from', async () => {
    const { out } = await run(['show', 'gpqa']);
    expect(out.join('\n')).toMatch(
      /on the hub as Idavidrein\/gpqa \(gated\)\nrecords: diamond 198, .*\nAccept the terms/,
    );
  });

  // biome-ignore format: a table is read in columns
  test.each([
    [['show', 'arithmatic'],                                  'DATASET_UNKNOWN',     'unknown data set "arithmatic"; did you mean "arithmetic"?', 'a misspelt name'],
    [['show', 'arithmetic', '--level', '9'],                  'INPUT_INVALID',       'option "level" is 9, not a whole number from 1 to 5',       'a level there is not'],
    [['show', 'arithmetic', '--option', 'levle=1'],           'INPUT_INVALID',       'unknown option "levle"; did you mean "level"?',             'a misspelt option'],
    [['show', 'choice-basic', '--level', '1'],                'INPUT_INVALID',       'unknown option "level"',                                    'an option of another set'],
    [['show', 'jsonl', '--path', 'nowhere.jsonl'],            'FILE_UNREADABLE',     'cannot read nowhere.jsonl: ENOENT',                         'no such file'],
    [['show', 'arithmetic', '--option', 'level'],             'USAGE',               '"level" is no name=value',                                  'an option without a value'],
  ])('%j fails with %s: %s (%s)', async (args, code, message) => {
    expect((await run(args)).error).toMatchObject({ code, message: expect.stringContaining(message) });
  });

  test('a row without its field is named by file and line', async () => {
    const folder = folderWith('bad.jsonl', '{"prompt": "1 + 1?", "gold": "2"}\n{"prompt": "2 + 2?"}\n');
    expect((await run(['show', 'jsonl', '--path', 'bad.jsonl'], folder)).error).toMatchObject({
      code: 'DATASET_ROW_INVALID',
      message: 'bad.jsonl line 2: field "gold" is missing or empty',
    });
  });

  test('a limit that is no number is wrong usage', async () => {
    expect((await run(['show', 'arithmetic', '--limit', 'some'])).error).toBeInstanceOf(CommanderError);
  });
});
