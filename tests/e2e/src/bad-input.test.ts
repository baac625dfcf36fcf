import { spawn, spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { openRun } from '@perwatt/records';
import { ggufFixture } from '@perwatt/test-kit';
import { expect, onTestFinished, test } from 'vitest';
import { folderWith, onlyRun, repository, runCli } from './cli.js';

const matrix = (axes: string, rest = '') => `name: bad\nprotocol: quick\naxes:\n${axes}\n${rest}`;
const tiny = '  model: [{ id: tiny, path: tiny.gguf }]';
const sums = '  dataset: [{ id: sums, kind: arithmetic, level: 1, limit: 4, max_tokens: 8 }]';

/** Runs a matrix in a folder of its own and expects one error, and that nothing was written. */
async function refused(files: Readonly<Record<string, string>>) {
  const folder = folderWith(files);
  writeFileSync(join(folder, 'tiny.gguf'), ggufFixture());
  const result = await runCli(['run', 'm.yaml', '--out', 'runs'], { cwd: folder });
  expect(result.code).toBe(1);
  expect(result.stderr.match(/^error\[/gm)).toHaveLength(1);
  expect(result.stderr).toMatch(/^hint: .+\.$/m);
  expect(existsSync(join(folder, 'runs'))).toBe(false);
  return result.stderr;
}

/** A port that nothing listens on. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 1;
}

test('an unknown model', async () => {
  const stderr = await refused({ 'm.yaml': matrix(`  model: [smolm2-135m]\n${sums}`) });
  expect(stderr).toMatch(/error\[MODEL_UNKNOWN\]: .*"smolm2-135m"/);
});

test('an unknown key of the matrix, with its line', async () => {
  const stderr = await refused({ 'm.yaml': matrix(`${tiny}\n${sums}`, 'protocl: quick') });
  expect(stderr).toMatch(/error\[MATRIX_INVALID\]/);
  expect(stderr).toMatch(/m\.yaml:6: unknown key protocl/);
});

test('a value given twice on an axis, with its line', async () => {
  const stderr = await refused({ 'm.yaml': matrix(`${tiny}\n${sums}\n  strategy: [single, single]`) });
  expect(stderr).toMatch(/m\.yaml:6: axes\.strategy holds "single" twice/);
});

test('a row of a data set without its field, with file and line', async () => {
  const stderr = await refused({
    'm.yaml': matrix(
      `${tiny}\n  dataset: [{ id: own, kind: jsonl, path: rows.jsonl, grader: exact, fields: { prompt: q, gold: a } }]`,
    ),
    'rows.jsonl': '{"q":"1+1?","a":"2"}\n{"q":"2+2?"}\n',
  });
  expect(stderr).toMatch(/error\[DATASET_ROW_INVALID\]: .*rows\.jsonl line 2/);
  expect(stderr).toContain('"a"');
});

test('an endpoint that refuses', async () => {
  const port = await freePort();
  const stderr = await refused({
    'm.yaml': matrix(
      `  model: [{ id: far, endpoint: lab }]\n${sums}`,
      `endpoints: { lab: { url: 'http://127.0.0.1:${port}/v1' } }`,
    ),
  });
  expect(stderr).toMatch(new RegExp(`error\\[CLIENT_UNREACHABLE\\]: .*127\\.0\\.0\\.1:${port}`));
});

test('an unknown strategy and an unknown parameter', async () => {
  const [unknown, parameter] = await Promise.all([
    refused({ 'm.yaml': matrix(`${tiny}\n${sums}\n  strategy: [singel]`) }),
    refused({ 'm.yaml': matrix(`${tiny}\n${sums}\n  strategy: [{ id: self_consistency, atempts: 3 }]`) }),
  ]);
  expect(unknown).toMatch(/error\[STRATEGY_UNKNOWN\]: .*"singel"/);
  expect(parameter).toContain('atempts');
});

const oneCell = { 'm.yaml': matrix(`${tiny}\n${sums}`) };

/** Without meters, and so without the idle times before and after: for runs whose energy nothing is asked of. */
const unmetered = ['--out', 'runs', '--quiet', '--no-report', '--power', 'none'];

test('a run folder from a newer version', async () => {
  const folder = folderWith(oneCell);
  writeFileSync(join(folder, 'tiny.gguf'), ggufFixture());
  const done = await runCli(['run', 'm.yaml', ...unmetered], { cwd: folder });
  expect(done.code).toBe(0);
  const run = onlyRun(join(folder, 'runs'));
  const manifest = join(run, 'run.json');
  const before = readFileSync(manifest, 'utf8');
  writeFileSync(manifest, before.replace(/"schema_version": ?\d+/, '"schema_version": 999'));
  const readers = [
    ['run', '--resume', run],
    ['report', run],
  ];
  for (const { code, stderr } of await Promise.all(readers.map((args) => runCli(args)))) {
    expect(code).toBe(1);
    expect(stderr).toMatch(/error\[RUN_SCHEMA_NEWER\]: .*999/);
  }
  expect(readdirSync(run).includes('report')).toBe(false);
});

test('a full disk ends the run with one error; what was measured stays and a resume goes on', async ({
  skip,
}) => {
  const folder = folderWith({
    'm.yaml': matrix(
      `${tiny}\n  dataset: [{ id: sums, kind: arithmetic, level: 3, limit: 400, max_tokens: 12 }]`,
    ),
  });
  writeFileSync(join(folder, 'tiny.gguf'), ggufFixture());
  const small = join(folder, 'small');
  mkdirSync(small);
  const mount = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=200k', 'tmpfs', small]);
  if (mount.status !== 0) skip('a small file system cannot be mounted here (needs root)');
  onTestFinished(() => {
    spawnSync('umount', [small]);
  });
  const full = await runCli(['run', 'm.yaml', '--out', small, '--quiet'], { cwd: folder });
  expect(full.code).toBe(1);
  expect(full.stderr.match(/^error\[DISK_FULL\]/gm)).toHaveLength(1);

  spawnSync('mount', ['-o', 'remount,size=64m', small]);
  const resumed = await runCli(['run', '--resume', onlyRun(small), '--quiet', '--no-report'], {
    cwd: folder,
  });
  expect(resumed).toMatchObject({ code: 0 });
  const run = openRun(onlyRun(small));
  const ids = run.cells().flatMap((c) => run.readQueries(c.cell_id).rows.map((q) => q.query_id));
  expect([ids.length, new Set(ids).size]).toEqual([400, 400]);
}, 180_000);

test('wrong usage exits with 2 and says how it is used', async () => {
  const cwd = folderWith({ 'x.yaml': matrix(`${tiny}\n${sums}`) });
  const calls = [['run'], ['run', 'x.yaml', '--filter', 'colour=red'], ['no-such-command'], ['grade']];
  const ended = await Promise.all(calls.map((args) => runCli(args, { cwd })));
  expect(ended.map(({ code }) => code)).toEqual(calls.map(() => 2));
  for (const { stderr } of ended) expect(stderr).not.toBe('');
});

test('a dry run prints the cells and an estimate, and writes nothing', async () => {
  const folder = folderWith(oneCell);
  writeFileSync(join(folder, 'tiny.gguf'), ggufFixture());
  const [text, json] = await Promise.all([
    runCli(['run', 'm.yaml', '--dry-run'], { cwd: folder }),
    runCli(['run', 'm.yaml', '--dry-run', '--json'], { cwd: folder }),
  ]);
  expect(text).toMatchObject({ code: 0 });
  expect(text.stdout).toMatch(/1 cells, 4 queries, ≤ 4 calls, about/);
  expect(JSON.parse(json.stdout)).toMatchObject({ queries: 4, cells: [{ model: 'tiny', queries: 4 }] });
  expect(readdirSync(folder).toSorted()).toEqual(['m.yaml', 'tiny.gguf']);
});

test('a resume with a changed matrix names what changed', async () => {
  const folder = folderWith(oneCell);
  writeFileSync(join(folder, 'tiny.gguf'), ggufFixture());
  await runCli(['run', 'm.yaml', ...unmetered], { cwd: folder });
  writeFileSync(join(folder, 'm.yaml'), oneCell['m.yaml'].replace('limit: 4', 'limit: 5'));
  const resume = ['run', 'm.yaml', '--power', 'none', '--resume', onlyRun(join(folder, 'runs'))];
  const { code, stderr } = await runCli(resume, { cwd: folder });
  expect(code).toBe(1);
  expect(stderr).toMatch(/error\[MATRIX_CHANGED\]: .*axes\.dataset\[0\]\.limit: 4 → 5/);
});

// biome-ignore format: a table is read in columns
test.each<[args: string[], code: number, message: RegExp, why: string]>([
  [['run', '.', '--out', 'runs'],                          1, /error\[FILE_UNREADABLE\]: cannot read matrix file \./,   'a folder is no matrix'],
  [['run', 'tiny.gguf', '--out', 'runs'],                  1, /error\[MATRIX_INVALID\].*\n {2}tiny\.gguf: this is no text/, 'weights are no matrix'],
  [['run', 'm.yaml', '--out', 'm.yaml'],                   1, /error\[FILE_UNREADABLE\]: .*m\.yaml is a file/,        'runs cannot be put into a file'],
  [['run', 'm.yaml', '--out', 'runs', '--power', 'nope'],  1, /error\[INPUT_INVALID\]: no power source .*"nope"/,     'an unknown power source'],
  [['run', 'm.yaml', '--power', 'nope', '--dry-run'],      1, /error\[INPUT_INVALID\]: no power source .*"nope"/,     'a dry run tells as well'],
  [['run', '--resume', 'runs/x', '--dry-run'],             2, /error\[USAGE\]: --dry-run cannot be combined/,         'a dry run must not run'],
])('%j ends with %i: %s', async (args, code, message) => {
  const folder = folderWith(oneCell);
  writeFileSync(join(folder, 'tiny.gguf'), ggufFixture());
  const result = await runCli(args, { cwd: folder });
  expect(result.code).toBe(code);
  expect(result.stderr).toMatch(message);
  expect(readdirSync(folder).toSorted()).toEqual(['m.yaml', 'tiny.gguf']);
});

test('a resume of a finished run says that nothing is left, and reads the sources that --power named', async () => {
  const folder = folderWith(oneCell);
  writeFileSync(join(folder, 'tiny.gguf'), ggufFixture());
  await runCli(['run', 'm.yaml', ...unmetered], { cwd: folder });
  const run = onlyRun(join(folder, 'runs'));
  rmSync(join(folder, 'tiny.gguf'));
  const again = await runCli(['run', '--resume', run, '--no-report']);
  expect(again).toMatchObject({ code: 0 });
  expect(again.stderr).toContain('nothing to do');
  const { power, matrix: kept, clocks } = openRun(run).manifest;
  expect([power, kept.power, clocks.length]).toEqual([[], { sources: [] }, 1]);
});

test('a command that waits for standard input ends at the first Ctrl-C', async () => {
  const bin = join(repository, 'packages/cli/bin/perwatt.js');
  const child = spawn(process.execPath, [bin, 'grade', '--grader', 'numeric']);
  onTestFinished(() => void child.kill('SIGKILL'));
  await new Promise((resolve) => child.stdout.once('data', resolve));
  child.kill('SIGINT');
  const code = await new Promise((resolve) => child.once('exit', resolve));
  expect(code).toBe(130);
});

test('a standard output that cannot be written is a failure', async ({ skip }) => {
  if (!existsSync('/dev/full')) skip('there is no /dev/full here');
  const bin = join(repository, 'packages/cli/bin/perwatt.js');
  const out = openSync('/dev/full', 'w');
  const child = spawn(process.execPath, [bin, 'datasets', 'list'], { stdio: ['ignore', out, 'pipe'] });
  closeSync(out);
  let stderr = '';
  child.stderr?.on('data', (bytes) => {
    stderr += bytes;
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  expect(code).toBe(1);
  expect(stderr).toContain('standard output cannot be written');
});
