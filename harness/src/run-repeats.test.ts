import { openRun } from '@perwatt/records';
import { expect, test } from 'vitest';
import { resumeRun, runPlan } from './run-matrix.js';
import { virtualWorld } from './virtual-world.fixture.js';
import { quickPlan, temporaryFolder } from './world.fixture.js';

const never = new AbortController().signal;

const matrix = (until: string, more = '') => `
name: t
protocol: quick
repeats: { until: { ${until} } }
axes:
  model: [m1]
  dataset: [d1]
${more}`;

/** Calls whose length changes from repeat to repeat: 10 ms times the factor of the repeat it belongs to. */
function worldOf(factor: (repeat: number) => number) {
  let calls = -1;
  const world = virtualWorld({
    items: 4,
    call_ns: () => {
      calls += 1;
      const repeat = Math.floor((calls - 1) / 4);
      return 10_000_000 * factor(Math.max(0, repeat));
    },
  });
  return world.deps;
}

test('a steady cell stops as soon as its interval was narrow twice; nothing of the rest is asked', async () => {
  const deps = worldOf(() => 1);
  const plan = await quickPlan(matrix('metric: energy_per_query_j, half_width: 0.02, min: 3, max: 50'), deps);
  const { run, results } = await runPlan(plan, deps, { root: temporaryFolder(), signal: never });
  const [cell] = run.cells();
  expect(cell).toMatchObject({
    status: 'done',
    repeats: 50,
    stopping: { stopped: 'narrow', repeats: 4, metric: 'energy_per_query_j', half_width_wanted: 0.02 },
  });
  expect(cell?.stopping?.values.map((j) => j?.toFixed(6))).toEqual(Array(4).fill('0.100000'));
  expect(run.readQueries(cell!.cell_id).rows).toHaveLength(16);
  expect(results).toMatchObject([{ status: 'done', queries: 16 }]);
  expect(cell?.verdict?.reasons.map((r) => r.code)).toEqual(['quick']);
});

test('a cell that never settles stops at the cap and is flagged, with what was wanted', async () => {
  const deps = worldOf((repeat) => 1 + (repeat % 2));
  const plan = await quickPlan(matrix('metric: tokens_per_s, half_width: 0.01, min: 3, max: 6'), deps);
  const { run } = await runPlan(plan, deps, { root: temporaryFolder(), signal: never });
  const [cell] = run.cells();
  expect(cell).toMatchObject({ status: 'done', stopping: { stopped: 'cap', repeats: 6 } });
  expect(cell?.stopping?.values.map((v) => v?.toFixed(1))).toEqual([
    '200.0',
    '100.0',
    '200.0',
    '100.0',
    '200.0',
    '100.0',
  ]);
  const flag = cell?.verdict?.reasons.find((r) => r.code === 'not_converged');
  expect(flag?.text).toMatch(/^tokens_per_s is ± 38 % after 6 repeats, where ± 1 % was wanted$/);
});

test('without power a rule on joules ends at the cap and says that nothing was known', async () => {
  const { deps } = virtualWorld({ power: false });
  const plan = await quickPlan(matrix('metric: power_w, half_width: 0.1, min: 3, max: 4'), deps);
  const { run } = await runPlan(plan, deps, { root: temporaryFolder(), signal: never });
  const [cell] = run.cells();
  expect(cell?.stopping).toMatchObject({
    stopped: 'cap',
    values: [null, null, null, null],
    half_width: null,
  });
  expect(cell?.verdict?.reasons.map((r) => r.text).join()).toContain('it is not known for 4 of them');
});

test('a resume looks at the repeats of before, finishes the one that was cut and stops by the same rule', async () => {
  const until = matrix('metric: energy_per_query_j, half_width: 0.02, min: 3, max: 50');
  const stop = new AbortController();
  const deps = worldOf(() => 1);
  const stopping = {
    ...deps,
    async prepareModel(...asked: Parameters<typeof deps.prepareModel>) {
      const model = await deps.prepareModel(...asked);
      return {
        ...model,
        client(place: Parameters<typeof model.client>[0]) {
          const client = model.client(place);
          let calls = 0;
          const call: typeof client.call = (request, options) => {
            calls += 1;
            if (calls === 11) stop.abort();
            return client.call(request, options);
          };
          return { ...client, call };
        },
      };
    },
  };
  const plan = await quickPlan(until, stopping);
  const first = await runPlan(plan, stopping, { root: temporaryFolder(), signal: stop.signal });
  expect(first.run.cells()[0]?.stopping).toMatchObject({ stopped: null, repeats: 2 });

  const again = await resumeRun(openRun(first.run.path), null, {
    deps: worldOf(() => 1),
    protocol: plan.protocol,
    options: { root: '', signal: never },
  });
  const [cell] = again.run.cells();
  expect(cell).toMatchObject({ status: 'done', stopping: { stopped: 'narrow', repeats: 4 } });
  const ids = again.run.readQueries(cell!.cell_id).rows.map((q) => q.query_id);
  expect([ids.length, new Set(ids).size]).toEqual([16, 16]);
});

test('in an open loop every repeat has arrivals of its own', async () => {
  const { deps } = virtualWorld({ items: 20 });
  const load = '  load: [{ arrivals: { kind: poisson, rate_per_s: 50 } }]\n';
  const text = matrix('metric: tokens_per_s, half_width: 0.5, min: 3, max: 5', load);
  const plan = await quickPlan(text, deps);
  const { run } = await runPlan(plan, deps, { root: temporaryFolder(), signal: never });
  const [cell] = run.cells();
  const repeats = cell!.stopping!.repeats;
  expect(cell?.sittings[0]?.loop).toMatchObject({ kind: 'open', due: 20 * repeats });
  const gaps = (repeat: number) =>
    run
      .readQueries(cell!.cell_id)
      .rows.filter((q) => q.repeat === repeat)
      .map((q, _, all) => Number((q.scheduled_ns ?? 0n) - (all[0]?.scheduled_ns ?? 0n)));
  expect(gaps(0)).toHaveLength(20);
  expect(gaps(0)).not.toEqual(gaps(1));
});
