import { createRng } from '@perwatt/core';
import { describe, expect, test } from 'vitest';
import { bootstrapRatio } from '../bootstrap.js';
import { powersOf } from '../energy-figures.js';
import { clusteredMean } from '../statistics.js';
import { type ClusterSums, createClusterSums } from './cluster-sums.js';
import { crossedEstimate } from './crossed-estimate.js';
import { drawRun, world } from './synthetic.fixture.js';

const rows = drawRun({ ...world, items: 2_500, repeats: 1 }, 11);
const sumsOf = (from: number, to: number): ClusterSums => {
  const sums = createClusterSums(8);
  for (const { totals } of rows.slice(from, to)) sums.add(totals);
  return sums;
};
const whole = sumsOf(0, rows.length);
const ipj = powersOf('ipj_per_j');

test('is the delta method of all clusters at once', () => {
  const { value, lo, hi, variance } = crossedEstimate(rows, ipj)!;
  const streamed = whole.estimate(ipj)!;
  expect(streamed.clusters).toBe(2_500);
  expect(streamed.value).toBeCloseTo(value, 14);
  expect(streamed.relative_se).toBeCloseTo(Math.sqrt(variance.variance), 12);
  expect(streamed.lo).toBeCloseTo(lo, 12);
  expect(streamed.hi).toBeCloseTo(hi, 12);
});

test('has the same bytes for any partition, merged in any order', () => {
  const expected = JSON.stringify([whole.totals(), whole.estimate(ipj), whole.estimate(powersOf('power_w'))]);
  const random = createRng(3);
  for (let trial = 0; trial < 10; trial++) {
    const cuts = [0, ...Array.from({ length: 6 }, () => Math.floor(random() * rows.length)), rows.length];
    cuts.sort((a, b) => a - b);
    const parts = cuts.slice(1).map((to, i) => sumsOf(cuts[i]!, to));
    parts.sort(() => random() - 0.5);
    const merged = createClusterSums(8);
    for (const part of parts) merged.merge(part);
    expect(
      JSON.stringify([merged.totals(), merged.estimate(ipj), merged.estimate(powersOf('power_w'))]),
    ).toBe(expected);
  }
});

test('is close to the bootstrap at that many clusters', () => {
  const { lo, hi } = whole.estimate([1, 0, 0, 0, -1, 0, 0, 0])!;
  const drawn = bootstrapRatio(
    rows.map(({ totals }) => ({ numerator: totals[0]!, denominator: totals[4]! })),
    { seed: 5, draws: 1_000 },
  )!;
  expect(Math.abs(drawn.lo / lo - 1)).toBeLessThan(0.01);
  expect(Math.abs(drawn.hi / hi - 1)).toBeLessThan(0.01);
});

test('a mean over clusters of unlike size has the clustered standard error', () => {
  const clusters = [
    [1, 1, 1, 0],
    [0, 0],
    [1, 1, 1, 1, 1],
    [0, 1],
  ];
  const sums = createClusterSums(2);
  for (const scores of clusters) sums.add([scores.reduce((a, b) => a + b, 0), scores.length]);
  const { value, relative_se, lo, hi } = sums.estimate([1, -1], 'linear')!;
  const mean = clusteredMean(clusters)!;
  expect([value, relative_se * value, lo, hi]).toEqual(
    [mean.value, mean.se, mean.lo, mean.hi].map((x) => expect.closeTo(x, 12)),
  );
});

describe('refuses', () => {
  // biome-ignore format: a table is read in columns
  test.each<[why: string, clusters: number[][]]>([
    ['none',                  []],
    ['one cluster',           [[1, 2]]],
    ['nothing to divide by',  [[1, 0], [2, 0]]],
    ['a figure that is 0',    [[0, 1], [0, 2]]],
    ['not a number',          [[1, 1], [Number.NaN, 1]]],
    ['a missing total',       [[1, 1], [1]]],
  ])('%s', (_, clusters) => {
    const sums = createClusterSums(2);
    for (const cluster of clusters) sums.add(cluster);
    expect(sums.estimate([1, -1])).toBeNull();
  });

  test('nothing of two clusters that are the same: no spread, no width', () => {
    const sums = createClusterSums(2);
    sums.add([1, 2]);
    sums.add([1, 2]);
    expect(sums.estimate([1, -1])).toMatchObject({ value: 0.5, lo: 0.5, hi: 0.5, relative_se: 0 });
  });
});
