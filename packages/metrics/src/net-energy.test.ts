import { describe, expect, test } from 'vitest';
import { meanPower } from './mean-power.js';
import { netEnergy } from './net-energy.js';
import { at, every, seriesOf, span, stepped } from './series.fixture.js';

const gross = { energy_j: 1000, lo_j: 990, hi_j: 1010 };
const baseline = (seconds: number, power_w: number, half_w = 0) => ({
  at: at(seconds),
  power_w,
  lo_w: power_w - half_w,
  hi_w: power_w + half_w,
});
type Baseline = ReturnType<typeof baseline> | null;
const window = span(0, 10);

// biome-ignore format: a table is read in columns
test.each<[why: string, before: Baseline, after: Baseline, expected: object]>([
  ['steady: gross less idle power times time',    baseline(-5, 20),       baseline(15, 20),       { energy_j: 800, lo_j: 790, hi_j: 810, drift_ratio: 0, resolved: true }],
  ['one baseline holds alone, with its interval', baseline(-5, 20, 1),    null,                   { energy_j: 800, lo_j: 780, hi_j: 820, drift_ratio: null, resolved: true }],
  ['the same from after',                         null,                   baseline(15, 20, 1),    { energy_j: 800, lo_j: 780, hi_j: 820, drift_ratio: null }],
  ['half the drift is in doubt',                  baseline(-5, 10),       baseline(15, 30),       { energy_j: 800, lo_j: 690, hi_j: 910, drift_ratio: 2 }],
  ['interpolated to the middle of the window',    baseline(-35, 10),      baseline(15, 20),       { baseline_w: 18 }],
  ['below idle: shown, never clamped',            baseline(-5, 120),      baseline(15, 120),      { energy_j: -200, lo_j: -210, hi_j: -190, resolved: true }],
  ['an interval with 0 in it resolves nothing',   baseline(-5, 100, 2),   baseline(15, 100, 2),   { energy_j: 0, resolved: false }],
  ['no baseline, no net',                         null,                   null,                   { energy_j: null, lo_j: null, hi_j: null, resolved: false, reason: 'no_baseline' }],
])('%s', (_, before, after, expected) => {
  expect(netEnergy({ gross, window, length_ns: 10e9, before, after })).toMatchObject(expected);
});

test('only the busy time costs a baseline', () => {
  const net = netEnergy({ gross, window, length_ns: 5e9, before: baseline(-5, 20), after: baseline(15, 20) });
  expect(net.energy_j).toBe(900);
});

describe('mean power', () => {
  test('of a steady draw has no spread', () => {
    const reading = meanPower(
      seriesOf(every(0.1, 10), (s) => 30 * s),
      span(2, 8),
    );
    expect(reading.power_w).toBeCloseTo(30, 9);
    expect(reading.lo_w).toBeCloseTo(30, 6);
    expect(reading.hi_w).toBeCloseTo(30, 6);
  });

  test('of power that comes and goes has an interval by t over 20 blocks', () => {
    const steps = Array.from({ length: 20 }, (_, i): [number, number] => [i, i % 2 === 0 ? 20 : 40]);
    const { power_w, lo_w, hi_w } = meanPower(seriesOf(every(0.1, 20), stepped(steps)), span(0, 20));
    expect(power_w).toBeCloseTo(30, 6);
    expect(hi_w! - power_w!).toBeCloseTo((2.093024 * 10 * Math.sqrt(20 / 19)) / Math.sqrt(20), 4);
    expect(power_w! - lo_w!).toBeCloseTo(hi_w! - power_w!, 9);
  });

  // biome-ignore format: a table is read in columns
  test.each<[start: number, end: number, reason: string]>([
    [2,  2.25, 'too_few_samples'],
    [2,  2,    'empty_window'],
    [50, 60,   'not_covered'],
  ])('over [%d s, %d s) can not be told: %s', (start, end, reason) => {
    const reading = meanPower(seriesOf(every(0.1, 10), (s) => 30 * s), span(start, end));
    expect(reading).toEqual({ power_w: null, lo_w: null, hi_w: null, reason });
  });
});
