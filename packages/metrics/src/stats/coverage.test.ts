import { createRng } from '@perwatt/core';
import { describe, expect, test } from 'vitest';
import { bootstrapMean, bootstrapRatio } from '../bootstrap.js';
import { type ProductName, powersOf } from '../energy-figures.js';
import { clusteredMean, quantileInterval, studentT, wilson } from '../statistics.js';
import { createClusterSums } from './cluster-sums.js';
import { crossedEstimate } from './crossed-estimate.js';
import { hierarchicalBootstrap } from './hierarchical-bootstrap.js';
import { pairedRatio } from './paired.js';
import { runSpread } from './run-spread.js';
import { coverage, drawRun, FULL, normals, trueAccuracy, type World, world } from './synthetic.fixture.js';

/** Replicates of a cheap method, always, and of a dear one. PERWATT_FULL=1 runs them all at full size. */
const CHEAP = 2_000;
const DEAR = FULL ? 2_000 : 200;

/** 93 to 97 %, widened by two standard errors of the simulation where it is a small one. */
function expectNominal(share: number, replicates: number): void {
  const slack = replicates >= CHEAP ? 0 : 2 * Math.sqrt((0.95 * 0.05) / replicates);
  expect(share).toBeGreaterThanOrEqual(0.93 - slack);
  expect(share).toBeLessThanOrEqual(0.97 + slack);
}

const truths = (w: World): Partial<Record<ProductName, number>> => {
  const accuracy = trueAccuracy(w);
  return {
    power_w: w.joules / w.seconds,
    energy_per_query_j: w.joules,
    ipw_per_w: (accuracy * w.seconds) / w.joules,
    ipj_per_j: accuracy / w.joules,
    energy_per_output_token_j: w.joules / 100,
    tokens_per_s: 100 / w.seconds,
  };
};

// biome-ignore format: a table is read in columns
test.each([10, 30, 100])('Wilson over %d items holds an accuracy between 0.2 and 0.95', (items) => {
  const share = coverage(CHEAP, (seed) => {
    const random = createRng(seed);
    const truth = 0.2 + 0.75 * random();
    const right = Array.from({ length: items }, () => random() < truth).filter(Boolean).length;
    return { ...wilson(right, items)!, truth };
  });
  expectNominal(share, CHEAP);
});

describe('accuracy of items asked three times', () => {
  const w = { ...world, run_cv: 0 };
  const byItem = (items: number, seed: number): number[][] => {
    const groups = new Map<string, number[]>();
    for (const { item, totals } of drawRun({ ...w, items }, seed))
      groups.set(item, [...(groups.get(item) ?? []), totals[0]!]);
    return [...groups.values()];
  };
  test.each([20, 100])('clustered, by Student over %d items', (items) => {
    const truth = trueAccuracy(w);
    expectNominal(
      coverage(DEAR, (seed) => ({ ...clusteredMean(byItem(items, seed))!, truth })),
      DEAR,
    );
  });
  test.each([30, 100])('clustered, by bootstrap (BCa) over %d items', (items) => {
    const truth = trueAccuracy(w);
    const trial = (seed: number) => ({
      ...bootstrapMean(byItem(items, seed), { seed, draws: 1_000 })!,
      truth,
    });
    expectNominal(coverage(DEAR, trial), DEAR);
  });
});

describe('figures over items and repeats', () => {
  // biome-ignore format: a table is read in columns
  const worlds: [name: string, changes: Partial<World>][] = [
    ['three repeats, few items',          { items: 20 }],
    ['three repeats, many items',         { items: 300 }],
    ['three repeats, wide apart',         { items: 100, run_cv: 0.15 }],
    ['five repeats',                      { items: 100, repeats: 5 }],
    ['ten repeats, unlike items',         { items: 50, repeats: 10, item_cv: 0.8 }],
  ];
  test.each(FULL ? worlds : worlds.filter(([, { items = 0 }]) => items <= 100))('%s', (_, changes) => {
    const w = { ...world, ...changes };
    const runs = Array.from({ length: DEAR }, (_run, seed) => drawRun(w, seed + 1));
    for (const [name, truth] of Object.entries(truths(w))) {
      const powers = powersOf(name as ProductName);
      const share = coverage(DEAR, (seed) => {
        const estimate = crossedEstimate(runs[seed - 1]!, powers);
        return estimate && { ...estimate, truth };
      });
      expectNominal(share, DEAR);
    }
  });

  test('a net figure, on the plain scale', () => {
    const truth = world.joules - 10 * world.seconds;
    const powers = powersOf('energy_per_query_j', 'net');
    const trial = (seed: number) => ({ ...crossedEstimate(drawRun(world, seed), powers, 'linear')!, truth });
    expectNominal(coverage(DEAR, trial), DEAR);
  });

  // biome-ignore format: a table is read in columns
  test.each<[ProductName, repeats: number, truth: (w: World, other: World) => number]>([
    ['energy_per_query_j', 3, () => 0.75],
    ['ipj_per_j',          5, (w, other) => (trueAccuracy(other) / trueAccuracy(w)) / 0.75],
  ])('the ratio of two systems on the same items: %s over %d repeats', (name, repeats, truthOf) => {
    const w = { ...world, repeats };
    const other = { ...w, joules: 0.75 * w.joules, skill: 0.6 };
    const truth = truthOf(w, other);
    const share = coverage(DEAR, (seed) => {
      const paired = pairedRatio(drawRun(w, seed), drawRun(other, seed + 1e6, seed), powersOf(name));
      return 'reason' in paired ? null : { ...paired, truth };
    });
    expectNominal(share, DEAR);
  });

  test('too wide rather than too short where three repeats hardly differ', () => {
    const w = { ...world, items: 100, run_cv: 0.005 };
    const share = coverage(DEAR, (seed) => {
      const estimate = crossedEstimate(drawRun(w, seed), powersOf('power_w'));
      return estimate && { ...estimate, truth: w.joules / w.seconds };
    });
    expect(share).toBeGreaterThanOrEqual(FULL ? 0.95 : 0.92);
  });
});

describe('ratios over items of one repeat', () => {
  const w = { ...world, repeats: 1, run_cv: 0 };
  const truth = trueAccuracy(w) / w.joules;
  const clusters = (seed: number) =>
    drawRun(w, seed).map(({ totals }) => ({ numerator: totals[0]!, denominator: totals[4]! }));

  test('BCa over 100 items', () => {
    const trial = (seed: number) => ({ ...bootstrapRatio(clusters(seed), { seed, draws: 1_000 })!, truth });
    expectNominal(coverage(DEAR, trial), DEAR);
  });

  test('one-pass sums over 2,000 items', () => {
    const share = coverage(DEAR, (seed) => {
      const sums = createClusterSums(8);
      for (const { totals } of drawRun({ ...w, items: 2_000 }, seed)) sums.add(totals);
      return { ...sums.estimate(powersOf('ipj_per_j'))!, truth };
    });
    expectNominal(share, DEAR);
  });
});

test('the hierarchical bootstrap, from twenty repeats on', () => {
  const w = { ...world, items: 40, repeats: 20 };
  const truth = trueAccuracy(w) / w.joules;
  const replicates = FULL ? 2_000 : 150;
  const share = coverage(replicates, (seed) => {
    const interval = hierarchicalBootstrap(drawRun(w, seed), powersOf('ipj_per_j'), { seed, draws: 400 });
    return interval && { ...interval, truth };
  });
  expectNominal(share, replicates);
});

describe('figures of repeats alone', () => {
  const values = (seed: number, repeats: number) => {
    const normal = normals(createRng(seed));
    return Array.from({ length: repeats }, () => 100 + 5 * normal());
  };
  test.each([3, 5])('mean power over %d repeats', (repeats) => {
    const trial = (seed: number) => ({ ...studentT(values(seed, repeats))!, truth: 100 });
    expectNominal(coverage(CHEAP, trial), CHEAP);
  });
  test.each([3, 5, 20])('their own spread, from %d repeats', (repeats) => {
    const share = coverage(CHEAP, (seed) => {
      const { lo, hi } = runSpread(values(seed, repeats));
      return lo === null || hi === null ? null : { lo, hi, truth: 5 };
    });
    expectNominal(share, CHEAP);
  });
  test('a median of 101 latencies', () => {
    const share = coverage(CHEAP, (seed) => {
      const { lo, hi } = quantileInterval(values(seed, 101), 0.5)!;
      return lo === null || hi === null ? null : { lo, hi, truth: 100 };
    });
    expectNominal(share, CHEAP);
  });
});
