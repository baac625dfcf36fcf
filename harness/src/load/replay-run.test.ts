import { readdirSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import type { LoadEntry } from '@perwatt/core';
import { openRun, parseQueryId, type RunFolder, verifyRun } from '@perwatt/records';
import { expect, test } from 'vitest';
import { fakeWorld, temporaryFolder } from '../world.fixture.js';
import { type FakeEngineOptions, workersHere } from './fake-engine.fixture.js';
import { type LoadRowArrays, sharedRows } from './load-rows.js';
import { planReplay } from './replay-plan.js';
import { type ReplayOptions, runReplay } from './replay-run.js';

/** Calls `step_ms` apart, their rows numbered backwards so that order and number differ. */
function rowsOf(count: number, step_ms: number | null): LoadRowArrays {
  const rows = sharedRows(count);
  for (let i = 0; i < count; i++) {
    rows.row[i] = count - 1 - i;
    rows.input_tokens[i] = 5;
    rows.output_tokens[i] = 2;
    rows.due_ns[i] = i * (step_ms ?? 0) * 1e6;
  }
  return { ...rows, due_ns: step_ms === null ? new Float64Array() : rows.due_ns, blocks: null };
}

const planOf = (rows: LoadRowArrays, load: Omit<LoadEntry, 'id'>) =>
  planReplay({
    trace: { path: '/traces/some trace.csv', format: 'burstgpt', sha256: 'aa' },
    settings: {},
    endpoint: { url: 'http://127.0.0.1:1', api: 'chat', idle_timeout_s: 1, headers_timeout_s: 1 },
    model: 'org/model',
    load,
    seed: 1,
    rows,
  });

const endpoint = {
  kind: 'http',
  endpoint: 'http://127.0.0.1:1/v1',
  engine: null,
  engine_version: null,
  model: 'm',
  model_sha256: null,
  quantisation: null,
  chat_template_sha256: null,
  context_tokens: null,
  threads: null,
  pids: [],
} as const;

const deps = fakeWorld();

function optionsOf(engine: Partial<FakeEngineOptions>, own: Partial<ReplayOptions> = {}): ReplayOptions {
  return {
    root: temporaryFolder(),
    endpoint,
    workers: 2,
    gaps: true,
    openWorker: workersHere({ clock: deps.clock, call_ms: 1, ...engine }),
    baseline_s: 0.05,
    slo: {},
    calibrated_per_s: null,
    signal: new AbortController().signal,
    ...own,
  };
}

const offline = { concurrency: 1, arrivals: { kind: 'offline' }, cap: 4 } as const;

const rowsIn = (run: RunFolder): number[] => {
  const [cell] = run.cells();
  const ids = run.readCalls(cell?.cell_id ?? '').rows.map((c) => Number(parseQueryId(c.query_id)?.item_id));
  return ids.sort((a, b) => a - b);
};

test('every row of a trace becomes one call and one query, with its due time and a share of the energy', async () => {
  const plan = planOf(rowsOf(40, 2), { concurrency: 1, arrivals: { kind: 'offline' } });
  const { run, cell, status, summary } = await runReplay(
    plan,
    deps,
    optionsOf({}, { slo: { ttft_any: 1e9 } }),
  );
  expect(status).toBe('done');
  expect(rowsIn(run)).toEqual([...Array(40).keys()]);
  const calls = run.readCalls(cell.cell_id).rows;
  const due = calls.map((c) => Number(c.sched_ns)).sort((a, b) => a - b);
  expect(due.map((at) => (at - (due[0] ?? 0)) / 1e6)).toEqual(Array.from({ length: 40 }, (_, i) => 2 * i));
  const queries = run.readQueries(cell.cell_id).rows;
  expect(queries).toHaveLength(40);
  expect(queries[0]).toMatchObject({
    status: 'answered',
    verdict: 'unscored',
    score: null,
    energy_method: 'time_share',
  });
  const shared = queries.reduce((sum, q) => sum + (q.energy_gross_j ?? Number.NaN), 0);
  expect(shared).toBeCloseTo(cell.ledgers[0]?.queries_j ?? Number.NaN, 9);
  expect(summary).toMatchObject({ calls: 40, ok: 40, output_tokens: 80, good_fraction: 1 });
  expect(cell.sittings[0]?.loop).toMatchObject({ kind: 'open', due: 40, waited: 0 });
  expect(verifyRun(run.path).findings).toEqual([]);
});

test('a cap holds over all workers, and what waited is counted', async () => {
  const { cell, summary } = await runReplay(planOf(rowsOf(30, 0), offline), deps, optionsOf({ call_ms: 3 }));
  expect(cell.sittings[0]?.loop).toMatchObject({ most_in_flight: 4, waited: 26 });
  expect(summary.ok).toBe(30);
});

test('a closed loop takes rows in order of the trace and has no due times', async () => {
  const { run, cell, summary } = await runReplay(
    planOf(rowsOf(20, null), { concurrency: 3 }),
    deps,
    optionsOf({}),
  );
  expect(rowsIn(run)).toHaveLength(20);
  expect(summary.times.lag).toBeNull();
  expect(summary.times.e2e_from_schedule).toBeNull();
  expect(cell.sittings[0]?.loop).toMatchObject({ kind: 'closed', most_in_flight: 3, schedule_sha256: null });
});

test('failed calls are rows like others, and failed queries', async () => {
  const engine = { succeeds: (body: string) => !body.includes(' the') };
  const { run, cell, summary } = await runReplay(planOf(rowsOf(25, 1), offline), deps, optionsOf(engine));
  const failed = run.readQueries(cell.cell_id).rows.filter((q) => q.status === 'failed');
  expect(failed.length).toBeGreaterThan(0);
  expect(summary.failed).toBe(failed.length);
  expect(summary.calls).toBe(25);
  for (const query of failed) expect(query).toMatchObject({ error_code: 'http_error', verdict: 'unscored' });
});

test('a stopped replay goes on where it stopped: no row is lost or sent twice', async () => {
  const stopping = new AbortController();
  let sent = 0;
  const onSend = () => {
    sent += 1;
    if (sent === 25) stopping.abort();
  };
  const plan = planOf(rowsOf(60, 1), offline);
  const first = await runReplay(plan, deps, optionsOf({ onSend }, { signal: stopping.signal }));
  expect(first.status).toBe('interrupted');
  const before = rowsIn(first.run).length;
  expect(before).toBeLessThan(60);
  const again: string[] = [];
  const run = openRun(first.run.path);
  const second = await runReplay(plan, deps, optionsOf({ onSend: (body) => again.push(body) }, { run }));
  expect(second.status).toBe('done');
  expect(again).toHaveLength(60 - before);
  expect(rowsIn(run)).toEqual([...Array(60).keys()]);
  expect(second.cell.verdict?.reasons.map(({ code }) => code)).toContain('resumed');
  expect(second.cell.sittings).toHaveLength(2);
  expect(run.readQueries(second.cell.cell_id).rows).toHaveLength(60);
  expect(verifyRun(run.path).findings).toEqual([]);
});

test.each([0, 1, 7, 100, 400])(
  'after a crash that cut %i bytes off, a resume sends what is not on disk',
  async (cut) => {
    const plan = planOf(rowsOf(50, 0), offline);
    const { run } = await runReplay(plan, deps, optionsOf({}));
    const cell = run.readCell(plan.cell_id);
    const folder = run.cellFolder(plan.cell_id);
    const file = join(folder, 'calls-0.arrows');
    const [segment] = cell.segments;
    truncateSync(file, (segment?.bytes ?? 0) - cut);
    const queries = readdirSync(folder).filter((name) => name.startsWith('queries'));
    for (const name of queries) truncateSync(join(folder, name), 0);
    const sittings = cell.sittings.map((s) => ({ ...s, state: 'open' as const, end_ns: null }));
    run.writeCell({ ...cell, status: 'running', segments: [], ledgers: [], sittings });
    const kept = rowsIn(run).length;
    const sent: string[] = [];
    const resumed = await runReplay(
      plan,
      deps,
      optionsOf({ onSend: (body) => sent.push(body) }, { run: openRun(run.path) }),
    );
    expect(sent).toHaveLength(50 - kept);
    expect(rowsIn(run)).toEqual([...Array(50).keys()]);
    expect(resumed.status).toBe('done');
    expect(run.readQueries(plan.cell_id).rows).toHaveLength(50);
  },
);

test('a busy client is named in the file and flags the cell', async () => {
  const here = workersHere({ clock: deps.clock, call_ms: 1 });
  const busy: ReplayOptions['openWorker'] = (work, onCalls) => {
    const worker = here(work, onCalls);
    return { ...worker, run: async (zero) => ({ ...(await worker.run(zero)), busiest_core_ratio: 0.99 }) };
  };
  const { cell } = await runReplay(planOf(rowsOf(10, 1), offline), deps, optionsOf({}, { openWorker: busy }));
  expect(cell.replay?.client[0]?.limits.map(({ code }) => code)).toContain('busy');
  expect(cell.verdict?.reasons.map(({ code }) => code)).toContain('client_limited');
});

test('the same replay has one cell id; another load, model or row has another', () => {
  const rows = rowsOf(5, 1);
  const id = planOf(rows, offline).cell_id;
  expect(planOf(rowsOf(5, 1), offline).cell_id).toBe(id);
  expect(planOf(rowsOf(6, 1), offline).cell_id).not.toBe(id);
  expect(planOf(rowsOf(5, 2), offline).cell_id).not.toBe(id);
  expect(planOf(rows, { ...offline, cap: 5 }).cell_id).not.toBe(id);
  expect(planOf(rows, offline).point).toMatchObject({
    model: 'model',
    dataset: 'some-trace.csv',
    load: 'offline',
  });
});
