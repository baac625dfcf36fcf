import { rmSync } from 'node:fs';
import type { Grader } from '@perwatt/core';
import { openRun } from '@perwatt/records';
import { expect, test } from 'vitest';
import type { HarnessDeps } from './deps.js';
import { resumeRun, runPlan } from './run-matrix.js';
import { settleCell } from './settle.js';
import { fakeWorld, lastWord, parallel, quickPlan, sums, temporaryFolder } from './world.fixture.js';

const never = new AbortController().signal;

/** Robust takes the last word; official wants the whole answer to be the gold. */
const twoModes: Grader = {
  ...lastWord,
  id: 'two-modes',
  grade(input) {
    if (input.mode !== 'official') return { ...lastWord.grade(input), span: [6, 7], flags: ['a', 'b'] };
    const correct = input.prediction === input.gold;
    return {
      ...lastWord.grade(input),
      verdict: correct ? 'correct' : 'unparsed',
      score: correct ? 1 : 0,
      extracted: null,
      rule: null,
      reason: 'no bare number',
      mode: 'official',
    };
  },
};

const world = (): HarnessDeps => ({
  ...fakeWorld({ items: 3 }),
  grader: () => twoModes,
  loadDataset: async ({ kind }) => ({
    ...sums(kind, 3),
    known_bad: [`${kind}-1`],
    prompt: { id: 'sums/ours@2', sha256: 'ab', shots: 0, shots_sha256: null },
  }),
});

const text = (grading: string) =>
  `name: t\nprotocol: quick\naxes: {model: [m1], dataset: [{id: d1${grading}}]}`;

test.each([
  ['', 'robust', ['correct', 'correct', 'correct']],
  [', grading: official', 'official', ['unparsed', 'unparsed', 'unparsed']],
])(
  'every answer is graded in both modes; the mode of the cell makes its verdicts (%s)',
  async (grading, mode, verdicts) => {
    const deps = world();
    const plan = await quickPlan(text(grading), deps);
    const { run } = await runPlan(plan, deps, { root: temporaryFolder(), signal: never });
    const [cell] = run.cells();
    const { rows } = run.readGrades(cell!.cell_id);
    expect(rows).toHaveLength(6);
    expect(rows.filter((row) => row.item_id === 'd1-1')).toMatchObject([
      {
        mode: 'robust',
        verdict: 'correct',
        extracted: '2',
        span_start: 6,
        span_end: 7,
        rule: 'last',
        flags: 'a b',
        pass: 0,
        grader: 'two-modes',
        grader_version: 1,
        known_bad: true,
      },
      {
        mode: 'official',
        verdict: 'unparsed',
        score: 0,
        span_start: null,
        reason: 'no bare number',
        known_bad: true,
      },
    ]);
    expect(rows.filter(({ known_bad }) => known_bad)).toHaveLength(2);
    const queries = run.readQueries(cell!.cell_id).rows;
    expect(queries.map(({ verdict }) => verdict)).toEqual(verdicts);
    expect(cell?.provenance).toMatchObject({
      grader: { id: 'two-modes', version: 1, mode },
      dataset: { known_bad: 1, prompt: { id: 'sums/ours@2', sha256: 'ab' } },
    });
    expect(cell?.segments.filter(({ table }) => table === 'grades')).toMatchObject([{ rows: 6 }]);
  },
);

test('the mode is part of what a cell is', async () => {
  const ids = await Promise.all(
    ['', ', grading: robust', ', grading: official'].map(async (grading) => {
      const { cells } = await quickPlan(text(grading), world());
      return cells[0]?.id;
    }),
  );
  expect(ids[0]).toBe(ids[1]);
  expect(ids[0]).not.toBe(ids[2]);
});

test('grades that a crash left without their queries are not written twice', async () => {
  const deps = world();
  const plan = await quickPlan(text(''), deps);
  const { run } = await runPlan(plan, deps, { root: temporaryFolder(), signal: never });
  const [cell] = run.cells();
  const folder = run.cellFolder(cell!.cell_id);
  rmSync(`${folder}/queries-0.arrows`);
  run.writeCell({
    ...cell!,
    status: 'running',
    segments: cell!.segments.filter(({ table }) => table !== 'queries' && table !== 'grades'),
    sittings: cell!.sittings.map((sitting) => ({ ...sitting, state: 'open' as const })),
  });
  settleCell(plan.cells[0]!, { run: openRun(run.path), plan, sitting: 0, live: null });
  const again = openRun(run.path);
  expect(again.readQueries(cell!.cell_id).rows).toHaveLength(3);
  expect(again.readGrades(cell!.cell_id).rows).toHaveLength(6);
  const options = { root: '', signal: never };
  expect(await resumeRun(again, null, { deps, options })).toMatchObject({ results: [] });
});

test('different answers of an item are numbered over repeats, in each mode, and equal ones share a number', async () => {
  let calls = 0;
  const answers = ['warm up', 'It is 1', 'It is 1.0', 'It is 7', 'It is 1'];
  const deps: HarnessDeps = {
    ...fakeWorld({
      items: 1,
      answer: () => {
        const text = answers[calls++] ?? '';
        return { tokens: [text], finish_reason: 'stop', usage: { prompt_tokens: 1, completion_tokens: 1 } };
      },
    }),
    grader: () => ({ ...lastWord, same: (a, b) => Number(a) === Number(b) }),
  };
  const yaml =
    'name: t\nprotocol: quick\nrepeats: 4\nwarm_up: {calls: 1}\naxes: {model: [m1], dataset: [d1]}';
  const plan = await quickPlan(yaml, deps);
  const { run } = await runPlan(plan, deps, { root: temporaryFolder(), signal: never });
  const { rows } = run.readGrades(run.cells()[0]!.cell_id);
  const robust = rows.filter(({ mode }) => mode === 'robust');
  expect(robust.map(({ answer, answer_class }) => [answer, answer_class])).toEqual([
    ['1', 0],
    ['1.0', 0],
    ['7', 1],
    ['1', 0],
  ]);
  const official = rows.filter(({ mode }) => mode === 'official');
  expect(official.map(({ answer_class }) => answer_class)).toEqual([0, 1, 2, 0]);
});

test('where several attempts make an answer, what each is worth is kept too', async () => {
  const texts = ['It is 1', 'It is 9', 'It is 1.0'];
  const three = parallel('three', 3);
  let calls = 0;
  const deps: HarnessDeps = {
    ...fakeWorld({
      items: 1,
      answer: () => {
        const text = texts[calls++ % 3] ?? '';
        return { tokens: [text], finish_reason: 'stop', usage: { prompt_tokens: 1, completion_tokens: 1 } };
      },
    }),
    grader: () => ({ ...lastWord, same: (a, b) => Number(a) === Number(b) }),
    strategy: () => ({
      ...three,
      async *run(item, params, context) {
        const outcome = yield* three.run(item, params, context);
        const candidates = ['0', '1', '2'].map((call_id) => ({ call_id, answer: null }));
        return { ...outcome, candidates };
      },
    }),
  };
  const plan = await quickPlan('name: t\nprotocol: quick\naxes: {model: [m1], dataset: [d1]}', deps);
  const { run } = await runPlan(plan, deps, { root: temporaryFolder(), signal: never });
  const { rows } = run.readGrades(run.cells()[0]!.cell_id);
  const robust = rows.filter(({ mode }) => mode === 'robust');
  expect(robust.map(({ call_id }) => call_id)).toEqual([null, '0', '1', '2']);
  const attempts = robust.slice(1).sort((a, b) => Number(a.answer) - Number(b.answer));
  expect(attempts.map(({ verdict, score }) => [verdict, score])).toEqual(
    expect.arrayContaining([
      ['correct', 1],
      ['incorrect', 0],
    ]),
  );
  expect(new Set(attempts.map(({ answer_class }) => answer_class)).size).toBe(2);
  expect(run.readQueries(run.cells()[0]!.cell_id).rows).toHaveLength(1);
});
