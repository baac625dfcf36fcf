import { fc, test as propTest } from '@fast-check/vitest';
import type { Domain } from '@perwatt/core';
import { describe, expect, test } from 'vitest';
import { energyInWindow, energyOverSpans } from './energy-window.js';
import { at, every, seriesOf, span, stepped } from './series.fixture.js';

/** 10 W, read every 100 ms for 10 s. */
const steady = seriesOf(every(0.1, 10), (s) => 10 * s);
const gappy = seriesOf([...every(0.1, 5), ...every(0.1, 10, 6)], (s) => 10 * s);

// biome-ignore format: a table is read in columns
test.each<[start: number, end: number, energy_j: number | null, reason: string | null, why: string]>([
  [0,     10,    100,  null,           'edges on the first and last sample'],
  [2.05,  3.05,  10,   null,           'edges between samples are interpolated'],
  [2.31,  2.34,  0.3,  null,           'shorter than a reading interval'],
  [-0.2,  1,     12,   null,           'just before the first sample: its power is held'],
  [9,     10.25, 12.5, null,           'just after the last sample: its power is held'],
  [-0.4,  1,     null, 'not_covered',  'begins further from the samples than three readings'],
  [9,     10.4,  null, 'not_covered',  'ends further from the samples than three readings'],
  [20,    30,    null, 'not_covered',  'long after the last sample'],
  [3,     3,     null, 'empty_window', 'no time at all'],
  [4,     3,     null, 'empty_window', 'ends before it begins'],
])('[%d s, %d s) of 10 W is %s J (%s): %s', (start, end, energy_j, reason) => {
  const reading = energyInWindow(steady, span(start, end));
  expect(reading.reason).toBe(reason);
  if (energy_j === null) expect(reading).toMatchObject({ energy_j: null, lo_j: null, hi_j: null });
  else expect(reading.energy_j).toBeCloseTo(energy_j, 9);
});

test.each([[[]], [[0]]])('a series of the samples %j can tell no energy', (times) => {
  expect(
    energyInWindow(
      seriesOf(times, () => 0),
      span(0, 1),
    ).reason,
  ).toBe('not_covered');
});

// biome-ignore format: a table is read in columns
test.each<[start: number, end: number, coverage: number, reason: string | null, why: string]>([
  [0,   10,  0.9,  'low_coverage', 'a second of ten is missing'],
  [0,   5,   1,    null,           'before the gap'],
  [5.1, 5.9, 0,    'low_coverage', 'inside the gap'],
  [4,   5.5, 2/3,  'low_coverage', 'ends inside the gap'],
])('[%d s, %d s) with a gap from 5 to 6 s has coverage %d (%s): %s', (start, end, coverage, reason) => {
  const reading = energyInWindow(gappy, span(start, end));
  expect(reading.coverage_ratio).toBeCloseTo(coverage, 9);
  expect(reading.reason).toBe(reason);
});

test('readings out of schedule make no ordinary interval a gap', () => {
  const marked = seriesOf([0, 0.001, 0.8, 0.801], (s) => 10 * s);
  expect(energyInWindow(marked, span(0, 0.8)).reason).toBe('low_coverage');
  const known = energyInWindow({ ...marked, period_ns: 1e9 }, span(0, 0.8));
  expect(known.energy_j).toBeCloseTo(8, 9);
});

// biome-ignore format: a table is read in columns
test.each<[kind: Domain['kind'], gap_s: number, reason: string | null, why: string]>([
  ['counter', 0.25, null,           'a counter counts on, however often it is read otherwise'],
  ['counter', 0.35, 'low_coverage', 'beyond three intervals of ten readings a second it is a gap'],
  ['gauge',   0.25, 'low_coverage', 'of a power that nobody saw nothing is known'],
])('a %s read every 2 ms, but for %d s: %s (%s)', (kind, gap_s, reason) => {
  const times = [...every(0.002, 1), ...every(0.002, 2, 1 + gap_s)];
  const reading = energyInWindow(seriesOf(times, (s) => 10 * s, { kind }), span(0, 2));
  expect(reading.reason).toBe(reason);
  if (reason === null) expect(reading.energy_j).toBeCloseTo(20, 6);
});

// biome-ignore format: a table is read in columns
test.each<[start: number, end: number, coverage: number, why: string]>([
  [0,    20,    0.5, 'an edge far from the samples adds nothing'],
  [-10,  10,    0.5, 'nor does one far before them'],
  [5,    10.25, 1,   'one close to them counts'],
  [10.1, 10.2,  1,   'a window just beyond the last sample'],
  [20,   30,    0,   'a window far beyond it'],
])('samples of [0 s, 10 s] cover [%d s, %d s) to %d: %s', (start, end, coverage) => {
  expect(energyInWindow(steady, span(start, end)).coverage_ratio).toBeCloseTo(coverage, 9);
});

test('coverage just above the bar is told, with the share', () => {
  const long = seriesOf([...every(0.1, 5), ...every(0.1, 100, 5.5)], (s) => 10 * s);
  const reading = energyInWindow(long, span(0, 100));
  expect(reading).toMatchObject({ reason: null, samples: 50 + 1 + 945 });
  expect(reading.coverage_ratio).toBeCloseTo(0.995, 9);
});

test('a slow sensor sets the longest gap, not the poll rate', () => {
  const slow = seriesOf([...every(0.1, 5), ...every(0.1, 10, 6)], (s) => 10 * s, { update_period_ns: 1e9 });
  expect(energyInWindow(slow, span(0, 10)).coverage_ratio).toBe(1);
});

describe('bounds', () => {
  // biome-ignore format: a table is read in columns
  test.each<[domain: object, lo: number, hi: number, why: string]>([
    [{},                                                 99.98,  100.02,  '10 W × 1 ms at either edge'],
    [{ update_period_ns: 1e8 },                          98,     102,     '10 W × 100 ms at either edge'],
    [{ quantum: 0.5 },                                   98.98,  101.02,  'two steps of the counter'],
    [{ kind: 'gauge', quantum: 0.5 },                    94.98,  105.02,  'a gauge is off by a step all along'],
    [{ scale_error_ratio: 0.1 },                         89.982, 110.022, 'the declared scale error on top'],
  ])('of 10 W for 10 s from %j are %d to %d J: %s', (domain, lo, hi) => {
    const series = seriesOf(every(0.1, 20), (s) => 10 * s, domain);
    const reading = energyInWindow(series, span(5, 15));
    expect(reading.lo_j).toBeCloseTo(lo, 6);
    expect(reading.hi_j).toBeCloseTo(hi, 6);
  });

  test('hold what the recorder booked as bounds', () => {
    const times = every(0.1, 20);
    const series = {
      ...seriesOf(times, (s) => 10 * s),
      lo_j: Float64Array.from(times, (s) => 5 * s),
      hi_j: Float64Array.from(times, (s) => 20 * s),
    };
    const reading = energyInWindow(series, span(5, 15));
    expect(reading.lo_j).toBeCloseTo(50 - 0.02, 6);
    expect(reading.hi_j).toBeCloseTo(200 + 0.02, 6);
  });

  test('are wider where power steps between two readings', () => {
    const series = seriesOf(
      every(1, 10),
      stepped([
        [0, 0],
        [4.9, 100],
      ]),
    );
    const { energy_j, lo_j, hi_j } = energyInWindow(series, span(0.5, 4.5));
    const truth = 0;
    expect(energy_j).toBeCloseTo(5, 9);
    expect(lo_j!).toBeLessThanOrEqual(truth);
    expect(hi_j!).toBeGreaterThan(5);
  });
});

describe('over spans', () => {
  test('energy is the sum of the spans, and short gaps cost no more than they may hold', () => {
    const slow = seriesOf(every(0.1, 20), (s) => 10 * s, { update_period_ns: 1e8 });
    const spans = [span(1, 2), span(2.001, 3), span(3.001, 4)];
    const reading = energyOverSpans(slow, spans);
    expect(reading.energy_j).toBeCloseTo(29.98, 9);
    expect(reading.hi_j! - reading.energy_j!).toBeCloseTo(2 * 10 * 0.1 + 2 * 10 * 0.001, 9);
  });

  test('no spans are no window', () => {
    expect(energyOverSpans(steady, []).reason).toBe('empty_window');
  });
});

/** Booked energy that never falls, read at growing times. */
const counter = fc
  .array(
    fc.record({ gap_ns: fc.integer({ min: 1e6, max: 2e8 }), step_j: fc.integer({ min: 0, max: 500 }) }),
    {
      minLength: 3,
      maxLength: 60,
    },
  )
  .map((steps) => {
    let [seconds, energy] = [0, 0];
    const points = steps.map(({ gap_ns, step_j }) => {
      seconds += gap_ns / 1e9;
      energy += step_j;
      return [seconds, energy] as const;
    });
    const booked = new Map(points);
    return seriesOf([...booked.keys()], (s) => booked.get(s) ?? 0, { update_period_ns: 1e9 });
  });

propTest.prop([counter, fc.double({ min: 0, max: 1, noNaN: true })])(
  'the parts of a split window add up to the whole',
  (series, share) => {
    const [start, end] = [series.at_ns[0]!, series.at_ns.at(-1)!];
    const cut = start + BigInt(Math.round(Number(end - start) * share));
    const edges = [start, cut, end].map((t) => at(Number(t) / 1e9));
    const energy = (from: number, to: number) =>
      energyInWindow(series, { start: edges[from]!, end: edges[to]! }).energy_j ?? 0;
    expect(energy(0, 1) + energy(1, 2)).toBeCloseTo(energy(0, 2), 6);
  },
);

propTest.prop([
  fc.integer({ min: 0, max: 2000 }),
  fc.array(fc.integer({ min: 1e6, max: 1e8 }), { minLength: 5, maxLength: 50 }),
  fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true })),
])(
  'a steady draw costs watts times seconds wherever the window lies, inside its bounds',
  (watts, gaps, [a, b]) => {
    let seconds = 0;
    const times = gaps.map((gap) => {
      seconds += gap / 1e9;
      return seconds;
    });
    const series = seriesOf(times, (s) => watts * s, { update_period_ns: 1e8 });
    const length = seconds - times[0]!;
    const window = span(times[0]! + Math.min(a, b) * length, times[0]! + Math.max(a, b) * length);
    fc.pre(window.end > window.start);
    const reading = energyInWindow(series, window);
    const expected = (watts * Number(window.end - window.start)) / 1e9;
    expect(reading.energy_j).toBeCloseTo(expected, 5);
    expect(reading.lo_j!).toBeLessThanOrEqual(reading.energy_j!);
    expect(reading.hi_j!).toBeGreaterThanOrEqual(reading.energy_j!);
  },
);

// biome-ignore format: a table is read in columns
test.each<[why: string, change: Partial<Domain>, from: number, to: number, still_s: number, stale: boolean]>([
  ['a counter stood still to the end',          {},                       0,  20, 5,   true],
  ['only part of the window was without',       {},                       0,  12, 8,   true],
  ['before it stood still',                     {},                       0,  10, 8,   false],
  ['after it moved again',                      {},                       18, 20, 8,   false],
  ['shorter than any sensor is believed to be', {},                       0,  20, 4.9, false],
  ['a sensor that is renewed every 0.2 s',      { update_period_ns: 2e8 }, 0, 20, 9,   false],
  ['the same for 50 updates',                   { update_period_ns: 2e8 }, 0, 20, 10,  true],
  ['a gauge may read 0 W',                      { kind: 'gauge' },        0,  20, 8,   false],
  ['graphics that nobody uses draw nothing',    { in_total: false },      0,  20, 8,   false],
])('%s: %j in [%d s, %d s), still for %d s from 10 s on, is stale: %s', (_, change, from, to, still_s, stale) => {
  const power = stepped([[0, 30], [10, 0], [10 + still_s, 30]]);
  const reading = energyInWindow(seriesOf(every(0.1, 20), power, change), span(from, to));
  if (stale) expect(reading).toMatchObject({ energy_j: null, lo_j: null, hi_j: null, reason: 'stale_counter' });
  else expect(reading).toMatchObject({ reason: null });
});

test('a gap is no standstill: over a long window it lowers the coverage, over a short one it is named', () => {
  const times = [...every(0.1, 100), ...every(0.1, 300, 106)];
  const power = stepped([
    [0, 30],
    [100, 0],
    [106, 30],
  ]);
  const series = seriesOf(times, power);
  expect(energyInWindow(series, span(0, 300))).toMatchObject({
    reason: null,
    energy_j: expect.closeTo(294 * 30, 6),
  });
  expect(energyInWindow(series, span(90, 120))).toMatchObject({ reason: 'low_coverage', energy_j: null });
  expect(energyInWindow(seriesOf(every(0.1, 300), power), span(0, 300)).reason).toBe('stale_counter');
});
