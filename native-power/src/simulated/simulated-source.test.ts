import { fc, test } from '@fast-check/vitest';
import { type Instant, type PowerSource, type SampleColumns, sampleEvents } from '@perwatt/core';
import { manualClock, powerSourceContract } from '@perwatt/test-kit';
import { describe, expect } from 'vitest';
import type { SensorModel } from './sensor.js';
import { type PowerSignal, simulatedSource } from './simulated-source.js';

const exact: SensorModel = {
  kind: 'counter',
  update_period_ns: 1_000_000,
  lag_ns: 0,
  quantum: 1e-6,
  sensing_share_ratio: 1,
  phase: 0,
};

/** A signal that a test sets. */
function settable(power_w: number) {
  let now = power_w;
  const listeners = new Set<(at: Instant) => void>();
  const signal: PowerSignal = {
    now: () => now,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const set = (watts: number, at: Instant) => {
    for (const listener of listeners) listener(at);
    now = watts;
  };
  return { signal, set, listeners };
}

function world(sensor: Partial<SensorModel>, power_w = 10) {
  const clock = manualClock(1_000n);
  const { signal, set, listeners } = settable(power_w);
  const source: PowerSource = simulatedSource({
    clock,
    devices: [
      { name: 'edge', scope: 'gpu', host: 'edge', signal, max_power_w: 1e4, sensor: { ...exact, ...sensor } },
    ],
    period_ns: 100_000_000,
  });
  return { clock, source, set: (watts: number) => set(watts, clock.now()), listeners };
}

for (const kind of ['counter', 'gauge'] as const) {
  powerSourceContract(`simulated ${kind}`, () => {
    const { source, clock } = world({ kind, lag_ns: 100_000, quantum: 0.001, sensing_share_ratio: 0.5 });
    return { source, advance: () => clock.advance(1_500_000) };
  });
}

const booked = ({ booked_energy_j }: SampleColumns) => booked_energy_j.at(-1) ?? Number.NaN;

describe('a simulated meter', () => {
  test('says that it is simulated, of which endpoint, and how far behind it may be', () => {
    const { source } = world({ update_period_ns: 20_000_000, lag_ns: 5_000_000, sensing_share_ratio: 0.25 });
    const recorder = source.start();
    expect(recorder.domains).toEqual([
      expect.objectContaining({
        id: 'simulated:edge',
        host: 'edge',
        provenance: 'simulated',
        update_period_ns: 25_000_000,
        sensing_share_ratio: 0.25,
      }),
    ]);
    recorder.stop();
  });

  test('books what was drawn, whatever the steps in between, and reads on schedule', () => {
    const { source, clock, set } = world({});
    const recorder = source.start();
    for (const watts of [50, 5, 200]) {
      clock.advance(1_234_567_000);
      set(watts);
    }
    clock.advance(500_000_000);
    const columns = recorder.drain();
    recorder.stop();
    const truth = 1.234567 * (10 + 50 + 5) + 0.5 * 200;
    expect(booked(columns)).toBeGreaterThan(truth - 0.2 - 200 * 0.1);
    expect(booked(columns)).toBeLessThanOrEqual(truth + 1e-6);
    const gaps = columns.at_ns.slice(1).map((at, i) => at - columns.at_ns[i]!);
    expect(new Set(gaps)).toEqual(new Set([100_000_000n]));
    expect(new Set(columns.event)).toEqual(
      new Set([sampleEvents.indexOf('first'), sampleEvents.indexOf('ok')]),
    );
  });

  // biome-ignore format: a table is read in columns
  test.each<[changes: Partial<SensorModel>, expected_j: number, why: string]>([
    [{},                                                          10,   'a second at 10 W'],
    [{ lag_ns: 300e6 },                                           7,    'the last 300 ms have not come through'],
    [{ update_period_ns: 400e6 },                                 8,    'two periods are over'],
    [{ update_period_ns: 400e6, phase: 0.5 },                     12,   'three ended, the first begun before the start'],
    [{ quantum: 3 },                                              9,    'whole steps'],
    [{ update_period_ns: 100e6, sensing_share_ratio: 0.1 },       10,   'steady power looks the same all the time'],
  ])('%o shows %d J', (changes, expected_j) => {
    const { source, clock } = world(changes);
    const recorder = source.start();
    clock.advance(1e9);
    recorder.mark();
    expect(booked(recorder.drain())).toBeCloseTo(expected_j, 5);
    recorder.stop();
  });

  test('that looks at the end of its period takes the rest for the same', () => {
    const { source, clock, set } = world({ update_period_ns: 1e9, sensing_share_ratio: 0.25 });
    const recorder = source.start();
    clock.advance(0.8e9);
    set(90);
    clock.advance(0.2e9);
    recorder.mark();
    expect(booked(recorder.drain())).toBeCloseTo((10 * 0.05 + 90 * 0.2) / 0.25, 5);
    recorder.stop();
  });

  test.prop(
    [
      fc.array(
        fc.tuple(fc.integer({ min: 1, max: 3_000_000_000 }), fc.double({ min: 0.1, max: 700, noNaN: true })),
        { maxLength: 12 },
      ),
      fc.record({
        update_period_ns: fc.constantFrom(1e6, 2e7, 3e8),
        lag_ns: fc.constantFrom(0, 1e6, 1e8),
        quantum: fc.constantFrom(1e-6, 0.001, 1),
        phase: fc.double({ min: 0, max: 0.99, noNaN: true }),
      }),
    ],
    { numRuns: 60 },
  )('never shows more than a period and a lag less than was drawn, nor a period more', (steps, sensor) => {
    const { source, clock, set } = world(sensor);
    const recorder = source.start();
    let [truth, watts, most] = [0, 10, 10];
    for (const [length_ns, next] of steps) {
      clock.advance(length_ns);
      truth += (watts * length_ns) / 1e9;
      set(next);
      [watts, most] = [next, Math.max(most, next)];
    }
    recorder.mark();
    const shown = steps.length === 0 ? 0 : booked(recorder.drain());
    recorder.stop();
    const behind = (most * (sensor.update_period_ns + sensor.lag_ns)) / 1e9;
    expect(shown).toBeGreaterThan(truth - behind - sensor.quantum - 1e-4);
    expect(shown).toBeLessThan(truth + (10 * sensor.update_period_ns) / 1e9 + 1e-4);
  });

  test('a gauge shows the mean of the last period, late', () => {
    const { source, clock, set } = world({ kind: 'gauge', update_period_ns: 100e6, lag_ns: 50e6 });
    const recorder = source.start();
    clock.advance(100e6);
    set(30);
    clock.advance(210e6);
    recorder.mark();
    expect([...recorder.drain().power_w]).toEqual([10, 10, 10, 30, 30].map((w) => expect.closeTo(w, 5)));
    recorder.stop();
  });

  test('leaves its signals alone once it has stopped', () => {
    const { source, listeners } = world({});
    const recorder = source.start();
    expect(listeners.size).toBe(1);
    recorder.stop();
    recorder.stop();
    expect(listeners.size).toBe(0);
  });

  // biome-ignore format: a table is read in columns
  test.each<[changes: Partial<SensorModel>, why: string]>([
    [{ update_period_ns: 0 },       'it would never end'],
    [{ sensing_share_ratio: 0 },    'it sees nothing'],
    [{ sensing_share_ratio: 1.5 },  'more than all'],
    [{ quantum: Number.NaN },       'no step'],
    [{ lag_ns: -1 },                'it would know the future'],
    [{ phase: 1 },                  'the next period'],
  ])('%o is refused', (changes) => {
    expect(() => world(changes)).toThrowError(expect.objectContaining({ code: 'INPUT_INVALID' }));
  });

  test('a source without devices is refused', () => {
    expect(() => simulatedSource({ clock: manualClock(), devices: [] })).toThrow(/no device/);
  });
});
