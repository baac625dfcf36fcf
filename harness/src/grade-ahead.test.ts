import type { EndpointFacts, Grade, GradeInput, GradingAccount, LateGrader } from '@perwatt/core';
import { openRun } from '@perwatt/records';
import { describe, expect, test } from 'vitest';
import type { HarnessDeps } from './deps.js';
import { gradedAhead } from './grade-ahead.js';
import { runPlan } from './run-matrix.js';
import { fakeWorld, lastWord, quickPlan, temporaryFolder } from './world.fixture.js';

const never = new AbortController().signal;
const text = 'name: t\nprotocol: quick\naxes: {model: [m1], dataset: [d1]}';

/** A late grader that does what `judge` does, and what it was asked. */
function lateOf(judge: (input: GradeInput) => Promise<Grade>) {
  const asked: GradeInput[] = [];
  const late: LateGrader = {
    id: lastWord.id,
    version: lastWord.version,
    gradeLater(input) {
      asked.push(input);
      return judge(input);
    },
  };
  return { late, asked };
}

const worldWith = (late: LateGrader): HarnessDeps => ({ ...fakeWorld({ items: 3 }), lateGrader: () => late });

const run = async (deps: HarnessDeps) => {
  const plan = await quickPlan(text, deps);
  const outcome = await runPlan(plan, deps, { root: temporaryFolder(), signal: never });
  const [cell] = outcome.run.cells();
  return { ...outcome, plan, cell_id: cell!.cell_id };
};

test('a late grader judges every answer in both modes before the rows are written', async () => {
  const { late, asked } = lateOf(async (input) => ({
    ...lastWord.grade(input),
    verdict: 'incorrect',
    score: 0.25,
    reason: `late, ${input.mode}`,
  }));
  const { run: done, cell_id } = await run(worldWith(late));
  expect(asked.map(({ mode }) => mode).toSorted()).toEqual([
    ...Array(3).fill('official'),
    ...Array(3).fill('robust'),
  ]);
  expect(asked.every(({ finish_reason }) => finish_reason === 'stop')).toBe(true);
  expect(done.readGrades(cell_id).rows.map(({ reason }) => reason)).toEqual(
    Array.from({ length: 6 }, (_, i) => `late, ${i % 2 === 0 ? 'robust' : 'official'}`),
  );
  expect(done.readQueries(cell_id).rows.map(({ score }) => score)).toEqual([0.25, 0.25, 0.25]);
});

test('the same verdicts as the grader itself give the same rows', async () => {
  const { late } = lateOf(async (input) => lastWord.grade(input));
  const [own, ahead] = [await run(fakeWorld({ items: 3 })), await run(worldWith(late))];
  const rowsOf = ({ run: done, cell_id }: typeof own) =>
    done.readGrades(cell_id).rows.map(({ run_id, ...row }) => row);
  expect(rowsOf(ahead)).toEqual(rowsOf(own));
});

test('a judgement that cannot be had is unscored, with the reason, and nothing measured is lost', async () => {
  const { late } = lateOf(async () => {
    throw new Error('the judge is gone');
  });
  const { run: done, cell_id } = await run(worldWith(late));
  const { rows } = done.readQueries(cell_id);
  expect(rows.map(({ verdict, score }) => [verdict, score])).toEqual(Array(3).fill(['unscored', null]));
  expect(done.readGrades(cell_id).rows[0]).toMatchObject({ reason: 'the judge is gone' });
});

test('what is settled already is not judged again', async () => {
  const { late, asked } = lateOf(async (input) => lastWord.grade(input));
  const { run: done, plan, cell_id } = await run(worldWith(late));
  asked.length = 0;
  const cell = plan.cells.find(({ id }) => id === cell_id)!;
  await gradedAhead(cell, { run: openRun(done.path), sitting: 0, late });
  expect(asked).toEqual([]);
  expect(await gradedAhead(cell, { run: done, sitting: 0, late: null })).toBe(cell);
});

describe('a model that grades', () => {
  /** A judge that takes 20 ms of this host for every answer. */
  function judging(endpoint: EndpointFacts | null) {
    const { late } = lateOf(async (input) => {
      const end = process.hrtime.bigint() + 20_000_000n;
      while (process.hrtime.bigint() < end) await new Promise((resolve) => setImmediate(resolve));
      count.calls += 1;
      return lastWord.grade(input);
    });
    const count = { calls: 7, failed_calls: 0, cached: 0, unreadable: 0, pairs: 0, order_flips: 0 };
    const account = (): GradingAccount => ({
      role: 'judge',
      model: 'j',
      ...(endpoint !== null && { endpoint }),
      ...count,
      prompt_tokens: 100 * count.calls,
      completion_tokens: null,
    });
    return { ...late, account };
  }

  test('has a ledger of its own, and its joules are in no other figure', async () => {
    const [own, by] = [await run(fakeWorld({ items: 3 })), await run(worldWith(judging(null)))];
    const cell = by.run.readCell(by.cell_id);
    const [ledger, ...others] = cell.grading_ledgers ?? [];
    expect(others).toEqual([]);
    expect(ledger).toMatchObject({
      sitting: 0,
      role: 'judge',
      model: 'j',
      calls: 6,
      prompt_tokens: 600,
      completion_tokens: null,
      energy_reason: null,
    });
    const span_s = Number(BigInt(ledger!.end_ns) - BigInt(ledger!.start_ns)) / 1e9;
    expect(span_s).toBeGreaterThanOrEqual(0.02);
    const [sitting] = cell.sittings;
    expect(BigInt(ledger!.start_ns)).toBeGreaterThanOrEqual(BigInt(sitting!.end_ns!));
    const total = cell.ledgers.filter(({ in_total }) => in_total);
    const window_s = Number(BigInt(sitting!.end_ns!) - BigInt(sitting!.start_ns)) / 1e9;
    const watts = total.reduce((sum, { meter_j }) => sum + meter_j!, 0) / window_s;
    expect(ledger!.energy_j! / (watts * span_s)).toBeCloseTo(1, 2);
    expect(own.run.readCell(own.cell_id).grading_ledgers).toBeUndefined();
    expect(by.run.readQueries(by.cell_id).rows.map(({ calls }) => calls)).toEqual([1, 1, 1]);
    expect(by.run.readCalls(by.cell_id).rows.filter(({ role }) => role === 'judge')).toEqual([]);
  });

  test('on another host has no joules, and the ledger says why', async () => {
    const elsewhere = { kind: 'http', endpoint: 'http://judge.example:8080/v1' } as EndpointFacts;
    const { run: done, cell_id } = await run(worldWith(judging(elsewhere)));
    expect(done.readCell(cell_id).grading_ledgers).toMatchObject([
      { calls: 6, energy_j: null, energy_reason: 'nothing that meters it was read' },
    ]);
  });
});
