import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { fc, test as property } from '@fast-check/vitest';
import { PerwattError } from '@perwatt/core';
import { afterAll, describe, expect, test } from 'vitest';
import { loadDataset } from '../catalogue.js';
import type { ReadLimits } from './limits.js';

const root = mkdtempSync(join(tmpdir(), 'perwatt-hostile-'));
afterAll(() => rmSync(root, { recursive: true }));

interface Given {
  readonly name?: string;
  readonly kind?: string;
  readonly limit?: number;
  readonly options?: Record<string, unknown>;
  readonly limits?: Partial<ReadLimits>;
}

function load(content: string | Uint8Array | null, given: Given = {}) {
  const { name = 'data.jsonl', kind = 'gsm8k', limit, options, limits } = given;
  if (content !== null) writeFileSync(join(root, name), content);
  return loadDataset(
    { kind, options: { path: name, ...options }, ...(limit === undefined ? {} : { limit }) },
    { root, seed: 1, ...(limits === undefined ? {} : { limits }) },
  );
}

const line = (n: number) => `${JSON.stringify({ question: `What is ${n}?`, answer: `#### ${n}` })}\n`;
const two = line(1) + line(2);
const LFS = 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n';
const MIB = 2 ** 20;

describe('files that are not what they should be', () => {
  // biome-ignore format: a table is read in columns
  test.each<readonly [content: string | Uint8Array, given: Given, message: string, why: string]>([
    ['<!DOCTYPE html>\n<html><body>Sign in</body></html>', {}, 'data.jsonl is a web page, not data',        'a page to sign in at'],
    ['\uFEFF  <html lang="en">',                 {}, 'data.jsonl is a web page, not data',                   'a page behind a mark and blanks'],
    [gzipSync('<!doctype html><p>no</p>'),       {}, 'data.jsonl is a web page, not data',                   'a packed page'],
    ['<html><table></table></html>',             { name: 'data.csv', kind: 'csv' }, 'data.csv is a web page, not data', 'a page called csv'],
    [LFS,                                        {}, 'data.jsonl is a pointer to a large file, not the file', 'a pointer of git'],
    [Buffer.from('PK\u0003\u0004rest'),          {}, 'data.jsonl is a zip archive',                          'an archive'],
    [Buffer.from('PAR1 and nothing more PAR1'),  {}, 'data.jsonl is not a whole Parquet file (',             'a broken table'],
    [Buffer.from('ARROW1\0\0 and no more'),      {}, 'data.jsonl is not a whole Arrow file (',               'a broken Arrow file'],
    [gzipSync(two.repeat(50)).subarray(0, 60),   {}, 'data.jsonl is not a whole gzip file (',                'a cut gzip file'],
    ['',                                         {}, 'data.jsonl: the file has no rows',                     'an empty file'],
    [Buffer.concat([Buffer.from(two), Buffer.from([0xff, 0xfe, 0x0a])]), {}, 'data.jsonl is not UTF-8 text', 'bytes that are no text'],
    [`${line(1)}{"question": "x", "answer": 5}\n`, {}, 'data.jsonl line 2: field "answer" does not end in "#### N"', 'a number for a text'],
    [`${line(1)}{"question": ["x"], "answer": "#### 5"}\n`, {}, 'data.jsonl line 2: field "question" is ["x"], not a text', 'a list for a text'],
    ['{"query": "x", "response": "y"}\n',        {}, 'data.jsonl line 1: not a record of "gsm8k": missing "question", "answer"; found "query", "response"', 'a schema that has changed'],
    ['{}\n',                                     {}, 'missing "question", "answer"; found no fields',         'an empty record'],
    ['[1, 2]',                                   {}, 'data.jsonl entry 1: not a record of "gsm8k"',          'a list of numbers'],
    [`[${JSON.stringify({ question: 'x', answer: '#### 1' })}, 7]`, {}, 'data.jsonl: the entry at line 1 is not an object', 'a number among objects'],
    ['"text"',                                   {}, 'data.jsonl line 1: not a JSON object',                 'a bare text'],
  ])('%# %s is one clear error: %s', async (content, given, message) => {
    const error = await load(content, given).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(PerwattError);
    expect(error).toMatchObject({ code: 'DATASET_ROW_INVALID', message: expect.stringContaining(message) });
  });

  // biome-ignore format: a table is read in columns
  test.each([
    ['../../etc/passwd',  'reads like a path that leaves its folder',    'a way up'],
    ['a/../../b',         'reads like a path that leaves its folder',    'a way up inside'],
    ['..\\..\\b',         'reads like a path that leaves its folder',    'a way up in the other spelling'],
    ['/etc/passwd',       'reads like a path that leaves its folder',    'a path from the root'],
    ['a\u0000b',          'has control or invisible characters',         'a null'],
    ['a\u001b[2Jb',       'has control or invisible characters',         'an escape of a terminal'],
    ['a\u202Eb',          'has control or invisible characters',         'a turn of the writing direction'],
    ['a\nb',              'has control or invisible characters',         'a line end'],
  ])('the id %j is refused: %s (%s)', async (task_id, message) => {
    const record = { task_id, prompt: 'def f():', entry_point: 'f', canonical_solution: '1', test: 'x' };
    await expect(load(`${JSON.stringify(record)}\n`, { kind: 'humaneval' })).rejects.toMatchObject({
      code: 'DATASET_ROW_INVALID',
      message: expect.stringContaining(message),
    });
  });

  test('ids with a slash or dots in them are fine', async () => {
    for (const task_id of ['HumanEval/0', 'test/algebra/1.json', 'a..b', '...']) {
      const record = { task_id, prompt: 'def f():', entry_point: 'f', canonical_solution: '1', test: 'x' };
      expect((await load(`${JSON.stringify(record)}\n`, { kind: 'humaneval' })).items[0]?.id).toBe(task_id);
    }
  });

  test('a wrong hash stops the load, and the right one passes', async () => {
    const sha256 = createHash('sha256').update(two).digest('hex');
    expect((await load(two, { options: { sha256: sha256.toUpperCase() } })).files).toEqual([
      { path: 'data.jsonl', bytes: two.length, sha256 },
    ]);
    const error = await load(two.replace('1', '2'), { options: { sha256 } }).catch((e: unknown) => e);
    expect(error).toMatchObject({
      code: 'DATASET_CHANGED',
      message: expect.stringContaining(`but ${sha256} is pinned`),
    });
  });

  test('script and braces in a question stay text', async () => {
    const question = '<script>alert(1)</script> {shots} {question} $& \u001b[31m';
    const { items } = await load(`${JSON.stringify({ question, answer: '#### 1' })}\n`);
    expect(items[0]?.prompt.startsWith(`${question}\n`)).toBe(true);
  });
});

describe('files that are too large', () => {
  test('of a file of 1 GB only what the limit asks for is read', async () => {
    writeFileSync(join(root, 'large.jsonl'), two);
    truncateSync(join(root, 'large.jsonl'), 2 ** 30);
    const { items, files } = await load(null, { name: 'large.jsonl', limit: 2 });
    expect(items).toHaveLength(2);
    expect(files).toEqual([{ path: 'large.jsonl', bytes: 2 ** 30, sha256: null }]);
  });

  test('a line without end is an error before it fills the memory', async () => {
    writeFileSync(join(root, 'endless.jsonl'), two);
    truncateSync(join(root, 'endless.jsonl'), 64 * MIB);
    await expect(
      load(null, { name: 'endless.jsonl', limits: { record_bytes: 4 * MIB } }),
    ).rejects.toMatchObject({
      code: 'DATASET_ROW_INVALID',
      message: 'endless.jsonl line 3 is longer than 4 MiB',
    });
  });

  // biome-ignore format: a table is read in columns
  test.each<readonly [content: () => Uint8Array, limits: Partial<ReadLimits>, message: RegExp, why: string]>([
    [() => gzipSync(Buffer.alloc(80 * MIB, 0x0a)),                {},                                     /unpacks to more than 250 times its own size: \d+ bytes gave \d+ and more/, 'a bomb of line ends'],
    [() => gzipSync(Buffer.from(line(1).repeat(2000))),           { ratio_from_bytes: 1000, unpack_ratio: 20 }, /unpacks to more than 20 times its own size/, 'a bomb of rows'],
    [() => gzipSync(Buffer.from(two.repeat(200))),                { unpacked_bytes: 4096 },               /unpacks to more than 4 KiB: \d+ bytes gave/,     'more than is wanted at all'],
    [() => gzipSync(gzipSync(Buffer.from(two))),                  {},                                     /not UTF-8 text|not JSON/,                              'packed twice'],
  ])('a packed file is bounded: %# %o %s', async (content, limits, message) => {
    await expect(load(content(), { name: 'bomb.jsonl.gz', limits })).rejects.toMatchObject({
      code: 'DATASET_ROW_INVALID',
      message: expect.stringMatching(message),
    });
  });

  test('a packed file within its limits is read as it is', async () => {
    const plain = await load(two);
    expect((await load(gzipSync(two), { name: 'data.jsonl.gz' })).digest).toBe(plain.digest);
  });

  test('the text of all questions is bounded', async () => {
    await expect(load(two.repeat(1) + line(3), { limits: { text_units: 250 } })).rejects.toMatchObject({
      message: expect.stringMatching(/^data\.jsonl line \d: the questions up to here hold more than/),
    });
  });

  test('a JSON file that is one value is bounded', async () => {
    const content = JSON.stringify({ domain: 'x', instances: [{ text: 'y'.repeat(MIB) }] }, null, 1);
    await expect(
      load(content, { kind: 'planbench', name: 'one.json', limits: { record_bytes: MIB / 2 } }),
    ).rejects.toMatchObject({ message: 'one.json as one JSON value is longer than 512 KiB' });
  });

  test('an array with an entry without end is bounded', async () => {
    const content = `[{"question": "${'y'.repeat(4 * MIB)}`;
    await expect(load(content, { name: 'array.json', limits: { record_bytes: MIB } })).rejects.toMatchObject({
      message: 'array.json: an entry is longer than 1 MiB',
    });
  });

  test('a load that is aborted ends with the reason, also in the middle', async () => {
    const reason = new Error('stopped');
    const signal = AbortSignal.abort(reason);
    writeFileSync(join(root, 'data.jsonl'), two);
    const spec = { kind: 'gsm8k', options: { path: 'data.jsonl' } };
    await expect(loadDataset(spec, { root, seed: 1, signal })).rejects.toBe(reason);
  });
});

describe('folders', () => {
  test('the files of a folder are read in the order of their names, and others left alone', async () => {
    mkdirSync(join(root, 'math/test/algebra'), { recursive: true });
    mkdirSync(join(root, 'math/test/.git'), { recursive: true });
    const record = (n: number) =>
      JSON.stringify(
        { problem: `p${n}`, level: 'Level 2', type: 'Algebra', solution: `so \\boxed{${n}}` },
        null,
        1,
      );
    writeFileSync(join(root, 'math/test/algebra/2.json'), record(2));
    writeFileSync(join(root, 'math/test/algebra/1.json'), record(1));
    writeFileSync(join(root, 'math/test/README.md'), '# no data');
    writeFileSync(join(root, 'math/test/.git/x.json'), 'broken');
    const { items } = await load(null, { kind: 'math', name: 'math/test' });
    expect(items.map(({ id, gold, subject, data }) => [id, gold, subject, data])).toEqual([
      ['algebra/1.json', '1', 'Algebra', { kind: 'facts', level: '2' }],
      ['algebra/2.json', '2', 'Algebra', { kind: 'facts', level: '2' }],
    ]);
  });

  test('a folder without data is an error', async () => {
    mkdirSync(join(root, 'empty'), { recursive: true });
    await expect(load(null, { name: 'empty' })).rejects.toMatchObject({
      message: 'empty is a folder without data files',
    });
  });

  test.each(['../secret.arrow', '/etc/passwd', '.hidden', 7])(
    'a saved data set that names the file %j is refused',
    async (filename) => {
      mkdirSync(join(root, 'saved'), { recursive: true });
      writeFileSync(join(root, 'saved/state.json'), JSON.stringify({ _data_files: [{ filename }] }));
      await expect(load(null, { kind: 'ipw-mixed', name: 'saved' })).rejects.toMatchObject({
        code: 'DATASET_ROW_INVALID',
        message: expect.stringContaining('which is none of its own folder'),
      });
    },
  );
});

describe('any bytes', () => {
  property.prop(
    [fc.uint8Array({ maxLength: 400 }), fc.constantFrom('x.jsonl', 'x.json', 'x.csv', 'x.parquet')],
    {
      numRuns: 150,
      seed: 4,
    },
  )('are rows or one of our errors, never a crash or an endless loop', async (bytes, name) => {
    const error = await load(bytes, { name }).then(
      () => null,
      (e: unknown) => e,
    );
    if (error !== null) expect(error).toBeInstanceOf(PerwattError);
  });

  property.prop(
    [fc.string({ unit: fc.constantFrom('{', '}', '[', ']', '"', '\\', ',', ':', '\n', 'a', '1', ' ') })],
    {
      numRuns: 300,
      seed: 5,
    },
  )('nor is a text of brackets and quotes', async (text) => {
    const error = await load(text, { name: 'y.json' }).then(
      () => null,
      (e: unknown) => e,
    );
    if (error !== null) expect(error).toBeInstanceOf(PerwattError);
  });
});
