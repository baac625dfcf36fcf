import { PerwattError } from '@perwatt/core';
import { completedQueries } from '@perwatt/records';
import { expect, test } from 'vitest';
import type { HarnessDeps } from './deps.js';
import { parseMatrix } from './parse-matrix.js';
import { planMatrix } from './plan.js';
import { resumeRun, runPlan } from './run-matrix.js';
import { fakeWorld, quickPlan, temporaryFolder } from './world.fixture.js';

const never = new AbortController().signal;
const text = (axes: string, more = '') => `name: t\nprotocol: quick\naxes: {${axes}}\n${more}`;
const pruned = async (yaml: string) =>
  (await quickPlan(yaml, fakeWorld())).pruned.map(({ point, reason }) => [
    [point.model, point.strategy, point.variant].filter(Boolean).join(' '),
    reason,
  ]);
const two = 'model: [m1, m2], dataset: [d1], strategy: [single, double]';

// biome-ignore format: a table is read in columns
test.each<[yaml: string, pruned: string[][], why: string]>([
  [text(two),                                                                       [],                                               'nothing is left out'],
  [text(two, 'constraints: [{ when: { model: m2 }, require: { strategy: single } }]'), [['m2 double', 'constraints[0]: requires strategy is single']], 'what is required'],
  [text(two, 'constraints: [{ forbid: { model: m2, strategy: double }, reason: too big }]'), [['m2 double', 'constraints[0]: too big']], 'forbidden with a reason'],
  [text(two, 'exclude: [{ model: m1, strategy: single }]'),                         [['m1 single', 'exclude[0]']],                     'excluded'],
  [text(two, 'include: [{ model: m1 }, { strategy: single }]'),                     [['m2 double', 'no entry of include']],            'not included'],
  [text('model: [m1, m2], dataset: [d1], strategy: [single, { id: double, when: { model: m1 } }]'), [['m2 double', 'strategy double exists only when model is m1']], 'a value that depends on another axis'],
  [text('model: [m1], dataset: [d1], strategy: [single, { id: same, kind: single }]'), [['m1 same', 'comes to the same as m1 × host-cpu × d1 × single × c1']], 'two names of one strategy'],
])('%s', async (yaml, expected) => {
  expect(await pruned(yaml)).toEqual(expected);
});

test('cells that come to the same are one, and the others are named', async () => {
  const yaml = text('model: [m1], dataset: [d1], variant: [base, { id: again }]');
  const plan = await quickPlan(yaml, fakeWorld());
  expect(plan.cells).toHaveLength(1);
  expect(plan.pruned.map(({ reason }) => reason)).toEqual([
    'comes to the same as m1 × host-cpu × d1 × single × c1 × base',
  ]);
});

test('a matrix without variants keeps the ids that it had, and one that changes nothing has the same', async () => {
  const idOf = async (axes: string) => (await quickPlan(text(axes), fakeWorld())).cells[0]!.id;
  expect(await idOf('model: [m1], dataset: [d1], variant: [base]')).toBe(
    await idOf('model: [m1], dataset: [d1]'),
  );
  expect(await idOf('model: [m1], dataset: [d1], variant: [{ id: v, max_tokens: 3 }]')).not.toBe(
    await idOf('model: [m1], dataset: [d1]'),
  );
});

test('the declared hash follows what is written, the resolved one what it comes to', async () => {
  const hashes = async (axes: string) => (await quickPlan(text(axes), fakeWorld())).cells[0]!.hashes;
  const short = await hashes('model: [m1], dataset: [d1]');
  const long = await hashes('model: [m1], dataset: [{ id: d1, max_tokens: 8 }]');
  expect(long.declared).not.toBe(short.declared);
  expect(long.resolved).toBe(short.resolved);
});

const served = `
name: t
protocol: quick
endpoints: { e: { url: 'http://127.0.0.1:1/v1' } }
axes:
  model: [{ id: m1, endpoint: e }]
  dataset: [d1]
  variant: [base, { id: high, reasoning_effort: high, endpoint: { idle_timeout_s: 7 } }]
`;

test('a variant reaches the endpoint and every call, and the records show it', async () => {
  const seen: (number | undefined)[] = [];
  const efforts: (string | undefined)[] = [];
  const deps = fakeWorld();
  const watching: HarnessDeps = {
    ...deps,
    async prepareModel(entry, endpoint, engine) {
      seen.push(endpoint?.idle_timeout_s);
      const model = await deps.prepareModel(entry, endpoint, engine);
      return {
        ...model,
        client(place) {
          const client = model.client(place);
          const call: typeof client.call = (request, options) => {
            efforts.push(request.sampling.reasoning_effort);
            return client.call(request, options);
          };
          return { ...client, call };
        },
      };
    },
  };
  const plan = await quickPlan(served, watching);
  expect(seen).toEqual([60, 7]);
  const { run } = await runPlan(plan, watching, { root: temporaryFolder(), signal: never });
  expect(new Set(efforts)).toEqual(new Set([undefined, 'high']));
  expect(run.manifest.order_rule).toEqual({ order: 'shuffle', blocks: 'none', seed: 42 });
  const high = run.cells().find(({ point }) => point.variant === 'high')!;
  expect(high.variant).toMatchObject({ id: 'high', reasoning_effort: 'high' });
  expect(high.settings?.reasoning_effort).toBe('high');
  expect(high.hashes?.declared).toMatch(/^[0-9a-f]{64}$/);
  expect(completedQueries(run, high.cell_id).answered.size).toBe(4);
});

test('blocks load every model once, and a resume keeps block and place', async () => {
  let opened = 0;
  const yaml = text(two, 'order: latin');
  const broken = fakeWorld({ broken: ['m2'] });
  const counting = (deps: HarnessDeps): HarnessDeps => ({
    ...deps,
    prepareModel: async (...a) => {
      const model = await deps.prepareModel(...a);
      return {
        ...model,
        client: (place) => {
          opened += 1;
          return model.client(place);
        },
      };
    },
  });
  await runPlan(await quickPlan(yaml, counting(fakeWorld())), fakeWorld(), {
    root: temporaryFolder(),
    signal: never,
  });
  expect(opened).toBe(2);
  const plan = await quickPlan(yaml, broken);
  const first = await runPlan(plan, broken, { root: temporaryFolder(), signal: never });
  const places = () =>
    first.run.cells().map(({ cell_id, block, block_position }) => [cell_id, block, block_position]);
  const before = places();
  expect(before.map(([, block, place]) => [block, place])).toEqual([
    [0, 0],
    [0, 1],
    [1, 0],
    [1, 1],
  ]);
  await resumeRun(first.run, null, {
    deps: fakeWorld(),
    protocol: plan.protocol,
    options: { root: '', signal: never },
  });
  expect(places()).toEqual(before);
});

// biome-ignore format: a table is read in columns
test.each<[variant: string, message: string, why: string]>([
  ['{ id: v, model: { pth: x } }',          'variant v with model m1: axes.model[0] has an unknown key "pth"', 'an unknown setting'],
  ['{ id: v, model: { id: x } }',           '`id` and `when` cannot be merged',                              'a name'],
  ['{ id: v, endpoint: { api: chat } }',    'the model has no entry of `endpoints`',                         'nothing to merge into'],
  ['{ id: v, engine: { flags: [x] } }',     'the model has no entry of `engines`',                           'nothing to merge into'],
  ['{ id: v, model: { endpoint: gone } }',  'there is no endpoint "gone"',                                   'a name that points nowhere'],
  ['{ id: v, reasoning_effort: high }',     '`reasoning_effort` needs a server',                             'an embedded engine'],
])('a variant that nothing takes is refused: %s', async (variant, message) => {
  const error = await quickPlan(text(`model: [m1], dataset: [d1], variant: [${variant}]`), fakeWorld()).catch(
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(PerwattError);
  expect(error).toMatchObject({ code: 'MATRIX_INVALID', message: expect.stringContaining(message) });
});

test('engine settings are merged member by member, lists replaced, and shown', async () => {
  const yaml = `
name: t
engines: { v: { kind: vllm, flags: [--a], parallel: { tensor: 2, data: 3 }, context_tokens: 100 } }
axes:
  model: [{ id: m1, engine: v }]
  dataset: [d1]
  variant: [{ id: x, engine: { flags: [--b, 1], parallel: { tensor: 4 }, quantisation: fp8 } }]
`;
  const [cell] = (await planMatrix(parseMatrix(yaml, 'm.yaml'), fakeWorld())).cells;
  expect(cell?.settings).toEqual({
    quantisation: 'fp8',
    context_tokens: 100,
    engine_flags: '--b 1',
    parallel: 'tensor=4 data=3',
    reasoning_effort: null,
    power_cap_w: null,
  });
});

test('fixed warm-up and cool-down replace those of the protocol', async () => {
  const yaml = text('model: [m1], dataset: [d1]', 'warm_up: { calls: 7 }\ncool_down: { seconds: 0 }');
  const { protocol } = await planMatrix(parseMatrix(yaml, 'm.yaml'), fakeWorld());
  expect(protocol).toMatchObject({ warmup_calls: 7, cooldown_s: 0, baseline_s: 3 });
});
