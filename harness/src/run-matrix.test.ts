import { readdirSync, rmSync } from 'node:fs';
import { PerwattError } from '@perwatt/core';
import { completedQueries, openRun, type RunFolder } from '@perwatt/records';
import { expect, test } from 'vitest';
import { type HarnessDeps, pause } from './deps.js';
import { parseMatrix } from './parse-matrix.js';
import type { Plan } from './plan.js';
import { protocols } from './protocols.js';
import { resumeRun, runPlan } from './run-matrix.js';
import { fakeWorld, quickPlan, rightSum, temporaryFolder } from './world.fixture.js';

const yaml = `
name: t
protocol: quick
axes:
  model: [m1, m2]
  dataset: [d1, d2]
  strategy: [single, double]
`;

const never = new AbortController().signal;

const run = async (plan: Plan, deps: HarnessDeps, signal = never) =>
  runPlan(plan, deps, { root: temporaryFolder(), signal });

const idsOf = (folder: RunFolder) =>
  folder.cells().flatMap((cell) => folder.readQueries(cell.cell_id).rows.map((q) => q.query_id));

test('a run puts every item of every cell once, graded, with its energy', async () => {
  const deps = fakeWorld();
  const plan = await quickPlan(yaml, deps);
  const { run: folder, status, results } = await run(plan, deps);

  expect(status).toBe('done');
  expect(results).toHaveLength(8);
  expect(results.every((r) => r.status === 'done' && r.accuracy === 1 && r.verdict === 'flagged')).toBe(true);
  const ids = idsOf(folder);
  expect([ids.length, new Set(ids).size]).toEqual([32, 32]);
  for (const cell of folder.cells()) {
    const rows = folder.readQueries(cell.cell_id).rows;
    expect(rows.every((q) => q.verdict === 'correct' && (q.energy_gross_j ?? 0) > 0)).toBe(true);
    expect(new Set(rows.map((q) => q.calls))).toEqual(new Set([cell.point.strategy === 'double' ? 2 : 1]));
  }
});

test('ledgers conserve energy, and the queries of a cell sum to its ledger', async () => {
  const deps = fakeWorld();
  const { run: folder } = await run(await quickPlan(yaml, deps), deps);
  for (const cell of folder.cells()) {
    const [ledger] = cell.ledgers;
    expect(ledger).toMatchObject({ domain: 'fake:0', in_total: true, lost_work_j: 0, reason: null });
    const { meter_j, queries_j, unattributed_j } = ledger!;
    expect(queries_j! + unattributed_j!).toBeCloseTo(meter_j!, 9);
    const sum = folder.readQueries(cell.cell_id).rows.reduce((s, q) => s + q.energy_gross_j!, 0);
    expect(sum).toBeCloseTo(queries_j!, 9);
    const [sitting] = cell.sittings;
    const seconds = Number(BigInt(sitting!.end_ns!) - BigInt(sitting!.start_ns)) / 1e9;
    expect(meter_j).toBeCloseTo(seconds * 10, 6);
    expect(sitting!.baselines.map((b) => `${b.kind} ${b.when}`).toSorted()).toEqual([
      'host_idle after',
      'host_idle before',
      'loaded_idle after',
      'loaded_idle before',
    ]);
  }
});

test('at constant watts the net energy is about nothing', async () => {
  const deps = fakeWorld({ call_ms: 30 });
  const { run: folder } = await run(
    await quickPlan('name: t\naxes: {model: [m1], dataset: [d1]}', deps),
    deps,
  );
  const [cell] = folder.cells();
  for (const q of folder.readQueries(cell!.cell_id).rows) {
    expect(Math.abs(q.energy_net_j!)).toBeLessThan(q.energy_gross_j! * 0.01);
  }
});

test('the order of the cells is shuffled by the seed and does not follow an axis', async () => {
  const deps = fakeWorld();
  const order = async (text: string) =>
    (await quickPlan(text, deps)).cells.map((c) => Object.values(c.point).join());
  const shuffled = await order(yaml);
  const written = await order(`${yaml}\norder: as-written\n`);
  expect(shuffled).toEqual(await order(yaml));
  expect(shuffled).not.toEqual(written);
  expect(shuffled.toSorted()).toEqual(written.toSorted());
  expect(await order(yaml.replace('name: t', 'name: t\nseed: 7'))).not.toEqual(shuffled);
});

test('a stopped run keeps what it finished; the resume does the rest, none twice', async () => {
  const deps = fakeWorld({ items: 30, call_ms: 4 });
  const plan = await quickPlan(yaml, deps);
  const stop = new AbortController();
  let calls = 0;
  const counting: HarnessDeps = {
    ...deps,
    async prepareModel(entry, endpoint) {
      const model = await deps.prepareModel(entry, endpoint);
      return {
        ...model,
        client(options) {
          const client = model.client(options);
          return {
            ...client,
            call: (request, opts) => {
              calls += 1;
              if (calls === 70) stop.abort();
              return client.call(request, opts);
            },
          };
        },
      };
    },
  };
  const first = await run(await quickPlan(yaml, counting), counting, stop.signal);
  expect(first.status).toBe('interrupted');
  const before = idsOf(first.run);
  expect(before.length).toBeGreaterThan(0);
  expect(before.length).toBeLessThan(240);

  const reopened = openRun(first.run.path);
  const second = await resumeRun(reopened, plan.matrix, {
    deps,
    protocol: plan.protocol,
    options: { root: '', signal: never },
  });
  expect(second.status).toBe('done');
  const ids = idsOf(second.run);
  expect([ids.length, new Set(ids).size]).toEqual([240, 240]);
  const cut = second.run.cells().filter((c) => c.sittings.length > 1);
  expect(cut.length).toBeGreaterThan(0);
  for (const cell of cut) {
    expect(cell.verdict?.reasons.map((r) => r.code)).toContain('resumed');
    const { meter_j, queries_j, unattributed_j } = cell.ledgers[0]!;
    expect(queries_j! + unattributed_j!).toBeCloseTo(meter_j!, 9);
  }
});

test('a sitting that a crash left open is settled before anything new is asked', async () => {
  const deps = fakeWorld({ items: 12, call_ms: 4 });
  const text = 'name: t\nprotocol: quick\naxes: {model: [m1], dataset: [d1]}';
  const plan = await quickPlan(text, deps);
  const { run: folder } = await run(plan, deps);
  const [cell] = folder.cells();
  const answered = completedQueries(folder, cell!.cell_id).answered.size;
  // What a kill between the last answer and the settling leaves: no queries segment, the sitting open.
  rmSync(`${folder.cellFolder(cell!.cell_id)}/queries-0.arrows`);
  folder.writeCell({
    ...cell!,
    status: 'running',
    verdict: null,
    ledgers: [],
    segments: cell!.segments.filter((s) => s.table !== 'queries'),
    sittings: cell!.sittings.map((s) => ({ ...s, state: 'open' as const, end_ns: null })),
  });

  const second = await resumeRun(openRun(folder.path), null, {
    deps: {
      ...deps,
      prepareModel: async (...a) => ({ ...(await deps.prepareModel(...a)), client: neverOpened }),
    },
    protocol: plan.protocol,
    options: { root: '', signal: never },
  });
  const [after] = second.run.cells();
  expect(second.run.readQueries(cell!.cell_id).rows).toHaveLength(answered);
  expect(after).toMatchObject({ status: 'done', sittings: [{ state: 'crashed' }] });
  expect(after!.ledgers[0]!.queries_j).toBeCloseTo(cell!.ledgers[0]!.queries_j!, 9);
});

const neverOpened = () => {
  throw new Error('nothing is left to ask');
};

test('a resume with a changed matrix is refused, naming what changed', async () => {
  const deps = fakeWorld();
  const plan = await quickPlan('name: t\nprotocol: quick\naxes: {model: [m1], dataset: [d1]}', deps);
  const { run: folder } = await run(plan, deps);
  const changed = parseMatrix(
    'name: t\nprotocol: quick\nseed: 1\naxes: {model: [m1], dataset: [d1]}',
    'm.yaml',
  );
  await expect(
    resumeRun(folder, changed, { deps, options: { root: '', signal: never } }),
  ).rejects.toThrowError(
    expect.objectContaining({ code: 'MATRIX_CHANGED', message: expect.stringContaining('seed: 42 → 1') }),
  );
  for (const cell of folder.cells()) folder.writeCell({ ...cell, status: 'running' });
  const other = fakeWorld({ items: 5 });
  await expect(
    resumeRun(folder, null, { deps: other, options: { root: '', signal: never } }),
  ).rejects.toThrowError(expect.objectContaining({ code: 'MATRIX_CHANGED' }));
});

test('a cell whose engine fails is recorded and the others go on; a resume tries it again', async () => {
  const plan = await quickPlan(yaml, fakeWorld());
  const broken = fakeWorld({ broken: ['m2'] });
  const first = await run(await quickPlan(yaml, broken), broken);
  expect(first.status).toBe('done');
  expect(first.results.map((r) => r.status).toSorted()).toEqual([
    ...Array(4).fill('done'),
    ...Array(4).fill('failed'),
  ]);
  const failed = first.run.cells().filter((c) => c.status === 'failed');
  expect(failed[0]?.failure).toBe("ENGINE_FAILED: m2 won't load");

  const again = await resumeRun(first.run, null, {
    deps: fakeWorld(),
    protocol: plan.protocol,
    options: { root: '', signal: never },
  });
  expect(idsOf(again.run)).toHaveLength(32);
  expect(again.run.cells().every((c) => c.status === 'done' && c.failure === null)).toBe(true);
});

test('a model that does not load because the run is being stopped is no failure', async () => {
  const stop = new AbortController();
  const deps = fakeWorld();
  const stopping: HarnessDeps = {
    ...deps,
    prepareModel: async (...a) => ({
      ...(await deps.prepareModel(...a)),
      client: () => {
        stop.abort();
        throw new PerwattError('ENGINE_FAILED', 'killed');
      },
    }),
  };
  const { run: folder, status, results } = await run(await quickPlan(yaml, stopping), stopping, stop.signal);
  expect(status).toBe('interrupted');
  expect(results.map((r) => r.status)).toEqual(['interrupted']);
  expect(folder.cells().every((c) => c.status === 'planned' && c.failure === null)).toBe(true);
});

test('a resume asks for what the open cells need only', async () => {
  const plan = await quickPlan(yaml, fakeWorld());
  const broken = fakeWorld({ broken: ['m2'] });
  const first = await run(await quickPlan(yaml, broken), broken);
  const again = await resumeRun(first.run, null, {
    deps: fakeWorld({ unavailable: ['m1'] }),
    protocol: plan.protocol,
    options: { root: '', signal: never },
  });
  expect(again.results.map((r) => r.point.model)).toEqual(['m2', 'm2', 'm2', 'm2']);
  expect(again.run.cells().map((c) => c.position)).toEqual(first.run.cells().map((c) => c.position));
  expect(idsOf(again.run)).toHaveLength(32);
});

test('a crash before every cell had its file is made good', async () => {
  const deps = fakeWorld();
  const plan = await quickPlan(yaml, deps);
  const { run: folder } = await run(plan, deps);
  const lost = folder.manifest.order.at(-1)!;
  rmSync(folder.cellFolder(lost), { recursive: true });
  const again = await resumeRun(folder, null, {
    deps,
    protocol: plan.protocol,
    options: { root: '', signal: never },
  });
  expect(again.results).toHaveLength(1);
  expect(again.run.readCell(lost)).toMatchObject({ status: 'done', position: 7 });
});

test('a run merged from others is not gone on with: it was made elsewhere', async () => {
  const broken = fakeWorld({ broken: ['m2'] });
  const { run: folder } = await run(await quickPlan(yaml, broken), broken);
  const { run_id, perwatt_version, host, clocks, order } = folder.manifest;
  folder.updateManifest({ merged: [{ run_id, perwatt_version, host, clocks, cells: order }] });
  await expect(
    resumeRun(folder, null, { deps: fakeWorld(), options: { root: '', signal: never } }),
  ).rejects.toMatchObject({
    code: 'INPUT_INVALID',
    message: expect.stringMatching(/merged from .*; 4 of its/),
  });
});

test('a resume of a finished run does nothing', async () => {
  const deps = fakeWorld();
  const { run: folder } = await run(await quickPlan(yaml, deps), deps);
  const before = folder.manifest;
  const gone = fakeWorld({ unavailable: ['m1', 'm2'] });
  const again = await resumeRun(openRun(folder.path), null, {
    deps: { ...gone, powerSources: () => expect.fail('a source was read') },
    options: { root: '', signal: never },
  });
  expect(again).toMatchObject({ status: 'done', results: [] });
  expect(openRun(folder.path).manifest).toEqual(before);
});

test('power sources that are refused leave no run folder behind', async () => {
  const deps = fakeWorld();
  const root = temporaryFolder();
  const powerSources = () => {
    throw new PerwattError('INPUT_INVALID', 'no power source is called "x"');
  };
  await expect(
    runPlan(await quickPlan(yaml, deps), { ...deps, powerSources }, { root, signal: never }),
  ).rejects.toThrowError('no power source is called "x"');
  expect(readdirSync(root)).toEqual([]);
});

test('a model that cannot be had is left out and named; without any model nothing starts', async () => {
  const deps = fakeWorld({ unavailable: ['m1'] });
  const plan = await quickPlan(yaml, deps);
  expect(plan.cells).toHaveLength(4);
  expect(plan.left_out).toEqual([{ what: 'model m1', reason: 'model m1 is nowhere to be had' }]);
  await expect(quickPlan(yaml, fakeWorld({ unavailable: ['m1', 'm2'] }))).rejects.toThrowError(
    expect.objectContaining({ code: 'MODEL_UNAVAILABLE' }),
  );
});

test('without a power source everything but energy is there', async () => {
  const deps = fakeWorld({ power: false });
  const { run: folder, results } = await run(await quickPlan(yaml, deps), deps);
  expect(results.every((r) => r.accuracy === 1)).toBe(true);
  const [cell] = folder.cells();
  expect(cell!.verdict?.reasons.map((r) => r.code)).toContain('no_power');
  const [row] = folder.readQueries(cell!.cell_id).rows;
  expect(row).toMatchObject({ energy_gross_j: null, energy_net_j: null, energy_method: 'none' });
});

test("an endpoint on another host gets none of this host's energy", async () => {
  const deps = fakeWorld();
  const far: HarnessDeps = {
    ...deps,
    async prepareModel(entry, endpoint) {
      const model = await deps.prepareModel(entry, endpoint);
      return {
        ...model,
        client(options) {
          const client = model.client(options);
          const open = async () => ({
            ...(await client.open()),
            kind: 'http' as const,
            endpoint: 'http://gpu/v1',
          });
          return { ...client, open };
        },
      };
    },
  };
  const { run: folder } = await run(await quickPlan('name: t\naxes: {model: [m1], dataset: [d1]}', far), far);
  const [cell] = folder.cells();
  expect(cell!.verdict?.reasons.map((r) => r.code)).toContain('endpoint_elsewhere');
  expect(cell!.ledgers).toEqual([]);
  const rows = folder.readQueries(cell!.cell_id).rows;
  expect(rows.every((q) => q.energy_gross_j === null && q.energy_method === 'none')).toBe(true);
});

test('failed calls are rows with a status, score 0 and make the cell invalid when they are many', async () => {
  const deps = fakeWorld({
    answer: (prompt) =>
      prompt.startsWith('1') ? { status: 'timeout', error_message: 'too slow' } : rightSum(prompt),
  });
  const { run: folder, results } = await run(await quickPlan(yaml, deps), deps);
  expect(results.every((r) => r.verdict === 'invalid' && r.accuracy === 0.75)).toBe(true);
  const rows = folder.cells().flatMap((c) => folder.readQueries(c.cell_id).rows);
  const failed = rows.filter((q) => q.status === 'failed');
  expect(failed).toHaveLength(8);
  expect(failed[0]).toMatchObject({ verdict: 'error', score: 0, error_code: 'timeout' });
});

test('concurrency keeps that many queries in flight and shares the energy out by time', async () => {
  const text = 'name: t\naxes: {model: [m1], dataset: [d1], load: [{concurrency: 4}]}';
  const deps = fakeWorld({ items: 16, call_ms: 20 });
  const { run: folder } = await run(await quickPlan(text, deps), deps);
  const [cell] = folder.cells();
  const rows = folder.readQueries(cell!.cell_id).rows;
  const most = Math.max(
    ...rows.map((a) => rows.filter((b) => b.start_ns <= a.start_ns && b.end_ns > a.start_ns).length),
  );
  expect(most).toBe(4);
  expect(new Set(rows.map((q) => q.energy_method))).toEqual(new Set(['time_share']));
  const { meter_j, queries_j, unattributed_j } = cell!.ledgers[0]!;
  expect(queries_j! + unattributed_j!).toBeCloseTo(meter_j!, 9);
});

test('energy can be shared out by tokens, and still sums to the ledger', async () => {
  const text =
    'name: t\nenergy: {attribution: token_share}\naxes: {model: [m1], dataset: [d1], load: [{concurrency: 4}]}';
  const deps = fakeWorld({ items: 8, call_ms: 20 });
  const { run: folder } = await run(await quickPlan(text, deps), deps);
  const [cell] = folder.cells();
  const rows = folder.readQueries(cell!.cell_id).rows;
  expect(new Set(rows.map((q) => q.energy_method))).toEqual(new Set(['token_share']));
  const sum = rows.reduce((total, q) => total + q.energy_gross_j!, 0);
  expect(sum).toBeCloseTo(cell!.ledgers[0]!.queries_j!, 9);
});

test('the protocols grow stricter', () => {
  const { quick, standard, strict } = protocols;
  for (const key of ['repeats', 'baseline_s', 'min_window_s', 'warmup_calls'] as const) {
    expect(quick[key]).toBeLessThan(standard[key]);
    expect(standard[key]).toBeLessThan(strict[key]);
  }
});

test('a pause ends early without an error', async () => {
  const stop = new AbortController();
  const waiting = pause(3_600_000, stop.signal);
  stop.abort();
  await expect(waiting).resolves.toBeUndefined();
  await expect(pause(3_600_000, stop.signal)).resolves.toBeUndefined();
});
