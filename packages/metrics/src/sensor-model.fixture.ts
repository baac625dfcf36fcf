import { fc } from '@fast-check/vitest';
import { createRng } from '@perwatt/core';
import { seriesOf } from './series.fixture.js';
import type { PowerSeries } from './types.js';

/** A load: power by plateaus of at least one and a half readings. */
export interface Load {
  readonly steps: readonly { readonly length_s: number; readonly watts: number }[];
}

/** A counter that is renewed at times, late, in steps, from a sensor that looks for part of each period only. */
export interface Sensor {
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
export const LENGTH_S = 20;

/** True energy up to a time, J. */
export function truthOf({ steps }: Load): (seconds: number) => number {
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

/** What is read of the counter ten times a second, a little off schedule. `declared`: it is said for how long the sensor looks. */
export function readOf(load: Load, sensor: Sensor, declared = false): PowerSeries {
  const jitter = createRng(1);
  const times = Array.from(
    { length: LENGTH_S / READ_S },
    (_, i) => (i + 1 + 0.2 * (jitter() - 0.5)) * READ_S,
  );
  return seriesOf(times, counterOf(truthOf(load), sensor), {
    update_period_ns: sensor.update_s * 1e9,
    quantum: sensor.quantum_j,
    sensing_share_ratio: declared ? sensor.seen : null,
  });
}

export const sensors = fc.record({
  update_s: fc.constantFrom(0.001, 0.02, 0.1, 0.3),
  lag_share: fc.double({ min: 0, max: 0.5, noNaN: true }),
  phase: fc.double({ min: 0, max: 1, noNaN: true }),
  quantum_j: fc.constantFrom(6.1e-5, 0.001, 1),
  seen: fc.constant(1),
  seen_at: fc.double({ min: 0, max: 1, noNaN: true }),
});
export const windows = fc
  .tuple(fc.double({ min: 1, max: 18, noNaN: true }), fc.double({ min: 1, max: 18, noNaN: true }))
  .filter(([a, b]) => Math.abs(a - b) > 0.5)
  .map(([a, b]): [number, number] => [Math.min(a, b), Math.max(a, b)]);

export const watts = fc.double({ min: 1, max: 700, noNaN: true });

/** A sensor that looks for part of the time, and a load whose levels last for two of the blocks that steps are told by. */
export const partTime = fc
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
