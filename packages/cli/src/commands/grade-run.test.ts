import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { instant } from '@perwatt/core';
import { loadDataset } from '@perwatt/datasets';
import { graderById } from '@perwatt/graders';
import { type HarnessDeps, parseMatrix, planMatrix, runPlan } from '@perwatt/harness';
import { openRun, type RunFolder, verifyRun } from '@perwatt/records';
import { strategyById } from '@perwatt/strategies';
import { fakeClient } from '@perwatt/test-kit';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { recordedIo } from '../io.fixture.js';
import { gradeCommand } from './grade.js';

const answers: Readonly<Record<string, string>> = {
  'How many?': 'I would say 7 or so.\n#### 7',
  'How much?': 'It costs 12 dollars.',
  'How long?': 'no idea',
};

const clock = { now: () => instant(process.hrtime.bigint()) };

const deps = (root: string): HarnessDeps => ({
  version: '0.0.0-test',
  clock,
  wallTime: () => new Date(0),
  bootId: () => 'boot',
  suspendedNs: () => 0,
  hostFacts: () => ({
    hostname: 'host',
    os: 'test',
    kernel: 'test',
    arch: 'x64',
    cpu: 'test',
    threads: 2,
    cores: 2,
    memory_bytes: 1,
    virtual_machine: null,
    governor: null,
    node: process.version,
  }),
  cpuTimes: () => null,
  powerSources: () => [],
  loadDataset: (spec, seed) => loadDataset(spec, { root, seed }),
  grader: graderById,
  strategy: strategyById,
  prepareModel: async ({ id }) => ({
    sha256: id,
    request_model: id,
    weight_bytes: null,
    client: () =>
      fakeClient({
        clock,
        wait: () => Promise.resolve(),
        answer: ({ input }) => {
          const asked = input.kind === 'chat' ? (input.messages.at(-1)?.content ?? '') : '';
          const text = Object.entries(answers).find(([question]) => asked.includes(question))?.[1] ?? '';
          return { tokens: [text], finish_reason: 'stop', usage: { prompt_tokens: 1, completion_tokens: 1 } };
        },
      }),
  }),
});

const rows = [
  { question: 'How many?', answer: 'So.\n#### 7' },
  { question: 'How much?', answer: 'So.\n#### 12' },
  { question: 'How long?', answer: 'So.\n#### 3' },
];
const jsonl = (of: readonly object[]) => of.map((row) => `${JSON.stringify(row)}\n`).join('');

const newFolder = (): string => mkdtempSync(join(tmpdir(), 'perwatt-grade-run-'));

async function madeRun(root: string, strategy = 'single'): Promise<RunFolder> {
  const path = join(root, 'test.jsonl');
  writeFileSync(path, jsonl(rows));
  const yaml = `name: t\nprotocol: quick\nwarm_up: {calls: 0}\ncool_down: {seconds: 0}\naxes: {model: [m], dataset: [{id: maths, kind: gsm8k, path: ${path}}], strategy: [${strategy}]}`;
  const world = deps(root);
  const plan = await planMatrix(parseMatrix(yaml, 'm.yaml'), world);
  return (await runPlan(plan, world, { root, signal: new AbortController().signal })).run;
}

async function grade(args: readonly string[], cwd: string) {
  const { io, result } = recordedIo({ cwd });
  const command = gradeCommand(io, '1.2.3').exitOverride();
  const error = await command.parseAsync(args, { from: 'user' }).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  return { out: result.out, error };
}

const digests = (folder: string) =>
  new Map(
    readdirSync(folder)
      .filter((file) => file.endsWith('.arrows'))
      .map((file) => [
        file,
        createHash('sha256')
          .update(readFileSync(join(folder, file)))
          .digest('hex'),
      ]),
  );

describe('perwatt grade RUN', () => {
  let root = '';
  let run: RunFolder;
  beforeAll(async () => {
    root = newFolder();
    run = await madeRun(root);
    return () => rmSync(root, { recursive: true, force: true });
  });

  test('without change nothing changes, and nothing is written on a dry run', async () => {
    const before = digests(run.cellFolder(run.cells()[0]!.cell_id));
    const { out, error } = await grade([run.path, '--dry-run'], '/');
    expect(error).toBeNull();
    expect(out.join('\n')).toMatchInlineSnapshot(`
      "m × maths × single: 3 answers, numeric 1
        robust   accuracy 66.7 % before, 66.7 % now; 0 of 3 verdicts changed
        official accuracy 33.3 % before, 33.3 % now; 0 of 3 verdicts changed
      nothing was written"
    `);
    expect(digests(run.cellFolder(run.cells()[0]!.cell_id))).toEqual(before);
  });

  test('another grader goes into a segment of its own; the old ones keep every byte; the changes are listed', async () => {
    const [cell] = run.cells();
    const folder = run.cellFolder(cell!.cell_id);
    const before = digests(folder);
    const { out, error } = await grade([run.path, '--grader', 'exact', '--mode', 'robust', '--json'], '/');
    expect(error).toBeNull();
    const [regraded] = JSON.parse(out.join('\n')).cells;
    expect(regraded).toMatchObject({
      pass: 1,
      grader: 'exact',
      answers: 3,
      modes: [{ mode: 'robust', after: 0, compared: 3, changed: 3 }],
    });
    expect(regraded.changed).toContainEqual({
      query_id: `${cell!.cell_id}/gsm8k-0/0`,
      item_id: 'gsm8k-0',
      repeat: 0,
      mode: 'robust',
      before: {
        verdict: 'correct',
        score: 1,
        extracted: '7',
        rule: 'numeric.format',
        grader: 'numeric',
        grader_version: 1,
      },
      after: {
        verdict: 'incorrect',
        score: 0,
        extracted: 'I would say 7 or so.\n#### 7',
        rule: 'exact.text',
        grader: 'exact',
        grader_version: 1,
      },
      excerpt: 'I would say 7 or so.\n#### 7',
    });
    const after = digests(folder);
    for (const [file, digest] of before) expect(after.get(file)).toBe(digest);
    expect([...after.keys()].filter((file) => !before.has(file))).toEqual(['grades-1.arrows']);
    const again = openRun(run.path);
    expect(again.cells()[0]?.gradings).toEqual([
      {
        pass: 1,
        grader: 'exact',
        grader_version: 1,
        modes: ['robust'],
        policy: {},
        file: 'grades-1.arrows',
        perwatt_version: '1.2.3',
      },
    ]);
    expect(again.readGrades(cell!.cell_id).rows.filter(({ pass }) => pass === 1)).toHaveLength(3);
    expect(again.readQueries(cell!.cell_id).rows.map(({ verdict }) => verdict)).toEqual(
      run.readQueries(cell!.cell_id).rows.map(({ verdict }) => verdict),
    );
    expect(verifyRun(run.path).findings).toEqual([]);
  });

  test('a table shows item, old, new, rule and excerpt, beside the last grading', async () => {
    const { out } = await grade([run.path, '--mode', 'robust', '--policy', 'decimals=0'], '/');
    const text = out.join('\n');
    expect(text).toMatch(/item +mode +old +new +answer +rule +excerpt/);
    expect(text).toMatch(/gsm8k-1 +robust +incorrect +correct +12 +numeric\.\w+ +It costs 12 dollars\./);
    expect(openRun(run.path).cells()[0]?.gradings?.at(-1)).toMatchObject({
      pass: 2,
      policy: { decimals: 0 },
    });
  });

  test('a data set that changed or moved is told; another place can be given', async () => {
    const folder = newFolder();
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    writeFileSync(join(folder, 'other.jsonl'), jsonl([...rows.slice(1), rows[0]!]));
    expect((await grade([run.path, '--path', 'maths=other.jsonl'], folder)).error).toMatchObject({
      code: 'DATASET_CHANGED',
      message: expect.stringMatching(
        /^data set "gsm8k" has digest [0-9a-f]{16}, but cell c-[0-9a-f]{16} was asked/,
      ),
    });
    writeFileSync(join(folder, 'same.jsonl'), jsonl(rows));
    const moved = await grade([run.path, '--path', 'maths=same.jsonl', '--dry-run'], folder);
    expect(moved.error).toBeNull();
    expect((await grade([run.path, '--path', 'maths=none.jsonl'], folder)).error).toMatchObject({
      code: 'FILE_UNREADABLE',
    });
  });

  // biome-ignore format: a table is read in columns
  test.each([
    [['--dataset', 'nowhere'],          'USAGE',          '--dataset nowhere: the run has maths'],
    [['--grader', 'numerc'],            'GRADER_UNKNOWN', 'did you mean "numeric"'],
    [['--policy', 'percent'],           'USAGE',          '--policy percent is not name=value'],
    [['--policy', 'percnt=strict'],     'INPUT_INVALID',  'unknown policy "percnt"'],
  ])('%j fails with %s', async (args, code, message) => {
    expect((await grade([run.path, ...args], '/')).error).toMatchObject({ code, message: expect.stringContaining(message) });
  });

  test('attempts are graded again too, and are no verdicts of their own', async () => {
    const folder = newFolder();
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const voted = await madeRun(folder, '{id: sc, kind: self_consistency, attempts: 2}');
    const { out } = await grade([voted.path, '--grader', 'exact', '--mode', 'robust', '--json'], '/');
    const [regraded] = JSON.parse(out.join('\n')).cells;
    expect(regraded).toMatchObject({
      answers: 3,
      modes: [{ compared: 3, changed: regraded.changed.length }],
    });
    const { rows } = openRun(voted.path).readGrades(regraded.cell_id);
    const count = (pass: number, of: (id: string | null) => boolean) =>
      rows.filter((row) => row.pass === pass && of(row.call_id)).length;
    expect([count(0, (id) => id === null), count(0, (id) => id !== null)]).toEqual([6, 12]);
    expect([count(1, (id) => id === null), count(1, (id) => id !== null)]).toEqual([3, 6]);
  });

  test('a replay is called by its name: it has nothing to be graded by', async () => {
    const root = newFolder();
    onTestFinished(() => rmSync(root, { recursive: true, force: true }));
    const replayed = await madeRun(root);
    const [cell] = replayed.cells();
    const trace = { path: 't.csv', format: 'burstgpt', sha256: '0'.repeat(64), rows: 3 };
    replayed.writeCell({ ...cell!, replay: { trace, workers: 1, client: [] } });
    expect((await grade([replayed.path], root)).error).toMatchObject({
      code: 'INPUT_INVALID',
      message: expect.stringContaining('is a replay'),
    });
  });

  test('flags of runs are refused without one', async () => {
    expect((await grade(['--grader', 'exact', '--dry-run'], '/')).error).toMatchObject({ code: 'USAGE' });
    expect((await grade(['/nowhere'], '/')).error).toMatchObject({ code: 'RUN_NOT_FOUND' });
  });
});
