import { openRun } from '@perwatt/records';
import { expect, test } from 'vitest';
import { createBreaker } from './breaker.js';
import { resumeRun, runPlan } from './run-matrix.js';
import { fakeWorld, quickPlan, rightSum, temporaryFolder } from './world.fixture.js';

const never = new AbortController().signal;

// biome-ignore format: a table is read in columns
test.each<[rule: false | { after: number } | undefined, ends: string, skips: boolean, why: string]>([
  [undefined,    'xxxxx',   true,  'five in a row, where nothing is said'],
  [undefined,    'xxxx',    false, 'four are not enough'],
  [{ after: 2 }, 'xx',      true,  'as many as the matrix says'],
  [{ after: 2 }, 'xox',     false, 'one that goes well starts the count anew'],
  [{ after: 2 }, 'xxo',     false, 'and closes the breaker again'],
  [{ after: 1 }, 'x',       true,  'the first one'],
  [false,        'xxxxxxx', false, 'turned off'],
])('breaker %j after %s skips: %s (%s)', (rule, ends, skips) => {
  const breaker = createBreaker(rule);
  for (const end of ends) breaker.ended({ served_by: 'm on gpu' }, end === 'x' ? 'ENGINE_FAILED: gone' : null);
  expect(breaker.skips({ served_by: 'm on gpu' }) !== null).toBe(skips);
  expect(breaker.skips({ served_by: 'm on cpu' })).toBeNull();
});

const matrix = `
name: t
protocol: quick
order: as-written
breaker: { after: 2 }
axes:
  model: [m1, m2]
  dataset: [d1, d2]
  strategy: [single, double]
`;

test('cells of a model that keeps failing are skipped with the reason; a resume tries them again', async () => {
  const broken = fakeWorld({ broken: ['m1'] });
  const plan = await quickPlan(matrix, broken);
  const first = await runPlan(plan, broken, { root: temporaryFolder(), signal: never });
  expect(first.results.map((r) => r.status)).toEqual([
    ...['failed', 'failed', 'skipped', 'skipped'],
    ...Array(4).fill('done'),
  ]);
  const reason = "2 cells of m1 on host-cpu failed in a row, the last with: ENGINE_FAILED: m1 won't load";
  const skipped = first.run.cells().filter((c) => c.skipped != null);
  expect(skipped.map((c) => [c.status, c.failure, c.skipped])).toEqual(
    Array(2).fill(['planned', null, reason]),
  );
  expect(first.results[2]).toMatchObject({ failure: reason, queries: 0, seconds: 0 });

  const options = { root: '', signal: never };
  const still = await resumeRun(openRun(first.run.path), null, {
    deps: broken,
    protocol: plan.protocol,
    options,
  });
  expect(still.results.map((r) => r.status)).toEqual(['failed', 'failed', 'skipped', 'skipped']);
  const again = await resumeRun(openRun(first.run.path), null, {
    deps: fakeWorld(),
    protocol: plan.protocol,
    options,
  });
  expect(again.results.map((r) => r.status)).toEqual(Array(4).fill('done'));
  expect(again.run.cells().every((c) => c.status === 'done' && c.skipped == null)).toBe(true);
});

test('cells whose every query fails count as failed: the server is gone, not slow', async () => {
  const answer = (prompt: string, model: string) =>
    model === 'm1' ? { status: 'connect_error' as const, error_message: 'refused' } : rightSum(prompt);
  const deps = fakeWorld({ answer });
  const outcome = await runPlan(await quickPlan(matrix, deps), deps, {
    root: temporaryFolder(),
    signal: never,
  });
  expect(outcome.results.map((r) => r.status)).toEqual([
    ...['done', 'done', 'skipped', 'skipped'],
    ...Array(4).fill('done'),
  ]);
  expect(outcome.results[2]?.failure).toContain('every query of it failed');
});

test('cells of which some queries fail are no reason to skip others', async () => {
  const deps = fakeWorld({
    answer: (prompt) =>
      prompt.startsWith('1') ? { status: 'timeout', error_message: 'too slow' } : rightSum(prompt),
  });
  const outcome = await runPlan(await quickPlan(matrix, deps), deps, {
    root: temporaryFolder(),
    signal: never,
  });
  expect(outcome.results.every((r) => r.status === 'done')).toBe(true);
});
