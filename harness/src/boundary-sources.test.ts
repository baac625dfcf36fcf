import { readdirSync } from 'node:fs';
import { type MatrixFile, PerwattError, type Provenance } from '@perwatt/core';
import { steadyPowerSource, testDomain } from '@perwatt/test-kit';
import { expect, test } from 'vitest';
import { boundarySources } from './boundary-sources.js';
import type { HarnessDeps } from './deps.js';
import { runPlan } from './run-matrix.js';
import { fakeWorld, quickPlan, temporaryFolder } from './world.fixture.js';

const kinds: Readonly<Record<string, Provenance>> = {
  rapl: 'counter',
  nvml: 'integrated',
  plug: 'external',
  clamp: 'external',
  guess: 'estimated',
  tape: 'replayed',
  sim: 'simulated',
  'far-rapl': 'counter',
};
const sourcesOf = (names: string) =>
  names
    .split(' ')
    .filter(Boolean)
    .map((name) => ({ name, provenance: kinds[name]! }));
const power = (boundary?: string[]): MatrixFile['power'] => ({
  ...(boundary && { boundary }),
  agents: [{ id: 'far', url: 'http://far', token_env: 'T' }],
});

// biome-ignore format: a table is read in columns
test.each([
  ['rapl',            undefined,           null,                    'one source'],
  ['',                undefined,           null,                    'none at all'],
  ['rapl nvml',       undefined,           null,                    'sensors of this host'],
  ['plug clamp',      undefined,           null,                    'meters alone'],
  ['guess',           undefined,           null,                    'an estimate alone'],
  ['rapl plug',       ['plug'],            ['plug'],                'the meter is the boundary'],
  ['rapl plug',       ['rapl'],            ['rapl'],                'the sensor is'],
  ['rapl nvml plug',  ['rapl', 'nvml'],    ['rapl', 'nvml'],        'several of a kind'],
  ['tape',            undefined,           null,                    'a recording alone'],
  ['rapl tape',       ['tape'],            ['tape'],                'the recording is the boundary'],
  ['sim',             undefined,           null,                    'a simulated fleet alone'],
  ['guess plug',      ['plug'],            ['plug'],                'the estimate stands beside'],
  ['far-rapl plug',   ['far'],             ['far-rapl'],            'an agent by its id'],
])('of %j with boundary %j these count: %j: %s', (...[names, boundary, counted]) => {
  const found = boundarySources(sourcesOf(names), power(boundary));
  expect(found === null ? null : [...found]).toEqual(counted);
});

// biome-ignore format: a table is read in columns
test.each([
  ['rapl guess',      undefined,           /cannot mix measured and estimated energy: rapl \(counter\), guess \(estimated\)/, 'the estimator beside a counter'],
  ['plug guess',      undefined,           /cannot mix measured and estimated/,  'the estimator beside a meter'],
  ['rapl plug guess', ['rapl', 'guess'],   /cannot mix measured and estimated/,  'both in the boundary'],
  ['rapl plug',       undefined,           /rapl \(counter\), plug \(external\) are not summed/, 'a meter beside a counter'],
  ['rapl plug',       ['rapl', 'plug'],    /are not summed/,                     'both in the boundary'],
  ['rapl tape',       undefined,           /rapl \(counter\), tape \(replayed\) are not summed/, 'a recording beside a counter'],
  ['tape guess',      undefined,           /cannot mix measured and estimated/,  'a recording beside the estimator'],
  ['rapl sim',        undefined,           /simulated power never stands beside what is read: rapl \(counter\), sim \(simulated\)/, 'a simulation beside a counter'],
  ['rapl sim',        ['rapl'],            /simulated power never stands beside/, 'not even outside the boundary'],
  ['plug sim',        ['sim'],             /simulated power never stands beside/, 'nor a meter beside a simulation'],
  ['sim guess',       undefined,           /simulated power never stands beside/, 'nor an estimate'],
  ['rapl plug',       ['wall'],            /power\.boundary names "wall", which is not read/, 'a name nobody has'],
])('%j with boundary %j is refused: %s: %s', (...[names, boundary, message]) => {
  expect(() => boundarySources(sourcesOf(names), power(boundary))).toThrowError(
    expect.objectContaining({ code: 'MATRIX_INVALID', message: expect.stringMatching(message) }),
  );
});

const signal = new AbortController().signal;

/** A processor's counter of 10 W, and a source of another kind that shows 25 W. */
const beside = (deps: HarnessDeps, provenance: Provenance): HarnessDeps => ({
  ...deps,
  async powerSources(wanted) {
    const own = await deps.powerSources(wanted);
    const domain = testDomain({ id: 'plug:wall', source: 'plug', scope: 'wall', kind: 'gauge', provenance });
    const counters = own.map((source) => ({
      ...source,
      provenance: 'counter' as const,
      start: (options?: Parameters<typeof source.start>[0]) => {
        const recorder = source.start(options);
        return {
          ...recorder,
          domains: recorder.domains.map((d) => ({ ...d, provenance: 'counter' as const })),
        };
      },
    }));
    return [
      ...counters,
      steadyPowerSource({
        name: 'plug',
        domains: [domain],
        clock: deps.clock,
        period_ns: 5e6,
        watts: () => 25,
      }),
    ];
  },
});

const matrix = (more = '') => `name: t\nprotocol: quick\naxes: {model: [m1], dataset: [d1]}\n${more}`;

test.each([
  ['external' as const, 'are not summed'],
  ['estimated' as const, 'cannot mix measured and estimated'],
])(
  'a run that would mix a counter with what is %s is refused before it leaves a folder',
  async (provenance, message) => {
    const deps = beside(fakeWorld(), provenance);
    const root = temporaryFolder();
    const plan = await quickPlan(matrix(), deps);
    const refused = await runPlan(plan, deps, { root, signal }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(PerwattError);
    expect(String(refused)).toContain(message);
    expect(readdirSync(root)).toEqual([]);
  },
);

test('what the matrix names is the energy of the cells, and the rest stands beside it', async () => {
  const deps = beside(fakeWorld({ call_ms: 20 }), 'external');
  const totals = async (name: string) => {
    const plan = await quickPlan(matrix(`power: {boundary: [${name}]}`), deps);
    const { run } = await runPlan(plan, deps, { root: temporaryFolder(), signal });
    const [cell] = run.cells();
    expect(run.manifest.power.flatMap(({ domains }) => domains.filter((d) => d.in_total))).toHaveLength(1);
    return cell!.ledgers.filter(({ in_total }) => in_total).map(({ domain }) => domain);
  };
  expect(await totals('plug')).toEqual(['plug:wall']);
  expect(await totals('fake')).toEqual(['fake:0']);
});
