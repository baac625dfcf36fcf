import { fc, test as propTest } from '@fast-check/vitest';
import { expect, test } from 'vitest';
import { averagedEnergy } from './averaged-energy.js';
import { energyInWindow } from './energy-window.js';
import { every, seriesOf, span } from './series.fixture.js';

const idle_w = 100;

/** Energy by trapezoid of the trailing average over `width` of a load of `watts` on [0, length) s. */
function smeared(watts: number, length: number, width: number) {
  const power = (s: number) => {
    const seen = Math.min(s, length) - Math.max(s - width, 0);
    return idle_w + ((watts - idle_w) * Math.max(seen, 0)) / width;
  };
  const times = every(0.1, length + 3 * width, -width);
  const energy = new Map<number, number>();
  let sum = 0;
  times.forEach((t, i) => {
    const before = times[i - 1];
    if (before !== undefined) sum += ((power(before) + power(t)) / 2) * (t - before);
    energy.set(t, sum);
  });
  return seriesOf(times, (t) => energy.get(t) ?? 0, { kind: 'gauge', update_period_ns: 1e8 });
}

test('a trailing average smears both edges; read a width longer it is exact', () => {
  const series = smeared(700, 10, 1);
  const naive = energyInWindow(series, span(0, 10)).energy_j;
  const reading = averagedEnergy(series, span(0, 10), { width_ns: 1e9, idle_w });
  expect(naive).toBeCloseTo(6700, 6);
  expect(reading.energy_j).toBeCloseTo(7000, 6);
  expect(reading.lo_j!).toBeLessThan(7000);
  expect(reading.hi_j!).toBeGreaterThan(7000);
});

test('a window of less than five widths is refused', () => {
  const series = smeared(700, 10, 1);
  const options = { width_ns: 1e9, idle_w };
  expect(averagedEnergy(series, span(0, 1), options)).toMatchObject({ energy_j: null, reason: 'too_short' });
  expect(averagedEnergy(series, span(0, 4.9), options).reason).toBe('too_short');
  expect(averagedEnergy(series, span(0, 5), options).reason).toBeNull();
});

test('samples that end before the average has settled tell nothing', () => {
  const series = smeared(700, 10, 1);
  const options = { width_ns: 1e9, idle_w };
  expect(averagedEnergy(series, span(6, 13), options)).toMatchObject({
    energy_j: null,
    reason: 'not_covered',
  });
});

propTest.prop([fc.integer({ min: 0, max: 1000 }), fc.integer({ min: 5, max: 20 })])(
  'whatever is drawn, it is told once the load has returned to idle',
  (watts, length) => {
    const reading = averagedEnergy(smeared(watts, length, 1), span(0, length), { width_ns: 1e9, idle_w });
    expect(reading.energy_j).toBeCloseTo(watts * length, 5);
  },
);
