import { fc, test as propTest } from '@fast-check/vitest';
import { expect, test } from 'vitest';
import { energyInWindow } from './energy-window.js';
import {
  LENGTH_S,
  type Load,
  partTime,
  readOf,
  type Sensor,
  sensors,
  truthOf,
  watts,
  windows,
} from './sensor-model.fixture.js';
import { span } from './series.fixture.js';
import type { EnergyReading } from './types.js';

/** Reads the counter ten times a second, a little off schedule, and asks for a window. */
function measured(
  load: Load,
  sensor: Sensor,
  { window: [start, end], declared = false }: { window: readonly [number, number]; declared?: boolean },
) {
  const truth = truthOf(load);
  const series = readOf(load, sensor, declared);
  return { truth: truth(end) - truth(start), reading: energyInWindow(series, span(start, end)) };
}

const loads = fc.record({
  steps: fc.array(
    fc.record({
      length_s: fc.double({ min: 0.6, max: 5, noNaN: true }),
      watts: fc.double({ min: 1, max: 700, noNaN: true }),
    }),
    { minLength: 1, maxLength: 20 },
  ),
});
function holds({ reading, truth }: { readonly reading: EnergyReading; readonly truth: number }) {
  expect(reading.reason).toBeNull();
  expect(reading.lo_j).toBeLessThanOrEqual(truth + 1e-6);
  expect(reading.hi_j).toBeGreaterThanOrEqual(truth - 1e-6);
}

propTest.prop([loads, sensors, windows], { numRuns: 2000 })(
  'the truth lies inside the bounds of a counter that is late and coarse, whatever the load',
  (load, sensor, window) => holds(measured(load, sensor, { window })),
);

/** One plateau between two others; the window lies inside it, further from its ends than the sensor's value is old. */
const plateaus = fc
  .tuple(
    fc.tuple(watts, watts, watts),
    fc.double({ min: 1, max: 5, noNaN: true }),
    fc.double({ min: 5, max: 12, noNaN: true }),
    fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true })),
  )
  .map(([[before, busy, after], from, length, [a, b]]) => {
    const steps = [
      { length_s: from, watts: before },
      { length_s: length, watts: busy },
      { length_s: LENGTH_S, watts: after },
    ];
    const [first, last] = [from + 1, from + length - 1.5];
    const window: [number, number] = [
      first + Math.min(a, b) * (last - first),
      first + Math.max(a, b) * (last - first),
    ];
    return { load: { steps }, window };
  })
  .filter(({ window: [start, end] }) => end - start > 0.5);

propTest.prop([plateaus, sensors, fc.double({ min: 0.25, max: 1, noNaN: true })], { numRuns: 1000 })(
  'nor is it missed by a sensor that looks for part of the time, while the load is steady',
  ({ load, window }, sensor, seen) => holds(measured(load, { ...sensor, seen }, { window })),
);

propTest.prop([partTime, windows], { numRuns: 1000 })(
  'nor when the load steps inside the window, where the sensor is declared to look for part of the time',
  ({ load, sensor }, window) => holds(measured(load, sensor, { window, declared: true })),
);

test('without the declaration, steps are missed by a sensor that looks for part of the time', () => {
  const cases = fc.sample(fc.tuple(partTime, windows), { numRuns: 1000, seed: 1 });
  const missed = (declared: boolean) =>
    cases.filter(([{ load, sensor }, window]) => {
      const { reading, truth } = measured(load, sensor, { window, declared });
      return truth < (reading.lo_j ?? Number.NaN) - 1e-6 || truth > (reading.hi_j ?? Number.NaN) + 1e-6;
    }).length;
  expect(missed(true)).toBe(0);
  expect(missed(false)).toBeGreaterThan(0);
});

/** Width of the bounds over what the edges, and the steps that a sensor may have missed, leave open. */
function widthRatio(load: Load, sensor: Sensor, window: readonly [number, number]): number {
  const { reading } = measured(load, sensor, { window, declared: true });
  const truth = truthOf(load);
  const edges = window.map((t) => truth(t + sensor.update_s / 2) - truth(t - sensor.update_s / 2));
  const missed = (1 - sensor.seen) * sensor.update_s * stepsIn(load, window);
  const analytic = 2 * edges.reduce((sum, edge) => sum + edge + sensor.quantum_j, missed);
  return ((reading.hi_j ?? Number.NaN) - (reading.lo_j ?? Number.NaN)) / analytic;
}

/** Sum of the steps of power inside a window, W. */
function stepsIn({ steps }: Load, [start, end]: readonly [number, number]): number {
  let [at, sum] = [0, 0];
  steps.forEach(({ length_s, watts }, i) => {
    at += length_s;
    if (at > start && at < end) sum += Math.abs((steps[i + 1]?.watts ?? watts) - watts);
  });
  return sum;
}

const medianOf = (ratios: readonly number[]) => ratios.toSorted((a, b) => a - b)[ratios.length >> 1];

test('bounds are no wider than they must be: at most twice what the edges alone leave open, in the median', () => {
  const cases = fc.sample(fc.tuple(loads, sensors, windows), { numRuns: 500, seed: 1 });
  expect(medianOf(cases.map((given) => widthRatio(...given)))).toBeLessThanOrEqual(2);
});

test('nor where a sensor looks for part of the time: at most twice what edges and steps leave open', () => {
  const cases = fc.sample(fc.tuple(partTime, windows), { numRuns: 500, seed: 1 });
  const ratios = cases.map(([{ load, sensor }, window]) => widthRatio(load, sensor, window));
  expect(medianOf(ratios)).toBeLessThanOrEqual(2);
});

propTest.prop([loads, sensors, windows, fc.double({ min: 0, max: 1, noNaN: true })])(
  'the parts of a split window add up to the whole, however late and coarse the counter',
  (load, sensor, [start, end], share) => {
    const cut = start + share * (end - start);
    const energyOf = (window: readonly [number, number]) =>
      measured(load, sensor, { window }).reading.energy_j ?? 0;
    expect(energyOf([start, cut]) + energyOf([cut, end])).toBeCloseTo(energyOf([start, end]), 5);
  },
);
