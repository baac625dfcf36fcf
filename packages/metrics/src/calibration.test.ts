import { fc, test as property } from '@fast-check/vitest';
import { createRng } from '@perwatt/core';
import { expect, test } from 'vitest';
import {
  type CalibrationPoint,
  calibrationPoints,
  calibrationWindows,
  fitCalibration,
  lagBetween,
} from './calibration.js';
import { every, seriesOf, span, stepped } from './series.fixture.js';

const point = (source_w: number, reference_w: number, sd = 0.1): CalibrationPoint => ({
  source_w,
  source_sd_w: sd,
  reference_w,
  reference_sd_w: sd,
});
const levels = [10, 10, 20, 20, 40, 40, 60, 60];
const fitted = (points: readonly CalibrationPoint[]) => {
  const outcome = fitCalibration(points);
  if (outcome.state !== 'fitted') throw new Error(outcome.reason);
  return outcome.fit;
};

property.prop([fc.double({ min: 0.2, max: 5, noNaN: true }), fc.double({ min: -20, max: 200, noNaN: true })])(
  'points on a line give that line',
  (scale, offset) => {
    const fit = fitted(levels.map((w) => point(w, offset + scale * w)));
    expect(fit.scale).toBeCloseTo(scale, 9);
    expect(fit.offset_w).toBeCloseTo(offset, 7);
    expect(fit.residual_sd_w).toBeLessThan(1e-9);
    expect(fit.scale_lo).toBeLessThan(scale);
  },
);

property.prop([fc.double({ min: 0.5, max: 2, noNaN: true })])(
  'neither meter is preferred: the fit the other way round is the inverse line',
  (scale) => {
    const noise = [0.4, -0.3, 0.2, -0.5, 0.1, 0.3, -0.2, 0];
    const points = levels.map((w, i) => point(w, 5 + scale * w + noise[i]!, 0.3));
    const turned = points.map((p) => ({
      source_w: p.reference_w,
      source_sd_w: p.reference_sd_w,
      reference_w: p.source_w,
      reference_sd_w: p.source_sd_w,
    }));
    expect(fitted(turned).scale).toBeCloseTo(1 / fitted(points).scale, 9);
  },
);

/** Standard normal draws by Box and Muller. */
const normals = (seed: number) => {
  const rng = createRng(seed);
  return () => Math.sqrt(-2 * Math.log(1 - rng())) * Math.cos(2 * Math.PI * rng());
};

test('the interval of 95 % holds the true scale about that often, and noise in the source does not flatten the line', () => {
  const draw = normals(7);
  let held = 0;
  let sum = 0;
  const trials = 400;
  for (let trial = 0; trial < trials; trial++) {
    const points = levels.map((w) => ({
      source_w: w + 3 * draw(),
      source_sd_w: 3,
      reference_w: 15 + 1.2 * w + draw(),
      reference_sd_w: 1,
    }));
    const fit = fitted(points);
    sum += fit.scale;
    if (fit.scale_lo <= 1.2 && 1.2 <= fit.scale_hi) held += 1;
  }
  expect(held / trials).toBeGreaterThan(0.93);
  expect(sum / trials).toBeCloseTo(1.2, 1);
  expect(Math.abs(sum / trials - 1.2)).toBeLessThan(0.015);
});

test('points that are better known count for more', () => {
  const line = levels.map((w) => point(w, w, 0.01));
  const off = { ...point(60, 90, 20), reference_sd_w: 20 };
  expect(fitted([...line, off]).scale).toBeCloseTo(1, 3);
  expect(fitted([...line, { ...off, source_sd_w: 0.01, reference_sd_w: 0.01 }]).scale).toBeGreaterThan(1.05);
});

test('without known errors, and with more scatter than they explain, the scatter tells the uncertainty', () => {
  const scattered = (sd: number) => levels.map((w, i) => point(w, w + (i % 2 === 0 ? 1 : -1), sd));
  const [bare, tight, wide] = [0, 1e-6, 3].map((sd) => fitted(scattered(sd)));
  const half = (fit: typeof bare) => fit!.scale_hi - fit!.scale;
  expect(half(bare)).toBeCloseTo(half(tight), 4);
  expect(half(wide)).toBeGreaterThan(2 * half(bare));
  expect(tight!.chi2_ratio).toBeGreaterThan(100);
});

// biome-ignore format: a table is read in columns
test.each([
  [levels.slice(0, 5).map((w) => point(w, w)),                'too_few_points', 'five windows'],
  [[],                                                        'too_few_points', 'none'],
  [levels.map((w) => point(w, Number.NaN)),                   'not_finite',     'no number'],
  [levels.map((w) => ({ ...point(w, w), source_sd_w: -1 })),  'not_finite',     'a spread below 0'],
  [levels.map(() => point(30, 40)),                           'no_spread',      'the load never changed'],
  [levels.map((w) => point(w, 100 - w)),                      'not_positive',   'the other meter falls'],
  [levels.map((w) => point(w, 50)),                           'not_positive',   'the other meter does not move'],
  [levels.map((w, i) => point(w, w + (i % 2) * 90)),          'not_positive',   'scatter as large as the step'],
  [levels.map((w, i) => point(w, w + (i % 2) * 40)),          'not_resolved',   'uncertain by more than half'],
])('%j is refused as %s: %s', (points, reason) => {
  expect(fitCalibration(points)).toEqual({ state: 'refused', reason });
});

const times = every(0.1, 60);
const load = [
  [0, 10],
  [20, 60],
  [40, 30],
] as const;
const source = [seriesOf(times, stepped(load))];

test('windows are paired at the lag, and one that a meter did not cover is left out', () => {
  const late = [seriesOf(times, (s) => 5 * s + 1.5 * stepped(load)(Math.max(s - 2, 0)))];
  const windows = [span(5, 15), span(25, 35), span(55, 65)];
  const points = calibrationPoints({ source, reference: late, lag_ns: 2e9 }, windows);
  expect(points.map((p) => [p.source_w, p.reference_w].map((w) => Math.round(w * 100) / 100))).toEqual([
    [10, 20],
    [60, 95],
  ]);
  expect(points[0]!.source_sd_w).toBeGreaterThan(0);
});

test('the declared scale error is what is sought, so it is not in the spread of a point', () => {
  const declared = [seriesOf(times, stepped(load), { scale_error_ratio: 0.2 })];
  const pair = (own: typeof source) =>
    calibrationPoints({ source: own, reference: source, lag_ns: 0 }, [span(5, 15)]);
  expect(pair(declared)).toEqual(pair(source));
});

test('a meter with two domains is their sum', () => {
  const pair = { source: [...source, ...source], reference: source, lag_ns: 0 };
  expect(calibrationPoints(pair, [span(25, 35)])[0]).toMatchObject({ source_w: 120, reference_w: 60 });
  expect(calibrationPoints({ ...pair, source: [] }, [span(25, 35)])).toEqual([]);
});

// biome-ignore format: a table is read in columns
test.each([
  [2,    'the reference is late'],
  [-1.5, 'the reference is early'],
  [0,    'neither is'],
])('a lag of %s s is found: %s', (lag_s) => {
  const reference = [seriesOf(times, (s) => stepped(load)(Math.max(s - lag_s, 0)))];
  const lag_ns = lagBetween({ source, reference }, { span: span(0, 60), width_ns: 1e9, most_ns: 4e9 });
  expect(lag_ns / 1e9).toBeCloseTo(lag_s, 1);
});

test('where nothing correlates, or there is too little to compare, no lag is told', () => {
  const steady = [seriesOf(times, (s) => 50 * s)];
  const search = { span: span(0, 60), width_ns: 1e9, most_ns: 4e9 };
  expect(lagBetween({ source, reference: steady }, search)).toBe(0);
  expect(lagBetween({ source, reference: source }, { ...search, span: span(0, 9) })).toBe(0);
});

test('phases are cut into equal windows after they settled', () => {
  const cut = { settle_ns: 2e9, least_ns: 4e9, most_per_phase: 2 };
  expect(calibrationWindows([span(0, 10), span(10, 15), span(20, 40)], cut)).toEqual([
    span(2, 6),
    span(6, 10),
    span(22, 31),
    span(31, 40),
  ]);
});
