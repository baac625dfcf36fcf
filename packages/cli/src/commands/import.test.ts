import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PublishedManifest } from '@perwatt/records';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { recordedIo } from '../io.fixture.js';
import { importCommand } from './import.js';
import { reportCommand } from './report.js';

let cwd = '';
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'perwatt-import-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const sweep = [
  'power_cap_w,draft_depth,output_tokens_per_s,gpu_power_mean_w,draft_acceptance',
  '400,0,71.2,407,',
  '600,4,162.1,602,0.647',
].join('\n');

async function perwatt(...args: readonly string[]) {
  const { io, result } = recordedIo({ cwd });
  await importCommand(io, '0.1.0').exitOverride().parseAsync(args, { from: 'user' });
  return result.out;
}

const refused = (code: string, message: RegExp) =>
  expect.objectContaining({ code, message: expect.stringMatching(message) });

test('files become a run that can be shown, its bytes named by their sha256', async () => {
  writeFileSync(join(cwd, 'sweep.csv'), sweep);
  const [printed] = await perwatt('power-cap', 'sweep.csv', '--out', 'runs/caps', '--json');
  const manifest = JSON.parse(printed ?? '') as PublishedManifest;
  expect(manifest).toMatchObject({
    kind: 'published',
    run_id: 'caps',
    imported: '1970-01-01T00:00:00.000Z',
    importer: { kind: 'power-cap', version: 1 },
    files: [{ file: 'sweep.csv', bytes: sweep.length, records: 2, source_version: null }],
    segment: { rows: 7 },
  });
  expect(manifest.files[0]?.sha256).toMatch(/^[0-9a-f]{64}$/);
  const table = await perwatt('show', 'runs/caps', '--metric', 'energy_per_output_token_j');
  expect(table).toHaveLength(3);
  expect(table[1]).toMatch(/^≤ 5\.716 +J +gpu +p95 +recomputed +Qwen3\.8-27B .*power_cap_w=400/);
  const rows = await perwatt('show', 'runs/caps', '--json');
  expect(rows.map((row) => (JSON.parse(row) as { provenance: string }).provenance)).toEqual(
    Array(7).fill('published'),
  );
});

test('the same bytes under two names are refused: their figures would count twice', async () => {
  writeFileSync(join(cwd, 'a.csv'), sweep);
  writeFileSync(join(cwd, 'b.csv'), sweep);
  await expect(perwatt('power-cap', 'a.csv', 'b.csv', '--out', 'run')).rejects.toThrowError(
    refused('INPUT_INVALID', /^b\.csv holds the same bytes as a\.csv$/),
  );
  expect(existsSync(join(cwd, 'run'))).toBe(false);
});

test('a folder stands for its files of that kind', async () => {
  mkdirSync(join(cwd, 'in'));
  writeFileSync(join(cwd, 'in/b.csv'), sweep);
  writeFileSync(join(cwd, 'in/a.csv'), `${sweep}\n`);
  writeFileSync(join(cwd, 'in/notes.md'), '');
  const out = await perwatt('power-cap', 'in', '--out', 'run');
  expect(out.slice(0, 2)).toEqual([
    'in/a.csv: 2 records, version not known',
    'in/b.csv: 2 records, version not known',
  ]);
});

test('a bad line leaves no run behind, and a folder that exists is left alone', async () => {
  writeFileSync(join(cwd, 'bad.csv'), `${sweep}\n400,0,x,407,`);
  await expect(perwatt('power-cap', 'bad.csv', '--out', 'run')).rejects.toEqual(
    refused('INPUT_INVALID', /^bad\.csv:4: output_tokens_per_s is "x", not a number$/),
  );
  expect(existsSync(join(cwd, 'run'))).toBe(false);
  writeFileSync(join(cwd, 'good.csv'), sweep);
  await perwatt('power-cap', 'good.csv', '--out', 'run');
  await expect(perwatt('power-cap', 'good.csv', '--out', 'run')).rejects.toEqual(
    refused('INPUT_INVALID', /exists already/),
  );
  expect(await perwatt('show', 'run')).toContain('7 published figures (Apache-2.0)');
});

test('a report of it has pages of its own, with files, sha256 and why values are missing', async () => {
  writeFileSync(join(cwd, 'sweep.csv'), sweep);
  const [printed] = await perwatt('power-cap', 'sweep.csv', '--out', 'run', '--json');
  const { files } = JSON.parse(printed ?? '') as PublishedManifest;
  const { io, result } = recordedIo({ cwd });
  await reportCommand(io).parseAsync(['run'], { from: 'user' });
  expect(result.out.at(-1)).toBe(`report: ${join(cwd, 'run/report/index.html')}`);
  const page = (name: string) => readFileSync(join(cwd, `run/report/${name}`), 'utf8');
  expect(page('index.html')).toContain(files[0]?.sha256);
  expect(page('index.html')).toContain('sweep.csv');
  expect(page('index.html')).toContain('not measured here');
  expect(page('results.html')).toContain('sweep.csv:1');
  expect(page('published.csv').trimEnd().split('\n')).toHaveLength(1 + 7);
  expect(JSON.parse(page('published.json'))).toMatchObject({
    published: [
      { manifest: { importer: { kind: 'power-cap' } }, rows: Array(7).fill({ provenance: 'published' }) },
    ],
  });
  await expect(reportCommand(io).parseAsync(['run', '--single-file'], { from: 'user' })).rejects.toEqual(
    refused('USAGE', /--single-file holds a run of a matrix/),
  );
});

// biome-ignore format: a table is read in columns
test.each([
  [[],                                          'USAGE',           /say what to import/,                   'nothing'],
  [['mlenergy'],                                'USAGE',           /did you mean "ml-energy"/,             'a name nearly right'],
  [['power-cap'],                               'USAGE',           /^give files to import: a CSV of/,      'no files'],
  [['power-cap', 'x.csv'],                      'USAGE',           /--out/,                                'nowhere to go'],
  [['power-cap', 'x.csv', '--out', 'r'],        'FILE_UNREADABLE', /^cannot read x\.csv: ENOENT$/,         'no such file'],
  [['power-cap', '.', '--out', 'r'],            'INPUT_INVALID',   /^folder \. holds no \.csv file$/,      'an empty folder'],
  [['show', 'none'],                            'RUN_NOT_FOUND',   /^no run at /,                          'no run to show'],
])('%# %j is refused', async (args, code, message) => {
  await expect(perwatt(...(args as string[]))).rejects.toEqual(refused(code, message));
});

test('the list names every kind with its files', async () => {
  const out = await perwatt('--list');
  expect(out.filter((line) => !line.startsWith(' ')).map((line) => line.split(' ')[0])).toEqual([
    'ml-energy',
    'ai-benchmarks',
    'ecocompute',
    'power-cap',
    'ipw',
  ]);
});
