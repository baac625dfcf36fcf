import { type Domain, PerwattError, type Strategy } from '@perwatt/core';
import { steadyPowerSource, testDomain } from '@perwatt/test-kit';
import { expect, test } from 'vitest';
import type { HarnessDeps } from './deps.js';
import { parseMatrix } from './parse-matrix.js';
import { planMatrix } from './plan.js';
import { runPlan } from './run-matrix.js';
import { virtualWorld } from './virtual-world.fixture.js';
import { fakeWorld, quickPlan, temporaryFolder } from './world.fixture.js';

const never = new AbortController().signal;

/** Asks the weak model twice at once, then the strong one, whose text is the answer. */
const cascade: Strategy = {
  id: 'cascade',
  version: 1,
  summary: 'test',
  needs: () => ({ endpoints: ['main', 'weak', 'strong'] }),
  params: { parse: (input) => input },
  calls: () => 4,
  async *run(item, _, { max_tokens }) {
    const call = (
      id: string,
      endpoint: string,
      role: 'worker' | 'supervisor' | 'solver',
      parents: string[],
    ) => ({
      id,
      parents,
      role,
      endpoint,
      input: { kind: 'chat' as const, messages: [{ role: 'user' as const, content: item.prompt }] },
      sampling: { temperature: 0, top_p: 1, max_tokens },
    });
    yield [call('m', 'main', 'solver', [])];
    yield [call('w0', 'weak', 'worker', ['m']), call('w1', 'weak', 'worker', ['m'])];
    const [strong] = yield [call('s', 'strong', 'supervisor', ['w0', 'w1'])];
    return { status: 'answered', answer: strong?.text ?? '', call_id: 's', candidates: [], decisions: [] };
  },
};

const withCascade = (deps: HarnessDeps): HarnessDeps => ({
  ...deps,
  strategy: (id) => (id === 'cascade' ? cascade : deps.strategy(id)),
});

const matrix = (bind: string, more = '') => `
name: t
protocol: quick
axes:
  model: [m1]
  dataset: [d1]
  strategy: [{ id: cascade, bind: ${bind} }]
${more}`;

const others = 'models: [big, small]\n';

async function ran(text: string, deps: HarnessDeps) {
  const { run } = await runPlan(await quickPlan(text, deps), deps, {
    root: temporaryFolder(),
    signal: never,
  });
  const [cell] = run.cells();
  return {
    cell: cell!,
    calls: run.readCalls(cell!.cell_id).rows,
    queries: run.readQueries(cell!.cell_id).rows,
  };
}

test('calls go to the model that their endpoint is bound to, and rows name it', async () => {
  const deps = withCascade(virtualWorld({ items: 3 }).deps);
  const { cell, calls, queries } = await ran(matrix('{ strong: big, weak: small }', others), deps);
  const pairs = new Set(calls.map(({ endpoint, model, role }) => `${role} at ${endpoint} by ${model}`));
  expect([...pairs].toSorted()).toEqual([
    'solver at main by m1',
    'supervisor at strong by big',
    'worker at weak by small',
  ]);
  expect(queries).toHaveLength(3);
  expect(new Set(queries.map(({ model }) => model))).toEqual(new Set(['m1']));
  expect(Object.entries(cell.provenance?.bound ?? {}).map(([name, { model }]) => [name, model])).toEqual([
    ['weak', 'small'],
    ['strong', 'big'],
  ]);
});

test('every role has a ledger of its own at every endpoint, and they sum to that of the queries', async () => {
  const deps = withCascade(virtualWorld({ items: 3 }).deps);
  const { cell } = await ran(matrix('{ strong: big, weak: small }', others), deps);
  expect(cell.role_ledgers?.map(({ energy_j, ...rest }) => ({ ...rest, j: energy_j?.toFixed(9) }))).toEqual([
    {
      role: 'solver',
      endpoint: 'main',
      model: 'm1',
      calls: 3,
      prompt_tokens: 9,
      completion_tokens: 6,
      j: '0.300000000',
    },
    {
      role: 'worker',
      endpoint: 'weak',
      model: 'small',
      calls: 6,
      prompt_tokens: 18,
      completion_tokens: 12,
      j: '0.300000000',
    },
    {
      role: 'supervisor',
      endpoint: 'strong',
      model: 'big',
      calls: 3,
      prompt_tokens: 9,
      completion_tokens: 6,
      j: '0.300000000',
    },
  ]);
  const sum = cell.role_ledgers!.reduce((joules, { energy_j }) => joules + (energy_j ?? 0), 0);
  expect(sum).toBeCloseTo(cell.ledgers[0]!.queries_j!, 9);
});

test('a strategy of one role at one endpoint needs no such ledger', async () => {
  const { deps } = virtualWorld({ items: 2 });
  const text = 'name: t\nprotocol: quick\naxes: { model: [m1], dataset: [d1], strategy: [double] }';
  expect((await ran(text, deps)).cell.role_ledgers).toBeUndefined();
});

test('names that stand for one model share its client; other names open one each', async () => {
  const opened: string[] = [];
  const base = withCascade(fakeWorld({ items: 1 }));
  const deps: HarnessDeps = {
    ...base,
    async prepareModel(entry, endpoint) {
      const model = await base.prepareModel(entry, endpoint);
      const client: typeof model.client = (place) => {
        opened.push(entry.id);
        return model.client(place);
      };
      return { ...model, client };
    },
  };
  await ran(matrix('{ strong: big, weak: main }', others), deps);
  expect(opened.toSorted()).toEqual(['big', 'm1']);
});

test('cells with the same models keep them, whatever their names; a model on another device is one of its own', async () => {
  const deps = withCascade(fakeWorld());
  const text = `
name: t
axes:
  model: [m1, m2]
  accelerator: [a, b]
  dataset: [d1]
  strategy:
    - { id: one, kind: cascade, bind: { strong: m1, weak: m2 } }
    - { id: two, kind: cascade, bind: { strong: m1, weak: { model: m2, accelerator: a } } }
include: [{ model: m1, accelerator: b }]
`;
  const { cells } = await planMatrix(parseMatrix(text, 'm.yaml'), deps);
  const keys = new Map(cells.map((cell) => [cell.point.strategy, cell.load_key]));
  expect(keys.get('one')).toBe('m1 on b × 1 + m2 on b × 1');
  expect(keys.get('two')).toBe('m1 on b × 1 + m2 on a × 1');
  expect(new Set(cells.map(({ id }) => id)).size).toBe(2);
});

// biome-ignore format: a table is read in columns
test.each<[bind: string, more: string, problem: string, why: string]>([
  ['{ strong: big }',                           others, 'strategy "cascade" needs a model for weak',                         'one is missing'],
  ['{ strong: big, weak: small, strnog: big }', others, 'strategy "cascade" has no endpoint "strnog"; did you mean "strong"?', 'one too many'],
  ['{ strong: bigg, weak: small }',             others, 'axes.strategy[0].bind.strong names "bigg"; did you mean "big"?',    'a model that is none'],
  ['{ strong: big, weak: small, main: big }',   others, 'axes.strategy[0].bind.main is not for `bind`',                      'main'],
  ['{ strong: { model: big, accelerator: x }, weak: small }', others, 'names "x", which is not on the axis (host-cpu)',      'a device that is none'],
  ['{ strong: { modl: big }, weak: small }',    others, 'unknown key axes.strategy[0].bind.strong.modl; did you mean "model"?', 'a wrong key'],
  ['{ strong: m1, weak: m1 }',                  'models: [m1]\n', 'models holds "m1", which another model is called',        'a name twice'],
  ['{ strong: m1, weak: m1 }',                  'models: [{ id: b, endpoint: e }]\n', 'models[0].endpoint names "e"',        'a server that is none'],
])('bind %s is refused: %s', async (bind, more, problem) => {
  const planned = async () => planMatrix(parseMatrix(matrix(bind, more), 'm.yaml'), withCascade(fakeWorld()));
  await expect(planned()).rejects.toThrowError(PerwattError);
  await expect(planned()).rejects.toThrowError(expect.objectContaining({ message: expect.stringContaining(problem) }));
});

test('a strategy without other endpoints takes no `bind`', async () => {
  const text = matrix('{ strong: m1 }').replace('id: cascade', 'id: single');
  await expect(planMatrix(parseMatrix(text, 'm.yaml'), fakeWorld())).rejects.toThrowError(
    'strategy "single" has no endpoint "strong" but main',
  );
});

test('a bound model that cannot be had leaves its cells out, with the reason', async () => {
  const deps = withCascade(fakeWorld({ unavailable: ['big'] }));
  const text = matrix('{ strong: big, weak: small }', others).replace(
    '[{ id: cascade',
    '[single, { id: cascade',
  );
  const { cells, left_out } = await planMatrix(parseMatrix(text, 'm.yaml'), deps);
  expect(cells.map(({ point }) => point.strategy)).toEqual(['single']);
  expect(left_out).toEqual([{ what: 'model big', reason: 'model big is nowhere to be had' }]);
});

/** A world with a device for each accelerator, metered apart, and clients that run on theirs. */
function devices(watts: Readonly<Record<string, number>>): HarnessDeps {
  const { deps, time } = virtualWorld({ items: 2 });
  const domains: Domain[] = Object.keys(watts).map((host) =>
    testDomain({ id: `sim:${host}`, source: 'sim', host, update_period_ns: 1_000_000 }),
  );
  return withCascade({
    ...deps,
    powerSources: () => [
      steadyPowerSource({
        name: 'sim',
        domains,
        clock: time.clock,
        period_ns: 1_000_000,
        watts: (index) => Object.values(watts)[index] ?? 0,
      }),
    ],
    async prepareModel(entry, endpoint) {
      const model = await deps.prepareModel(entry, endpoint);
      const client: typeof model.client = (place) => {
        const made = model.client(place);
        const open = async () => ({
          ...(await made.open()),
          kind: 'simulated' as const,
          endpoint: place.accelerator.id,
        });
        return { ...made, open };
      };
      return { ...model, client };
    },
  });
}

const placed = `
name: t
protocol: quick
axes:
  model: [m1]
  accelerator: [desk, rack]
  dataset: [d1]
  strategy: [{ id: cascade, bind: { weak: main, strong: { model: big, accelerator: rack } } }]
include: [{ accelerator: desk }]
models: [big]
`;

test('a query over two devices takes the energy of both, idle included; a role has that of its own device', async () => {
  const { cell, queries } = await ran(placed, devices({ desk: 10, rack: 100, other: 1000 }));
  expect(cell.ledgers.map(({ domain }) => domain)).toEqual(['sim:desk', 'sim:rack']);
  for (const { energy_gross_j } of queries) expect(energy_gross_j).toBeCloseTo(0.03 * 110, 9);
  const joules = new Map(cell.role_ledgers?.map(({ role, energy_j }) => [role, energy_j]));
  expect(joules.get('solver')).toBeCloseTo(2 * 0.01 * 10, 9);
  expect(joules.get('worker')).toBeCloseTo(2 * 0.01 * 10, 9);
  expect(joules.get('supervisor')).toBeCloseTo(2 * 0.01 * 100, 9);
});

test('one endpoint that nothing meters leaves the energy of the whole unknown', async () => {
  const { cell, queries } = await ran(placed, devices({ desk: 10 }));
  expect(cell.ledgers).toEqual([]);
  expect(queries.map(({ energy_gross_j }) => energy_gross_j)).toEqual([null, null]);
  expect(cell.role_ledgers?.map(({ energy_j }) => energy_j)).toEqual([null, null, null]);
});
