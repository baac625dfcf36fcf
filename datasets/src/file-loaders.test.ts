import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PerwattError } from '@perwatt/core';
import { afterAll, describe, expect, test } from 'vitest';
import { loadDataset } from './catalogue.js';

const root = mkdtempSync(join(tmpdir(), 'perwatt-files-'));
afterAll(() => rmSync(root, { recursive: true }));

/** Loads a file of this content. */
function load(
  kind: string,
  content: string | Uint8Array,
  options: Record<string, unknown> = {},
  limit?: number,
) {
  writeFileSync(join(root, 'data'), content);
  return loadDataset(
    { kind, options: { path: 'data', ...options }, ...(limit === undefined ? {} : { limit }) },
    { root, seed: 1 },
  );
}

const row = (fields: object) => `${JSON.stringify(fields)}\n`;
const two = row({ id: 'a', prompt: '1 + 1?', gold: '2' }) + row({ id: 'b', prompt: '2 + 2?', gold: 4 });

describe('jsonl', () => {
  test('fields of the usual names need no mapping', async () => {
    const dataset = await load('jsonl', two, { grader: 'numeric', licence: 'CC0-1.0', answer_tokens: 64 });
    expect(dataset).toMatchObject({
      id: 'jsonl:data',
      kind: 'file',
      grader: 'numeric',
      guess_rate: 0,
      answer_tokens: 64,
      licence: 'CC0-1.0',
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(dataset.items).toMatchObject([
      { id: 'a', gold: '2', options: null, subject: null },
      { id: 'b', gold: '4' },
    ]);
    expect(dataset.items[0]?.prompt).toBe(
      '1 + 1?\nFinish with a line "#### N", where N is the answer as a number.',
    );
  });

  // biome-ignore format: a table is read in columns
  test.each([
    [two,                                                'LF'],
    [two.replaceAll('\n', '\r\n'),                       'CRLF'],
    [two.trimEnd(),                                      'no last line end'],
    [`\uFEFF${two}`,                                     'a byte order mark'],
    [`\n${two.replace('\n', '\n\n  \n')}\n\n`,           'blank lines'],
  ])('the same rows are the same items, written %$: %s', async (content) => {
    const plain = await load('jsonl', two);
    expect({ ...(await load('jsonl', content)), files: [] }).toEqual({ ...plain, files: [] });
  });

  test('a separator that JSON allows inside a text does not end a line', async () => {
    const { items } = await load('jsonl', `{"prompt": "a\u2028b", "gold": "c"}\n`);
    expect(items[0]?.prompt).toBe('a\u2028b');
  });

  test('a mapping takes nested fields, options, subject and a template', async () => {
    const content = row({
      q: 'Which is red?',
      meta: { topic: 'colour' },
      choices: { text: ['sky', 'blood'] },
      key: 'b',
    });
    const options = {
      fields: { prompt: 'q', gold: 'key', options: 'choices.text', subject: 'meta.topic' },
      template: 'On {subject}: {prompt}\n{options}\nAnswer: X',
    };
    const { items, grader, guess_rate } = await load('jsonl', content, options);
    expect({ grader, guess_rate }).toEqual({ grader: 'choice', guess_rate: 0.5 });
    expect(items).toEqual([
      {
        id: 'row-1',
        prompt: 'On colour: Which is red?\nA. sky\nB. blood\nAnswer: X',
        gold: 'B',
        options: ['sky', 'blood'],
        subject: 'colour',
      },
    ]);
  });

  test('a gold may be the text of an option', async () => {
    const content = row({ prompt: 'Red?', options: ['sky', 'blood'], gold: 'blood' });
    expect((await load('jsonl', content)).items[0]?.gold).toBe('B');
  });

  test('braces of a prompt that are no placeholders stay', async () => {
    const content = row({ prompt: 'f(x) = {x} and {options}', gold: '1' });
    expect((await load('jsonl', content, { template: '{prompt} {y}' })).items[0]?.prompt).toBe(
      'f(x) = {x} and {options} {y}',
    );
  });

  test('a limit takes the first rows, and does not look at the others', async () => {
    const { items } = await load('jsonl', `${two}broken\n`, {}, 2);
    expect(items.map((i) => i.id)).toEqual(['a', 'b']);
  });

  test('the digest changes with any field of any item, and only then', async () => {
    const digest = async (content: string) => (await load('jsonl', content)).digest;
    const base = await digest(two);
    expect(await digest(two.replace('"a"', '"c"'))).not.toBe(base);
    expect(await digest(two.replace('"2"', '"3"'))).not.toBe(base);
    expect(await digest(two.replace('1 + 1', '1 + 0'))).not.toBe(base);
    expect(await digest(two.split('\n').reverse().join('\n'))).not.toBe(base);
    expect(await digest(two.replaceAll('{', '{"unused": 1, '))).toBe(base);
  });

  test('a pinned sha256 is checked', async () => {
    const sha256 = createHash('sha256').update(two).digest('hex');
    expect((await load('jsonl', two, { sha256 })).items).toHaveLength(2);
    await expect(load('jsonl', two.replace('2', '3'), { sha256 })).rejects.toMatchObject({
      code: 'DATASET_CHANGED',
    });
  });

  // biome-ignore format: a table is read in columns
  test.each<readonly [content: string, options: Record<string, unknown>, message: string, why: string]>([
    [`${two}{"prompt": "x"}`,                     {}, 'data line 3: field "gold" is missing or empty',           'a row without its gold'],
    [`${two}{"prompt": "x", "gold": null}`,       {}, 'data line 3: field "gold" is missing or empty',           'a gold that is null'],
    [`${two}{"id": "c", "prompt": " ", "gold": "x"}`, {}, 'data line 3: field "prompt" is missing or empty',     'a blank prompt'],
    [`${two}{"prompt": "x", "gold": "y"}`,        {}, 'data line 3: field "id" is missing or empty',             'an id that only other rows have'],
    [two,                                         { fields: { gold: 'answer' } }, 'data line 1: field "answer" is missing or empty', 'a mapped field there is not'],
    [`${two}{"prompt": "x", "gold": "y"`,         {}, 'data line 3: not JSON (',                                 'a cut line'],
    [`${two}[1]`,                                 {}, 'data line 3: not a JSON object',                          'a list'],
    [`${two}\n\n${row({ id: 'a', prompt: 'x', gold: 'y' })}`, {}, 'data line 5: id "a" is already that of data line 1', 'an id twice: both lines are named'],
    [row({ id: 'a\u0007', prompt: 'x', gold: 'y' }), {}, 'data line 1: id "a\\u0007" has control or invisible characters', 'an id with a control character'],
    [row({ id: 'x'.repeat(201), prompt: 'x', gold: 'y' }), {}, 'has 201 characters, over 200',                   'an id as long as a text'],
    [row({ prompt: { a: 1 }, gold: 'y' }),        {}, 'data line 1: field "prompt" is {"a":1}, not a text',      'a prompt that is no text'],
    [row({ prompt: 'x', options: ['p', 'q'], gold: 'C' }), {}, 'data line 1: gold "C" names none of the 2 options', 'a gold beyond the options'],
    [row({ prompt: 'x', options: ['p', 'p'], gold: 'p' }), {}, 'data line 1: gold "p" names none of the 2 options', 'a gold that two options share'],
    [row({ prompt: 'x', options: 'p', gold: 'A' }), {}, 'data line 1: field "options" is no list of options',    'options that are no list'],
    ['\n \n',                                     {}, 'data: the file has no rows',                              'no rows at all'],
  ])('%j with %j is an error: %s (%s)', async (content, options, message) => {
    const error = await load('jsonl', content, options).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(PerwattError);
    expect(error).toMatchObject({ code: 'DATASET_ROW_INVALID', message: expect.stringContaining(message) });
  });

  test('a file that is not UTF-8 is an error, not garbled questions', async () => {
    await expect(load('jsonl', Uint8Array.of(0x7b, 0xff, 0xfe))).rejects.toMatchObject({
      code: 'DATASET_ROW_INVALID',
      message: 'data is not UTF-8 text',
    });
  });

  // biome-ignore format: a table is read in columns
  test.each<readonly [options: Record<string, unknown>, message: string, why: string]>([
    [{ fields: { promt: 'q' } },      'unknown option "promt"; did you mean "prompt"?',       'a misspelt role'],
    [{ fields: 'q' },                 'option "fields" is "q", not a mapping of names',       'no mapping'],
    [{ fields: { options: ['a'] } },  'fields.options is ["a"], not a field or a list',       'a single option field'],
    [{ template: 'no placeholder' },  'option "template" has no {prompt} in it',              'a template without the question'],
    [{ filds: {} },                   'unknown option "filds"; did you mean "fields"?',       'a misspelt option'],
    [{ answer_tokens: 0 },            'option "answer_tokens" is 0, not a whole number',      'no tokens'],
  ])('the options %j are an error: %s (%s)', async (options, message) => {
    const error = await load('jsonl', two, options).catch((e: unknown) => e);
    expect(error).toMatchObject({ code: 'INPUT_INVALID', message: expect.stringContaining(message) });
  });

  test('a missing path and a missing file are errors of their own', async () => {
    const context = { root, seed: 1 };
    await expect(loadDataset({ kind: 'jsonl', options: {} }, context)).rejects.toThrow(
      'option "path" is missing',
    );
    await expect(loadDataset({ kind: 'jsonl', options: { path: 'nowhere' } }, context)).rejects.toMatchObject(
      {
        code: 'FILE_UNREADABLE',
        message: 'cannot read nowhere: ENOENT',
      },
    );
  });

  test('a load that is aborted ends with the reason', async () => {
    const reason = new Error('stopped');
    const spec = { kind: 'jsonl', options: { path: 'data' } };
    await expect(loadDataset(spec, { root, seed: 1, signal: AbortSignal.abort(reason) })).rejects.toBe(
      reason,
    );
  });
});

describe('csv', () => {
  const quiz = 'id,question,a,b,key\nq1,"Red, or\nnot?",sky,blood,B\nq2,"Say ""hi""",hi,ho,A\n';
  const fields = { prompt: 'question', gold: 'key', options: ['a', 'b'] };

  test('quoted fields hold commas, quotes and line ends; each option may be a column', async () => {
    const { items, grader } = await load('csv', quiz, { fields, template: '{prompt}\n{options}' });
    expect(grader).toBe('choice');
    expect(items).toEqual([
      {
        id: 'q1',
        prompt: 'Red, or\nnot?\nA. sky\nB. blood',
        gold: 'B',
        options: ['sky', 'blood'],
        subject: null,
      },
      { id: 'q2', prompt: 'Say "hi"\nA. hi\nB. ho', gold: 'A', options: ['hi', 'ho'], subject: null },
    ]);
  });

  test('CRLF, a byte order mark and a missing last line end make no difference', async () => {
    const content = 'prompt,gold\nx,1\ny,2\n';
    const plain = await load('csv', content);
    const other = await load('csv', `\uFEFF${content.replaceAll('\n', '\r\n').trimEnd()}`);
    expect({ ...other, files: [] }).toEqual({ ...plain, files: [] });
  });

  test('a column of options may hold a JSON list', async () => {
    const content = 'prompt,options,gold\nRed?,"[""sky"", ""blood""]",B\n';
    expect((await load('csv', content)).items[0]?.options).toEqual(['sky', 'blood']);
  });

  // biome-ignore format: a table is read in columns
  test.each<readonly [content: string, options: Record<string, unknown>, message: string, why: string]>([
    ['prompt,gold\nx,1\ny,\n',         {},                              'data line 3: field "gold" is missing or empty',    'an empty cell'],
    ['prompt,gold\nx,1\ny\n',          {},                              'data line 3: invalid record length',               'a row with too few cells'],
    ['prompt,gold\n"x\ny",1\nz,\n',    {},                              'data line 4: field "gold" is missing or empty',    'lines are counted through quoted ones'],
    ['question,gold\nx,1\n',           {},                              'data line 1: there is no column "prompt", only "question", "gold"', 'no such column'],
    ['prompt,gold\nx,1\n',             { fields: { subject: 'topic' } }, 'data line 1: there is no column "topic"',         'no such mapped column'],
    ['prompt,gold\nx,"1\n',            {},                              'data line',                                        'a quote that never ends'],
    ['id,prompt,gold\na,x,1\na,y,2\n', {},                              'data line 3: id "a" is already that of data line 2', 'an id twice'],
    ['prompt,gold\n',                  {},                              'data: the file has no rows',                       'a header alone'],
  ])('%j with %j is an error: %s (%s)', async (content, options, message) => {
    const error = await load('csv', content, options).catch((e: unknown) => e);
    expect(error).toMatchObject({ code: 'DATASET_ROW_INVALID', message: expect.stringContaining(message) });
  });
});
