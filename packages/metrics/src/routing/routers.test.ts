import { fc, test as propTest } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import { accurateRouting, oracleRouting, randomRouting, singleRouting, thresholdRouting } from './routers.js';
import { simulatedOptions as options, simulateRouting } from './routing.fixture.js';
import { type RouteOptions, type RoutingItem, resources } from './routing-items.js';

type Row = [local: number | null, cloud: number | null, localJ: number | null, cloudJ: number | null];

const items = (rows: readonly Row[]): RoutingItem[] =>
  rows.map(([local, cloud, localJ, cloudJ], i) => ({
    item_id: `i${i}`,
    outcomes: {
      local: { score: local, energy_j: localJ, flop: null, cost_usd: 0 },
      cloud: { score: cloud, energy_j: cloudJ, flop: null, cost_usd: 1 },
    },
  }));

const draws = { draws: 200 };

// biome-ignore format: a table is read in columns
test.each<[why: string, rows: Row[], saving: number | null, accuracy: number | null, leftOut: number]>([
  ['nothing',                               [],                                          null,  null, 0],
  ['the cheap one is right',                [[1, 1, 20, 120]],                           5 / 6, 1,    0],
  ['only the strong one is right',          [[0, 1, 20, 120]],                           0,     1,    0],
  ['none is right: the strong one is paid', [[0, 0, 20, 120]],                           0,     0,    0],
  ['only the cheap one is right',           [[1, 0, 20, 120]],                           5 / 6, 1,    0],
  ['the strong one is cheaper',             [[1, 1, 200, 120]],                          0,     1,    0],
  ['half right is not right',               [[0.5, 1, 20, 120]],                         0,     1,    0],
  ['not metered',                           [[1, 1, null, 120], [1, 1, 20, 120]],        5 / 6, 1,    1],
  ['not scored',                            [[null, 1, 20, 120]],                        null,  null, 1],
  ['a negative energy is none',             [[1, 1, -20, 120]],                          null,  null, 1],
  ['all is free',                           [[1, 1, 0, 0]],                              null,  1,    0],
])('oracle: %s', (_why, rows, saving, accuracy, leftOut) => {
  const found = oracleRouting({ chosen: items(rows), ...draws }, options);
  expect([found.saving, found.accuracy, found.left_out, found.in_sample]).toEqual([saving, accuracy, leftOut, true]);
});

const world = simulateRouting(4000, { seed: 1, noise: 0 });
const [chosen, scored] = world.repeats;

test('an 80 % router saves 0.8 × the oracle just when every misroute goes to the strong model', () => {
  const oracle = oracleRouting({ chosen, ...draws }, options);
  const router = (misroute: 'to_strong' | 'to_others' | 'to_cheapest') =>
    accurateRouting({ chosen, ...draws }, options, { accuracy: 0.8, misroute });
  const strong = router('to_strong');
  expect(strong.saving).toBeCloseTo(0.8 * (oracle.saving ?? 0), 12);
  expect(strong.accuracy_lost).toBeCloseTo(0.8 * (oracle.accuracy_lost ?? 0), 12);
  for (const other of [router('to_others'), router('to_cheapest')]) {
    expect(Math.abs((other.saving ?? 0) - 0.8 * (oracle.saving ?? 0))).toBeGreaterThan(0.05);
    expect(other.accuracy_lost).toBeGreaterThan(0.05);
  }
  expect(strong.router).toBe('80 % router, misroutes to strong');
});

test('with errors either way the saving hardly changes, and the accuracy pays', () => {
  const oracle = oracleRouting({ chosen, ...draws }, options);
  const router = accurateRouting({ chosen, ...draws }, options, { accuracy: 0.8, misroute: 'to_others' });
  expect(oracle.saving).toBeCloseTo(0.465, 1);
  expect((oracle.saving ?? 0) - (router.saving ?? 0)).toBeLessThan(0.03);
  expect(oracle.accuracy).toBeCloseTo(0.99, 2);
  expect(Math.abs((router.accuracy ?? 0) - 0.902)).toBeLessThan(0.01);
});

// With a strong model that is always right, savings of 80.4, 77.3 and 73.8 % by energy, compute and cost.
test('the published savings of an 80 % router are the linear model of the published oracle', () => {
  const all: RouteOptions = { ...options, resource: 'energy_j' };
  const linear = { energy_j: 64.32, flop: 61.84, cost_usd: 59.04 };
  const rows: RoutingItem[] = [
    {
      item_id: 'mean',
      outcomes: {
        local: { score: 1, energy_j: 1 - 0.804, flop: 1 - 0.773, cost_usd: 1 - 0.738 },
        cloud: { score: 1, energy_j: 1, flop: 1, cost_usd: 1 },
      },
    },
  ];
  for (const resource of resources) {
    const router = { accuracy: 0.8, misroute: 'to_strong' } as const;
    const found = accurateRouting({ chosen: rows }, { ...all, resource }, router);
    expect(100 * (found.saving ?? 0)).toBeCloseTo(linear[resource], 10);
  }
});

test('an oracle scored on another repeat promises less', () => {
  const flattered = oracleRouting({ chosen, ...draws }, options);
  const honest = oracleRouting({ chosen, scored, ...draws }, options);
  expect(flattered.accuracy_lost).toBeLessThanOrEqual(0);
  expect(honest.accuracy_lost).toBeGreaterThan(0.02);
  expect(honest.saving).toBeCloseTo(flattered.saving ?? 0, 12);
  expect([flattered.in_sample, honest.in_sample]).toEqual([true, false]);
});

test('items without a route are left out and counted', () => {
  const found = oracleRouting(
    {
      chosen: items([[1, 1, 1, 2]]),
      scored: items([
        [1, 1, 1, 2],
        [1, 1, 1, 2],
      ]),
    },
    options,
  );
  expect([found.items, found.left_out]).toEqual([1, 1]);
});

test('among more models the oracle takes the cheapest that is right, and errors spread over the others', () => {
  const three: RouteOptions = { models: ['a', 'b', 'c'], strong: 'c', resource: 'energy_j' };
  const outcome = (score: number, energy_j: number) => ({ score, energy_j, flop: null, cost_usd: null });
  const data = {
    chosen: [{ item_id: 'x', outcomes: { a: outcome(0, 1), b: outcome(1, 5), c: outcome(1, 10) } }],
  };
  expect(oracleRouting(data, three)).toMatchObject({ saving: 0.5, accuracy: 1, strong_share: 0 });
  const found = accurateRouting(data, three, { accuracy: 0.5, misroute: 'to_others' });
  expect(found.saving).toBeCloseTo(1 - (0.5 * 5 + 0.25 * 1 + 0.25 * 10) / 10, 12);
  expect(found.accuracy).toBeCloseTo(0.75, 12);
});

describe('a table of routers', () => {
  test('random shares interpolate between all weak and all strong', () => {
    const data = { chosen, ...draws };
    const weak = singleRouting(data, options, 'local');
    const half = randomRouting(data, options, { weak: 'local', strong_share: 0.5 });
    expect(singleRouting(data, options, 'cloud')).toMatchObject({
      saving: 0,
      accuracy_lost: 0,
      strong_share: 1,
    });
    expect(half.saving).toBeCloseTo((weak.saving ?? 0) / 2, 12);
    expect(half.accuracy_lost).toBeCloseTo((weak.accuracy_lost ?? 0) / 2, 12);
  });

  test('a threshold sends scores that reach it to the strong model', () => {
    const scores = new Map([
      ['i0', 0.5],
      ['i1', 0.4],
      ['i2', Number.NaN],
    ]);
    const data = {
      chosen: items([
        [1, 1, 1, 2],
        [1, 1, 1, 2],
        [1, 1, 1, 2],
        [1, 1, 1, 2],
      ]),
    };
    const found = thresholdRouting(data, options, { name: 'length', weak: 'local', scores, threshold: 0.5 });
    expect(found).toMatchObject({ router: 'length', items: 2, left_out: 2, strong_share: 0.5, saving: 0.25 });
  });

  test('intervals hold their figures and come again with the same seed', () => {
    const data = { chosen: chosen.slice(0, 300), scored: scored.slice(0, 300), seed: 7, draws: 500 };
    const found = oracleRouting(data, options);
    expect(found.saving_lo).toBeLessThan(found.saving ?? 0);
    expect(found.saving_hi).toBeGreaterThan(found.saving ?? 1);
    expect(found.accuracy_lo).toBeLessThan(found.accuracy ?? 0);
    expect(oracleRouting(data, options)).toEqual(found);
  });
});

const row = fc.tuple(
  fc.constantFrom(0, 1),
  fc.constantFrom(0, 1),
  fc.integer({ min: 1, max: 99 }),
  fc.integer({ min: 1, max: 99 }),
);

propTest.prop([fc.array(row, { minLength: 1, maxLength: 20 }), fc.double({ min: 0, max: 1, noNaN: true })], {
  numRuns: 50,
})(
  'the oracle loses no answer; misrouting to the strong model scales its saving; twice the items change nothing',
  (rows, accuracy) => {
    const data = { chosen: items(rows as Row[]), draws: 10 };
    const oracle = oracleRouting(data, options);
    expect(oracle.accuracy_lost).toBeLessThanOrEqual(1e-12);
    const router = accurateRouting(data, options, { accuracy, misroute: 'to_strong' });
    expect(router.saving).toBeCloseTo(accuracy * (oracle.saving ?? Number.NaN), 9);
    const twice = accurateRouting({ chosen: items([...rows, ...rows] as Row[]), draws: 10 }, options, {
      accuracy,
      misroute: 'to_strong',
    });
    expect(twice.saving).toBeCloseTo(router.saving ?? Number.NaN, 9);
  },
);
