import { axisNames, type CallRow } from '@perwatt/core';
import { expect, onTestFinished, test } from 'vitest';
import { runPlan } from '../run-matrix.js';
import { fakeWorld, quickPlan, temporaryFolder } from '../world.fixture.js';
import { driveLoop } from './drive-loop.js';

const yaml = (load: string, limit = 12) => `
name: open
protocol: quick
axes:
  model: [m]
  dataset: [{ id: d, limit: ${limit} }]
  load: ${load}
`;

async function runOpen(load: string, call_ms = 2) {
  const deps = {
    ...fakeWorld({ call_ms }),
    traceTimes: async () => Float64Array.of(0, 1e7, 1e7, 4e7, 9e7, 9e7, 9e7, 9e7, 9e7, 9e7, 9e7, 1e8),
  };
  const plan = await quickPlan(yaml(load), deps);
  const { run } = await runPlan(plan, deps, {
    root: temporaryFolder(),
    signal: new AbortController().signal,
  });
  const [cell] = run.cells();
  if (cell === undefined) throw new RangeError('no cell');
  const calls = run.readCalls(cell.cell_id).rows.filter((c) => c.phase === 'measure');
  return { cell, calls, queries: run.readQueries(cell.cell_id).rows, plan };
}

const offsets = (calls: readonly CallRow[]) => {
  const due = calls.map((c) => Number(c.sched_ns)).sort((a, b) => a - b);
  return due.map((at) => (at - (due[0] ?? 0)) / 1e6);
};

test('a cell with constant arrivals sends its queries when they are due, and keeps both times', async () => {
  const { cell, calls, queries } = await runOpen('[{ arrivals: { kind: constant, rate_per_s: 200 } }]');
  expect(offsets(calls)).toEqual(Array.from({ length: 12 }, (_, i) => i * 5));
  for (const call of calls) expect(call.dispatch_ns).toBeGreaterThanOrEqual(call.sched_ns ?? Infinity);
  expect(queries.map((q) => q.scheduled_ns).sort()).toEqual(calls.map((c) => c.sched_ns).sort());
  expect(cell.point.load).toBe('constant-200');
  expect(cell.sittings[0]?.loop).toMatchObject({ kind: 'open', due: 12, waited: 0, offered_per_s: 200 });
  expect(cell.sittings[0]?.loop?.schedule_sha256).toMatch(/^[0-9a-f]{64}$/);
  expect(cell.status).toBe('done');
});

test('a cap in an open loop makes queries wait, and says how many', async () => {
  const load = '[{ id: capped, cap: 1, arrivals: { kind: offline } }]';
  const { cell } = await runOpen(load);
  expect(cell.sittings[0]?.loop).toMatchObject({ waited: 11, most_in_flight: 1, offered_per_s: null });
});

test('a cell may take the times of a trace, at a speed of its own', async () => {
  const { calls } = await runOpen('[{ id: t, arrivals: { kind: trace, path: t.csv, speed: 2 } }]');
  expect(offsets(calls)).toEqual([0, 5, 5, 20, 45, 45, 45, 45, 45, 45, 45, 50]);
});

test('where a trace lies is no part of a cell, and its times are', async () => {
  const idOf = async (path: string, times: readonly number[]) => {
    const deps = { ...fakeWorld(), traceTimes: async () => Float64Array.from(times) };
    const plan = await quickPlan(yaml(`[{ id: t, arrivals: { kind: trace, path: ${path} } }]`, 2), deps);
    return plan.cells[0]?.id;
  };
  const id = await idOf('/lab/t.csv', [0, 1e6]);
  expect(await idOf('/home/me/t.csv', [0, 1e6])).toBe(id);
  expect(await idOf('/lab/t.csv', [0, 2e6])).not.toBe(id);
});

test('a closed loop has no due times', async () => {
  const { cell, calls, queries } = await runOpen('[{ concurrency: 3, ramp_s: 0.01 }]');
  expect(calls.every((c) => c.sched_ns === null)).toBe(true);
  expect(queries.every((q) => q.scheduled_ns === null)).toBe(true);
  expect(cell.sittings[0]?.loop).toMatchObject({ kind: 'closed', schedule_sha256: null, most_in_flight: 3 });
});

test('arrivals are part of what a cell is', async () => {
  const deps = fakeWorld();
  const rates =
    '[{ id: a, arrivals: { kind: poisson, rate_per_s: 5 } }, { id: b, arrivals: { kind: poisson, rate_per_s: 6 } }]';
  const { cells } = await quickPlan(yaml(rates), deps);
  expect(new Set(cells.map(({ id }) => id)).size).toBe(2);
  expect(axisNames).toContain('load');
});

test('limits and the rule of a steady window stand in the file of a cell, and are no part of its id', async () => {
  const own = 'id: a, arrivals: { kind: constant, rate_per_s: 400 }';
  const judged = `[{ ${own}, slo: { ttft_any_s: 2 }, steady: { rule: plateau, ratio: 0.5 } }]`;
  const { cell, plan } = await runOpen(judged);
  expect(cell).toMatchObject({ slo: { ttft_any_s: 2 }, steady: { rule: 'plateau', ratio: 0.5 } });
  const { cells } = await quickPlan(yaml(`[{ ${own} }]`), fakeWorld());
  expect(cells[0]!.id).toBe(plan.cells[0]!.id);
});

test('more calls in flight than Node takes for a leak listen to the signal without a warning', async () => {
  const { signal } = new AbortController();
  const warnings: string[] = [];
  const heard = ({ name }: Error) => warnings.push(name);
  process.on('warning', heard);
  onTestFinished(() => void process.off('warning', heard));
  const facts = await driveLoop(
    { kind: 'open', arrivals: { kind: 'offline' }, trace_ns: null, cap: null },
    {
      count: 40,
      seed: 1,
      clock: fakeWorld().clock,
      signal,
      run: async () => signal.addEventListener('abort', () => {}),
    },
  );
  await new Promise(setImmediate);
  expect(facts.due).toBe(40);
  expect(warnings).toEqual([]);
});

test('arrivals that end before every query was due are refused', async () => {
  const short =
    '[{ id: s, arrivals: { kind: steps, process: constant, stages: [{ rate_per_s: 5, duration_s: 1 }] } }]';
  await expect(quickPlan(yaml(short), fakeWorld())).rejects.toThrow(
    'load "s" has arrivals for 5 queries, but a cell of it has 12',
  );
});

test('a trace that nothing can read is refused', async () => {
  const load = '[{ id: t, arrivals: { kind: trace, path: t.csv } }]';
  await expect(quickPlan(yaml(load), fakeWorld())).rejects.toThrow('nothing here can read trace t.csv');
});
