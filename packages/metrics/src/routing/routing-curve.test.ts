import { expect, test } from 'vitest';
import { type CurvePoint, curveMetrics, routingCurve, savingWithin, thresholdFor } from './routing-curve.js';

const curve = (points: readonly (readonly [number, number])[]): CurvePoint[] =>
  points.map(([strong_share, quality]) => ({ strong_share, quality, saving: null }));

test('AUC, APGR and CPT of a known curve', () => {
  const found = curveMetrics(
    curve([
      [0, 0.5],
      [0.2, 0.62],
      [0.5, 0.74],
      [0.8, 0.79],
      [1, 0.8],
    ]),
  );
  expect(found.auc).toBeCloseTo(0.7045, 12);
  expect(found.apgr).toBeCloseTo(0.681667, 6);
  expect(found.cpt50).toBeCloseTo(0.275, 12);
  expect(found.cpt80).toBeCloseTo(0.5, 12);
});

// biome-ignore format: a table is read in columns
test.each<[why: string, points: [number, number][], apgr: number | null, cpt50: number | null]>([
  ['no points',                       [],                               null, null],
  ['one point',                       [[0, 0.5]],                       null, null],
  ['not up to 1',                     [[0, 0.5], [0.5, 1]],             null, null],
  ['shares that fall',                [[0, 0], [0.9, 1], [0.5, 1], [1, 1]], null, null],
  ['no gap',                          [[0, 0.5], [0.5, 0.7], [1, 0.5]], null, null],
  ['random',                          [[0, 0.25], [1, 0.75]],             0.5,  0.5],
  ['a curve that passes the strong model', [[0, 0], [0.5, 2], [1, 1]],  1.25, 0.125],
  ['a strong model that is weaker',   [[0, 1], [1, 0]],                 0.5,  null],
  ['quality that is no number',       [[0, 0], [0.5, Number.NaN], [1, 1]], null, null],
])('%s', (_why, points, apgr, cpt50) => {
  const found = curveMetrics(curve(points));
  expect([found.apgr, found.cpt50]).toEqual([apgr, cpt50]);
});

const item = (score: number, weak_score: number, strong_score: number) => ({
  score,
  weak_score,
  strong_score,
  weak_spent: 20,
  strong_spent: 120,
});

test('a ranking sends the highest scores to the strong model first', () => {
  const points = routingCurve([item(0.1, 1, 1), item(0.9, 0, 1)]);
  expect(points.map(({ strong_share, quality }) => [strong_share, quality])).toEqual([
    [0, 0.5],
    [0.5, 1],
    [1, 1],
  ]);
  expect(points[1]?.saving).toBeCloseTo(1 - 140 / 240, 12);
});

test('a router that tells nothing apart is a straight line', () => {
  const points = routingCurve([item(1, 1, 1), item(1, 0, 1), item(1, 0, 1)]);
  expect(points).toHaveLength(2);
  expect(curveMetrics(points).apgr).toBeCloseTo(0.5, 12);
});

test('no curve without items or with a score that is no number; no saving where nothing was metered', () => {
  expect(routingCurve([])).toEqual([]);
  expect(routingCurve([item(Number.NaN, 0, 1)])).toEqual([]);
  expect(routingCurve([{ score: 1, weak_score: 0, strong_score: 1 }])[0]?.saving).toBeNull();
});

test('the largest saving within a loss of quality', () => {
  const points = routingCurve([item(0.9, 0, 1), item(0.5, 0, 1), item(0.1, 1, 1), item(0, 1, 1)]);
  expect(savingWithin(points, 0)).toMatchObject({ strong_share: 0.5, quality: 1 });
  expect(savingWithin(points, 0.25)).toMatchObject({ strong_share: 0.25, quality: 0.75 });
  expect(savingWithin([], 0)).toBeNull();
});

// biome-ignore format: a table is read in columns
test.each<[scores: number[], share: number, threshold: number | null, why: string]>([
  [[0.1, 0.2, 0.3, 0.4],    0.25, 0.4,  'the highest quarter'],
  [[0.4, 0.1, 0.3, 0.2],    0.5,  0.3,  'in any order'],
  [[0.1, 0.2],              1,    0.1,  'all'],
  [[0.5, 0.5, 0.5],         0.3,  0.5,  'ties go together'],
  [[0.5],                   0.01, 0.5,  'at least one'],
  [[],                      0.5,  null, 'no scores'],
  [[0.5],                   0,    null, 'no share'],
  [[Number.NaN],            0.5,  null, 'no number'],
])('threshold of %j for %d is %j: %s', (scores, share, threshold) => {
  expect(thresholdFor(scores, share)).toBe(threshold);
});
