import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GradeRow, TextRow } from '@perwatt/core';
import { type CellFile, type RunFolder, SegmentWriter } from '@perwatt/records';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildResults } from './build-results.js';
import { gradedRun, gradeRows } from './graded-run.fixture.js';
import type { Grading } from './grading.js';
import { reportPage } from './page.js';
import { resultsCsv } from './results-csv.js';
import { resultsJson } from './results-json.js';
import { syntheticRun } from './synthetic-run.fixture.js';

let root = '';
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'perwatt-grading-'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const runWith = (
  name: string,
  gradesOf: (cell: CellFile) => readonly GradeRow[],
  change: Partial<CellFile> = {},
) => gradedRun(join(root, name), gradesOf, change);

const gradingIn = (run: RunFolder, cell_id: string): Grading | null =>
  buildResults(run).cells.find((cell) => cell.cell_id === cell_id)?.grading ?? null;

const both: (cell: CellFile) => GradeRow[] = (cell) => [
  ...gradeRows(
    cell,
    [
      ['a', 0, 'correct'],
      ['b', 0, 'correct', { rule: 'numeric.last' }],
      ['bad', 0, 'incorrect'],
      ['c', 0, 'unscored'],
    ],
    {},
  ),
  ...gradeRows(
    cell,
    [
      ['a', 0, 'correct'],
      ['b', 0, 'unparsed', { rule: null }],
      ['bad', 0, 'incorrect'],
      ['c', 0, 'unscored'],
    ],
    { mode: 'official', rule: 'gsm8k.hash' },
  ),
];

test('both modes stand side by side, known bad golds apart, the demanded form apart', () => {
  const { run, cell_id } = runWith('both', both);
  const grading = gradingIn(run, cell_id);
  expect(grading).toMatchObject({ headline: 'robust', differing: 1, known_bad_queries: 1 });
  const [robust, official] = grading!.figures;
  expect(robust).toMatchObject({
    mode: 'robust',
    accuracy: { value: 2 / 3, n: 3 },
    without_known_bad: { value: 1, n: 2 },
    strict: { value: 1 / 3, n: 3 },
    answered_only: { value: 2 / 3, n: 3 },
    verdicts: { correct: 2, incorrect: 1, unscored: 1 },
    attempts: null,
  });
  expect(official).toMatchObject({
    mode: 'official',
    accuracy: { value: 1 / 3, n: 3 },
    without_known_bad: { value: 1 / 2, n: 2 },
    strict: null,
    answered_only: { value: 1 / 2, n: 2 },
    verdicts: { unparsed: 1 },
  });
});

test('the headline is the mode of the cell; a later grading stands behind, one that was never finished does not', () => {
  const facts = {
    grader: 'numeric',
    grader_version: 2,
    modes: ['robust' as const],
    policy: {},
    perwatt_version: '0',
  };
  const late = (cell: CellFile) => [
    ...both(cell),
    ...gradeRows(cell, [['a', 0, 'incorrect']], { pass: 1, grader_version: 2 }),
    ...gradeRows(cell, [['a', 0, 'correct']], { pass: 2, grader_version: 2 }),
  ];
  const { run, cell_id } = runWith('late', late);
  const cell = run.readCell(cell_id);
  const grader = { ...cell.provenance!.grader, mode: 'official' as const };
  run.writeCell({
    ...cell,
    provenance: { ...cell.provenance!, grader },
    gradings: [{ ...facts, pass: 1, file: 'grades-0.arrows' }],
  });
  const grading = gradingIn(run, cell_id);
  expect(grading?.headline).toBe('official');
  expect(grading?.figures.map(({ pass, mode }) => [pass, mode])).toEqual([
    [0, 'official'],
    [0, 'robust'],
    [1, 'robust'],
  ]);
});

test('repeats are attempts: avg, pass, all and majority over the classes of answers', () => {
  const { run, cell_id } = runWith('attempts', (cell) =>
    gradeRows(
      cell,
      [
        ['a', 0, 'correct', { answer_class: 0 }],
        ['a', 1, 'incorrect', { answer_class: 1 }],
        ['a', 2, 'correct', { answer_class: 0 }],
        ['b', 0, 'incorrect', { answer_class: 0 }],
        ['b', 1, 'unparsed'],
        ['b', 2, 'incorrect', { answer_class: 1 }],
        ['c', 0, 'correct', { answer_class: 0 }],
        ['c', 1, 'incorrect', { answer_class: 1 }],
        ['c', 2, 'incorrect', { answer_class: 1 }],
        ['c', 3, 'incorrect', { answer_class: 2 }],
      ],
      {},
    ),
  );
  const { attempts } = gradingIn(run, cell_id)!.figures[0]!;
  expect(attempts).toMatchObject({ k: 3, items: 3 });
  expect(attempts?.avg_at_k).toBeCloseTo((2 / 3 + 0 + 1 / 4) / 3, 12);
  expect(attempts?.at.map(({ k }) => k)).toEqual([1, 2, 3]);
  const [one, , three] = attempts!.at;
  expect(one?.pass_at_k).toBeCloseTo((2 / 3 + 0 + 1 / 4) / 3, 12);
  expect(three?.pass_at_k).toBeCloseTo((1 + 0 + 3 / 4) / 3, 12);
  expect(three?.pass_all_k).toBe(0);
  // c: of the four ways to leave one out, {1,2,3} and {0,1,2} go to the wrong pair, {0,1,3} and {0,2,3} are three-way ties.
  expect(three?.maj_at_k).toBeCloseTo((1 + 0 + (1 / 3 + 1 / 3) / 4) / 3, 12);
});

test('attempts within a query take the place of repeats, and change no figure of the answers', () => {
  const { run, cell_id } = runWith('within', (cell) => [
    ...both(cell),
    ...gradeRows(
      cell,
      [
        ['a', 0, 'correct', { call_id: '0', answer_class: 0 }],
        ['a', 0, 'incorrect', { call_id: '1', answer_class: 1 }],
        ['b', 0, 'correct', { call_id: '0', answer_class: 0 }],
        ['b', 0, 'correct', { call_id: '1', answer_class: 0 }],
      ],
      {},
    ),
  ]);
  const grading = gradingIn(run, cell_id);
  expect(grading).toMatchObject({ differing: 1, known_bad_queries: 1 });
  const [robust, official] = grading!.figures;
  expect(robust?.accuracy).toMatchObject({ value: 2 / 3, n: 3 });
  expect(robust?.attempts).toMatchObject({
    k: 2,
    items: 2,
    avg_at_k: 0.75,
    at: [
      { k: 1, pass_at_k: 0.75 },
      { k: 2, pass_at_k: 1, pass_all_k: 0.5, maj_at_k: 0.75 },
    ],
  });
  expect(official?.attempts).toBeNull();
});

test('tables, page and files hold it; what an answer says is text', () => {
  const evil = '<script>window.broken=1</script><img src=x onerror=alert(1)>';
  const { run, cell_id } = runWith('page', both);
  const cell = run.readCell(cell_id);
  const [query] = run.readQueries(cell_id).rows;
  const folder = run.cellFolder(cell_id);
  const write = <T extends 'queries' | 'texts'>(
    table: T,
    rows: Parameters<SegmentWriter<T>['append']>[0],
  ) => {
    const writer = SegmentWriter.create({
      folder,
      file: `${table}-9.arrows`,
      table,
      sitting: 0,
      metadata: {},
    });
    writer.append(rows);
    return writer.close();
  };
  const answer: TextRow = {
    run_id: cell.run_id,
    cell_id,
    query_id: `${cell_id}/odd/0`,
    call_id: null,
    sitting: 0,
    kind: 'answer',
    text: `${'x'.repeat(400)}${evil}`,
    detail: null,
  };
  const odd = { ...query!, query_id: answer.query_id, item_id: '../odd', verdict: 'unparsed', score: 0 };
  const segments = [...cell.segments, write('queries', [odd]), write('texts', [answer])];
  run.writeCell({ ...cell, segments });
  const results = buildResults(run);
  expect(results.unparsed_answers[cell_id]).toEqual([
    { item_id: 'arithmetic-2', repeat: 0, end: null },
    { item_id: '../odd', repeat: 0, end: `… ${answer.text!.slice(-240)}` },
  ]);
  const page = reportPage(results, 'var Plotly;');
  expect(page).toContain('Unparsed: 2');
  expect(page).toContain('&lt;script&gt;window.broken=1&lt;/script&gt;');
  expect(page).not.toContain('<script>window.broken');
  expect(page).not.toContain('<img src=x');
  expect(page).toContain('official 33 %, 1 verdict differs');
  expect(page).toContain('without 1 on known bad golds 100 %');
  const [head, ...lines] = resultsCsv(results).trim().split('\n');
  const at = (name: string) => head!.split(',').indexOf(name);
  const own = lines.find((line) => line.includes(cell_id))!.split(',');
  expect(Number(own[at('accuracy_official')])).toBeCloseTo(1 / 3, 12);
  expect([own[at('grading')], own[at('verdicts_differ')], own[at('queries_known_bad')]]).toEqual([
    'robust',
    '1',
    '1',
  ]);
  expect(JSON.parse(resultsJson(results)).unparsed_answers).toBeUndefined();
});

test('of a data set whose authors ask for it no text is shown', () => {
  const { run, cell_id } = runWith('withheld', both);
  const cell = run.readCell(cell_id);
  const prompt = { id: 'gsm8k/official@1', sha256: 'ab', shots: 5, shots_sha256: 'cd' };
  const dataset = { ...cell.provenance!.dataset, withhold: true as const, prompt, known_bad: 3 };
  run.writeCell({ ...cell, provenance: { ...cell.provenance!, dataset } });
  const page = reportPage(buildResults(run), 'var Plotly;');
  expect(page).toContain('gsm8k/official@1, 5 shots');
  expect(page).toContain('3 with a known bad gold');
  const shown = buildResults(run).shown_queries[cell_id]!;
  expect(shown.length).toBeGreaterThan(0);
  for (const { prompt, completion, extracted } of shown)
    expect([prompt, completion, extracted]).toEqual([null, null, null]);
});

test('a run without grades has none', () => {
  const run = syntheticRun({ root: join(root, 'none'), items: 4, models: ['m'], strategies: ['single'] });
  expect(gradingIn(run, run.cells()[0]!.cell_id)).toBeNull();
  expect(reportPage(buildResults(run), 'var Plotly;')).not.toContain('The two modes differ');
});
