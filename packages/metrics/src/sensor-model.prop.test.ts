import { fc, test as propTest } from '@fast-check/vitest';
import { createRng } from '@perwatt/core';
import { expect, test } from 'vitest';
import { energyInWindow } from './energy-window.js';
import { seriesOf, span } from './series.fixture.js';
import type { EnergyReading } from './types.js';

/** A load: power by plateaus of at least one and a half readings. */
interface Load {
  readonly steps: readonly { readonly length_s: number; readonly watts: number }[];
}

/** A counter that is renewed at times, late, in steps, from a sensor that looks for part of each period only. */
interface Sensor {
  /** Declared: the counter's value is at most this old, its lag included. */
  readonly update_s: number;
  /** Share of the declared age that is lag; the rest is the period of renewal. */
  readonly lag_share: number;
  readonly phase: number;
  readonly quantum_j: number;
  /** Share of each period that the sensor looks; 1 is all of it. */
  readonly seen: number;
  /** Where in its period it looks: 0 at the start, 1 at the end. */
  readonly seen_at: number;
}

const READ_S = 0.1;
const LENGTH_S = 20;

/** True energy up to a time, J. */
function truthOf({ steps }: Load): (seconds: number) => number {
  return (seconds) => {
    let [left, energy, last] = [seconds, 0, 0];
    for (const { length_s, watts } of steps) {
      const spent = Math.min(left, length_s);
      energy += spent * watts;
      left -= spent;
      last = watts;
      if (left <= 0) return energy;
    }
    return energy + left * last;
  };
}

/** What the counter shows at a time: the periods that were over `lag` ago, each as it was seen, in whole steps. */
function counterOf(truth: (seconds: number) => number, sensor: Sensor): (seconds: number) => number {
  const lag = sensor.update_s * sensor.lag_share;
  const period = sensor.update_s - lag;
  const offset = sensor.phase * period;
  const told: number[] = [0];
  const upTo = (periods: number): number => {
    for (let k = told.length; k <= periods; k++) {
      const start = offset + (k - 1 + (1 - sensor.seen) * sensor.seen_at) * period;
      const seen = truth(start + period * sensor.seen) - truth(start);
      told.push((told[k - 1] ?? 0) + seen / sensor.seen);
    }
    return told[periods] ?? 0;
  };
  return (seconds) => {
    const energy = truth(offset) + upTo(Math.max(0, Math.floor((seconds - lag - offset) / period)));
    return Math.floor(energy / sensor.quantum_j) * sensor.quantum_j;
  };
}

/** Reads the counter ten times a second, a little off schedule, and asks for a window. */
function measured(
  load: Load,
  sensor: Sensor,
  { window: [start, end], declared = false }: { window: readonly [number, number]; declared?: boolean },
) {
  const truth = truthOf(load);
  const jitter = createRng(1);
  const times = Array.from(
    { length: LENGTH_S / READ_S },
    (_, i) => (i + 1 + 0.2 * (jitter() - 0.5)) * READ_S,
  );
  const series = seriesOf(times, counterOf(truth, sensor), {
    update_period_ns: sensor.update_s * 1e9,
    quantum: sensor.quantum_j,
    sensing_share_ratio: declared ? sensor.seen : null,
  });
  return { truth: truth(end) - truth(start), reading: energyInWindow(series, span(start, end)) };
}

const sensors = fc.record({
  update_s: fc.constantFrom(0.001, 0.02, 0.1, 0.3),
  lag_share: fc.double({ min: 0, max: 0.5, noNaN: true }),
  phase: fc.double({ min: 0, max: 1, noNaN: true }),
  quantum_j: fc.constantFrom(6.1e-5, 0.001, 1),
  seen: fc.constant(1),
  seen_at: fc.double({ min: 0, max: 1, noNaN: true }),
});
const loads = fc.record({
  steps: fc.array(
    fc.record({
      length_s: fc.double({ min: 0.6, max: 5, noNaN: true }),
      watts: fc.double({ min: 1, max: 700, noNaN: true }),
    }),
    { minLength: 1, maxLength: 20 },
  ),
});
const windows = fc
  .tuple(fc.double({ min: 1, max: 18, noNaN: true }), fc.double({ min: 1, max: 18, noNaN: true }))
  .filter(([a, b]) => Math.abs(a - b) > 0.5)
  .map(([a, b]): [number, number] => [Math.min(a, b), Math.max(a, b)]);

function holds({ reading, truth }: { readonly reading: EnergyReading; readonly truth: number }) {
  expect(reading.reason).toBeNull();
  expect(reading.lo_j).toBeLessThanOrEqual(truth + 1e-6);
  expect(reading.hi_j).toBeGreaterThanOrEqual(truth - 1e-6);
}

propTest.prop([loads, sensors, windows], { numRuns: 2000 })(
  'the truth lies inside the bounds of a counter that is late and coarse, whatever the load',
  (load, sensor, window) => holds(measured(load, sensor, { window })),
);

const watts = fc.double({ min: 1, max: 700, noNaN: true });

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

/** A sensor that looks for part of the time, and a load whose levels last for two of the blocks that steps are told by. */
const partTime = fc
  .tuple(
    sensors,
    fc.double({ min: 0.25, max: 1, noNaN: true }),
    fc.array(fc.tuple(fc.double({ min: 2.1, max: 6, noNaN: true }), watts), { minLength: 2, maxLength: 8 }),
  )
  .map(([sensor, seen, levels]) => {
    const block_s = 4 * Math.max(sensor.update_s, READ_S * 1.05);
    const steps = levels.map(([blocks, level]) => ({ length_s: blocks * block_s, watts: level }));
    return { load: { steps }, sensor: { ...sensor, seen } };
  });

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
