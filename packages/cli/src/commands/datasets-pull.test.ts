import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { pulledFiles } from '../datasets-store.js';
import { hubServer, type ServedRepo } from '../hub-server.fixture.js';
import { recordedIo } from '../io.fixture.js';
import { datasetsCommand } from './datasets.js';

const jsonl = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

const gsm8k = jsonl([
  { question: 'One and one?', answer: '1 + 1\n#### 2' },
  { question: 'Two and two?', answer: '2 + 2\n#### 4' },
]);
const gpqa = `Question,Correct Answer,Incorrect Answer 1,Incorrect Answer 2,Incorrect Answer 3\nWhy?,a,b,c,d\n`;
const FILE = 'main/test-00000-of-00001.parquet';

const repo = (change: Partial<ServedRepo> = {}): ServedRepo => ({
  name: 'openai/gsm8k',
  commit: 'c0ffee',
  files: { [FILE]: gsm8k, 'main/train-00000-of-00001.parquet': gsm8k, 'README.md': '# GSM8K' },
  ...change,
});

function place() {
  const root = mkdtempSync(join(tmpdir(), 'perwatt-pull-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const run = async (args: readonly string[], env: Readonly<Record<string, string>> = {}) => {
    const { io, result } = recordedIo({ cwd: root, env: { PERWATT_CACHE: join(root, 'cache'), ...env } });
    const command = datasetsCommand(io);
    for (const each of [command, ...command.commands])
      each.exitOverride().configureOutput({ writeErr: () => {} });
    const error = await command.parseAsync(args, { from: 'user' }).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    return { ...result, error };
  };
  return { root, run, folder: join(root, 'cache', 'datasets', 'gsm8k', 'test') };
}

describe('perwatt datasets pull', () => {
  test('fetches the files of a split at one commit, pins them, and a data set needs no path any more', async () => {
    const { run, folder, root } = place();
    const hub = await hubServer([repo()]);
    const env = { HF_ENDPOINT: hub.url };
    const { out, error } = await run(['pull', 'gsm8k', '--json'], env);
    expect(error).toBeNull();
    expect(JSON.parse(out.join('\n'))).toMatchObject({
      id: 'gsm8k',
      split: 'test',
      repo: 'openai/gsm8k',
      revision: 'c0ffee',
      rows: 2,
      files: [{ path: FILE, bytes: gsm8k.length, sha256: sha256(gsm8k) }],
    });
    expect(readFileSync(join(folder, FILE), 'utf8')).toBe(gsm8k);
    expect(hub.asked.some((url) => url.includes(`/datasets/openai/gsm8k/resolve/c0ffee/${FILE}`))).toBe(true);
    expect(hub.asked.some((url) => url.includes('train-'))).toBe(false);
    expect((await run(['list'])).out.find((line) => line.startsWith('gsm8k '))).toMatch(/present \(test\)/);
    expect((await run(['show', 'gsm8k', '--items', '1'])).out.join('\n')).toContain(
      'gsm8k-0, right answer 2',
    );
    const files = pulledFiles({ env: { PERWATT_CACHE: join(root, 'cache') } })('gsm8k', 'test');
    expect(files).toMatchObject([{ path: `gsm8k/test/${FILE}`, sha256: sha256(gsm8k) }]);
  });

  test('a second pull fetches nothing that is there and right', async () => {
    const { run } = place();
    const hub = await hubServer([repo()]);
    await run(['pull', 'gsm8k'], { HF_ENDPOINT: hub.url });
    const before = hub.asked.filter((url) => url.includes('/resolve/')).length;
    expect((await run(['pull', 'gsm8k'], { HF_ENDPOINT: hub.url })).error).toBeNull();
    expect(hub.asked.filter((url) => url.includes('/resolve/'))).toHaveLength(before);
  });

  test('a file that changed upstream is refused until it is meant; the old one stays', async () => {
    const { run, folder } = place();
    const hub = await hubServer([repo()]);
    const env = { HF_ENDPOINT: hub.url };
    await run(['pull', 'gsm8k'], env);
    const newer = jsonl([{ question: 'Three and three?', answer: '#### 6' }]);
    hub.repos = [repo({ commit: 'beef', files: { [FILE]: newer } })];
    expect((await run(['pull', 'gsm8k'], env)).error).toMatchObject({
      code: 'DATASET_CHANGED',
      message: `${FILE} of openai/gsm8k has sha256 ${sha256(newer)}, but ${sha256(gsm8k)} is pinned`,
    });
    expect(readFileSync(join(folder, FILE), 'utf8')).toBe(gsm8k);
    expect((await run(['pull', 'gsm8k', '--repin'], env)).error).toBeNull();
    expect(readFileSync(join(folder, FILE), 'utf8')).toBe(newer);
  });

  test('bytes other than the hub says are never kept', async () => {
    const { run, folder } = place();
    const hub = await hubServer([repo({ says: { [FILE]: 'ab'.repeat(32) } })]);
    expect((await run(['pull', 'gsm8k'], { HF_ENDPOINT: hub.url })).error).toMatchObject({
      code: 'DATASET_CHANGED',
      message: expect.stringContaining(`but the hub says ${'ab'.repeat(32)}`),
    });
    expect(existsSync(join(folder, FILE))).toBe(false);
  });

  test('a schema that changed upstream is one error that names the fields; nothing counts as pulled', async () => {
    const { run } = place();
    const hub = await hubServer([repo({ files: { [FILE]: jsonl([{ problem: 'x', solution: 'y' }]) } })]);
    expect((await run(['pull', 'gsm8k'], { HF_ENDPOINT: hub.url })).error).toMatchObject({
      code: 'DATASET_ROW_INVALID',
      message: expect.stringMatching(
        /not a record of "gsm8k": missing "question", "answer"; found "problem", "solution"/,
      ),
    });
    expect((await run(['list'])).out.find((line) => line.startsWith('gsm8k '))).toMatch(/absent/);
  });

  test('a layout that changed upstream is one error', async () => {
    const { run } = place();
    const hub = await hubServer([repo({ files: { 'data.zip': 'x' } })]);
    expect((await run(['pull', 'gsm8k'], { HF_ENDPOINT: hub.url })).error).toMatchObject({
      code: 'DATASET_CHANGED',
      message: 'openai/gsm8k has no file main/test-*.parquet any more; it has 1 files',
    });
  });

  test('a gated set says how to get in, with and without a token; the right token opens it', async () => {
    const { run } = place();
    const gated: ServedRepo = {
      name: 'Idavidrein/gpqa',
      commit: 'c1',
      files: { 'gpqa_diamond.csv': gpqa },
      token: 'hf_right',
    };
    const hub = await hubServer([gated]);
    expect((await run(['list'])).out.find((line) => line.startsWith('gpqa '))).toMatch(/ gated /);
    for (const [env, status] of [
      [{}, 401],
      [{ HF_TOKEN: 'hf_wrong' }, 403],
    ] as const)
      expect((await run(['pull', 'gpqa'], { HF_ENDPOINT: hub.url, ...env })).error).toMatchObject({
        code: 'DATASET_UNAVAILABLE',
        message: `data set Idavidrein/gpqa is gated, and the hub refuses it (HTTP ${status})`,
        hint: expect.stringMatching(/Accept the terms on the page of `Idavidrein\/gpqa`.*HF_TOKEN.*--from/),
      });
    expect((await run(['pull', 'gpqa'], { HF_ENDPOINT: hub.url, HF_TOKEN: 'hf_right' })).error).toBeNull();
    const shown = (await run(['show', 'gpqa'])).out.join('\n');
    expect(shown).toContain('withheld: its authors ask not to show its questions');
    expect(shown).not.toContain('Why?');
    expect((await run(['show', 'gpqa', '--json'])).out.join('\n')).not.toContain('Why?');
  });

  test('a set that is gone, a hub that is not there, and an offline hub say so, and what to do', async () => {
    const { run } = place();
    const hub = await hubServer([]);
    expect((await run(['pull', 'gsm8k'], { HF_ENDPOINT: hub.url })).error).toMatchObject({
      code: 'DATASET_UNAVAILABLE',
      message: 'the hub has no data set openai/gsm8k for you (HTTP 401)',
      hint: expect.stringContaining('--from'),
    });
    expect((await run(['pull', 'gsm8k'], { HF_ENDPOINT: 'http://127.0.0.1:9' })).error).toMatchObject({
      code: 'DATASET_UNAVAILABLE',
      message: expect.stringMatching(/^data set openai\/gsm8k cannot be had from the hub: /),
      hint: expect.stringContaining('HF_ENDPOINT'),
    });
    expect((await run(['pull', 'gsm8k'], { HF_HUB_OFFLINE: '1' })).error).toMatchObject({
      message: 'data set openai/gsm8k cannot be had from the hub: HF_HUB_OFFLINE is set',
    });
    expect((await run(['pull', 'musique'])).error).toMatchObject({
      code: 'DATASET_UNAVAILABLE',
      message: 'data set "musique" is not on the hub',
      hint: expect.stringContaining('--from FILE'),
    });
  });

  test('a repository cannot write outside its folder', async () => {
    const { run, root } = place();
    const hub = await hubServer([
      { name: 'cais/hle', commit: 'c', files: {} },
      repo({ files: { 'main/test-..\\..\\evil.parquet': gsm8k } }),
    ]);
    expect((await run(['pull', 'gsm8k'], { HF_ENDPOINT: hub.url })).error).toMatchObject({
      code: 'DATASET_UNAVAILABLE',
      message: expect.stringContaining('would leave its folder'),
    });
    expect(existsSync(join(root, 'cache', 'datasets'))).toBe(false);
  });
});

describe('perwatt datasets pull --from', () => {
  test('keeps a file, checked and pinned; another one needs --repin', async () => {
    const { root, run, folder } = place();
    writeFileSync(join(root, 'mine.jsonl'), gsm8k);
    const first = await run(['pull', 'gsm8k', '--from', 'mine.jsonl', '--sha256', sha256(gsm8k)]);
    expect(first.error).toBeNull();
    expect(first.err.join('\n')).toContain('mine.jsonl is no copy that the card knows');
    expect(JSON.parse(readFileSync(join(folder, 'pulled.json'), 'utf8'))).toMatchObject({
      repo: null,
      files: [{ path: 'mine.jsonl', sha256: sha256(gsm8k) }],
    });
    writeFileSync(join(root, 'mine.jsonl'), `${gsm8k}\n`);
    expect((await run(['pull', 'gsm8k', '--from', 'mine.jsonl'])).error).toMatchObject({
      code: 'DATASET_CHANGED',
    });
    expect(readFileSync(join(folder, 'mine.jsonl'), 'utf8')).toBe(gsm8k);
    expect((await run(['pull', 'gsm8k', '--from', 'mine.jsonl', '--repin'])).error).toBeNull();
  });

  test('a file that was changed after the pull is refused by every reader', async () => {
    const { root, run, folder } = place();
    writeFileSync(join(root, 'mine.jsonl'), gsm8k);
    await run(['pull', 'gsm8k', '--from', 'mine.jsonl']);
    writeFileSync(join(folder, 'mine.jsonl'), gsm8k.replace('#### 2', '#### 3'));
    expect((await run(['show', 'gsm8k'])).error).toMatchObject({
      code: 'DATASET_CHANGED',
      message: expect.stringMatching(
        /^gsm8k\/test\/mine\.jsonl has sha256 [0-9a-f]{64}, but [0-9a-f]{64} is pinned$/,
      ),
    });
    const verified = await run(['verify', '--json']);
    expect(verified.code).toBe(1);
    expect(JSON.parse(verified.out.join('\n'))).toMatchObject([
      {
        dataset: 'gsm8k',
        check: 'files',
        state: 'failed',
        detail: expect.stringContaining('DATASET_CHANGED'),
      },
    ]);
  });

  // biome-ignore format: a table is read in columns
  test.each([
    [['--from', 'none.jsonl'],                         'FILE_UNREADABLE',     'cannot read none.jsonl: ENOENT',             'no such file'],
    [['--from', 'page.html'],                          'DATASET_ROW_INVALID', 'page.html is a web page, not data',          'a page instead of data'],
    [['--from', 'mine.jsonl', '--sha256', 'ab'],       'DATASET_CHANGED',     'but ab is wanted',                           'another hash than wanted'],
    [['--sha256', 'ab'],                               'USAGE',               '--sha256 is for a file given with --from',   'a hash without a file'],
    [['--split', 'tset'],                              'USAGE',               'has no split "tset": test, train',           'a split there is not'],
  ])('%j fails with %s: %s (%s)', async (args, code, message) => {
    const { root, run } = place();
    writeFileSync(join(root, 'mine.jsonl'), gsm8k);
    writeFileSync(join(root, 'page.html'), '<!doctype html><html></html>');
    expect((await run(['pull', 'gsm8k', ...args])).error).toMatchObject({ code, message: expect.stringContaining(message) });
    expect((await run(['list'])).out.find((line) => line.startsWith('gsm8k '))).toMatch(/absent/);
  });

  test('a generated set needs no files', async () => {
    expect((await place().run(['pull', 'arithmetic'])).error).toMatchObject({
      code: 'INPUT_INVALID',
      message: 'data set "arithmetic" is generated and needs no files',
    });
  });
});

describe('perwatt datasets verify', () => {
  test('checks a file: hash, count, duplicates, known bad golds, and the grader on its own golds', async () => {
    const { root, run } = place();
    writeFileSync(join(root, 'mine.jsonl'), gsm8k + gsm8k);
    const { out, code, error } = await run(['verify', 'gsm8k', '--path', 'mine.jsonl', '--json']);
    expect([error, code]).toEqual([null, 0]);
    expect(
      JSON.parse(out.join('\n')).map(({ check, state, detail }: Record<string, string>) => [
        check,
        state,
        detail,
      ]),
    ).toEqual([
      ['files', 'ok', expect.stringMatching(/^mine\.jsonl [0-9a-f]{16}…$/)],
      ['count', 'note', '4 records; the card says 1319'],
      ['duplicates', 'note', '2: gsm8k-2 as gsm8k-0, gsm8k-3 as gsm8k-1'],
      ['known bad', 'ok', 'none of the items'],
      ['gold against gold', 'ok', '4 of 4 right'],
    ]);
  });

  test('what was pulled must be the whole', async () => {
    const { root, run } = place();
    writeFileSync(join(root, 'mine.jsonl'), gsm8k);
    await run(['pull', 'gsm8k', '--from', 'mine.jsonl']);
    const { out, code } = await run(['verify']);
    expect(code).toBe(1);
    expect(out.join('\n')).toMatch(/gsm8k +test +count +failed +2 records; the card says 1319/);
  });

  test('nothing pulled is said, and a name without files is an error', async () => {
    const { run } = place();
    expect((await run(['verify'])).out.join('\n')).toContain('nothing was pulled');
    expect((await run(['verify', 'gsm8k'])).error).toMatchObject({ code: 'DATASET_UNAVAILABLE' });
    expect((await run(['verify', '--path', 'x'])).error).toMatchObject({ code: 'USAGE' });
  });
});
