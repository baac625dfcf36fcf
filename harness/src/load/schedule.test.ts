import { fc, test as property } from '@fast-check/vitest';
import type { Arrivals } from '@perwatt/core';
import { expect, test } from 'vitest';
import type { DrawnArrivals } from './arrival-stream.js';
import { arrivalStream } from './arrival-stream.js';
import { dealLoad } from './deal.js';
import { drawSchedule, traceSchedule } from './schedule.js';

const n = 20_000;
const due = (arrivals: DrawnArrivals, seed = 7, count = n) => drawSchedule(arrivals, { count, seed }).due_ns;

const gapsOf = (times: Float64Array): Float64Array =>
  Float64Array.from(times.subarray(1), (at, i) => (at - (times[i] ?? 0)) / 1e9);

const meanOf = (values: Float64Array) => values.reduce((a, b) => a + b, 0) / values.length;

function variation(values: Float64Array): number {
  const mean = meanOf(values);
  return Math.sqrt(values.reduce((sum, v) => sum + (v - mean) ** 2, 0) / (values.length - 1)) / mean;
}

function kolmogorov(gaps: Float64Array, rate: number): number {
  const sorted = gaps.toSorted();
  return sorted.reduce((most, gap, i) => {
    const p = 1 - Math.exp(-rate * gap);
    return Math.max(most, Math.abs(p - i / sorted.length), Math.abs(p - (i + 1) / sorted.length));
  }, 0);
}

function lagOne(values: Float64Array): number {
  const mean = meanOf(values);
  let [sum, square] = [0, 0];
  for (const [i, v] of values.entries()) {
    square += (v - mean) ** 2;
    if (i > 0) sum += (v - mean) * ((values[i - 1] ?? 0) - mean);
  }
  return sum / square;
}

function dispersion(times: Float64Array): { index: number; seconds: number } {
  const seconds = Math.floor((times.at(-1) ?? 0) / 1e9);
  const counts = new Float64Array(seconds);
  for (const at of times) {
    const second = Math.floor(at / 1e9);
    if (second < seconds) counts[second] = (counts[second] ?? 0) + 1;
  }
  const mean = meanOf(counts);
  const variance = counts.reduce((sum, c) => sum + (c - mean) ** 2, 0) / (seconds - 1);
  return { index: variance / mean, seconds };
}

const nearWhole = (times: Float64Array): number =>
  times.filter((at) => at % 1e9 < 1e6 || at % 1e9 > 999e6).length / times.length;

test.each([1, 7, 42])('a constant rate has equal gaps (seed %i)', (seed) => {
  const times = due({ kind: 'constant', rate_per_s: 100 }, seed);
  expect(times[0]).toBe(0);
  expect(times[300]).toBe(3e9);
  expect(variation(gapsOf(times))).toBeLessThan(0.01);
  expect(variation(gapsOf(due({ kind: 'constant', rate_per_s: 700 }, seed)))).toBeLessThan(0.01);
});

test.each([
  ['poisson', 1],
  ['poisson', 7],
  ['server', 42],
] as const)('%s arrivals are a Poisson process (seed %i)', (kind, seed) => {
  const times = due({ kind, rate_per_s: 20 }, seed);
  const gaps = gapsOf(times);
  expect(kolmogorov(gaps, 20)).toBeLessThan(1.63 / Math.sqrt(gaps.length));
  expect(Math.abs(lagOne(gaps))).toBeLessThan(3 / Math.sqrt(gaps.length));
  const { index, seconds } = dispersion(times);
  expect(Math.abs(index - 1)).toBeLessThan(3 * Math.sqrt(2 / (seconds - 1)));
  expect(Math.abs(nearWhole(times) - 0.002)).toBeLessThan(4 * Math.sqrt(0.002 / n));
});

test.each([0.25, 0.5, 1, 4, 25])('gamma gaps of shape %d have the spread and the mean asked for', (k) => {
  const gaps = gapsOf(due({ kind: 'gamma', rate_per_s: 50, smoothness: k }, 11, 100_000));
  const spread = 1 / Math.sqrt(k);
  expect(Math.abs(variation(gaps) / spread - 1)).toBeLessThan(0.03);
  expect(Math.abs(meanOf(gaps) * 50 - 1)).toBeLessThan((3 * spread) / Math.sqrt(gaps.length));
});

test('a ramp rises in time, not by call: a quarter of the calls of a ramp from 0 come in its first half', () => {
  const ramp = { kind: 'ramp', from_per_s: 0, to_per_s: 200, duration_s: 100, curve: 'linear' } as const;
  const times = due({ ...ramp, process: 'constant', smoothness: 1 }, 1, 12_000);
  expect(times.filter((at) => at < 50e9)).toHaveLength(2500);
  expect(times.filter((at) => at < 100e9)).toHaveLength(10_000);
  expect((times[11_000] ?? 0) - (times[10_000] ?? 0)).toBeCloseTo(5e9, -1);
});

// biome-ignore format: a table is read in columns
test.each([
  { curve: 'linear',      from: 10,  to: 100, expected: (10 + 100) / 2 * 20,                   why: 'rising' },
  { curve: 'linear',      from: 100, to: 10,  expected: (10 + 100) / 2 * 20,                   why: 'falling' },
  { curve: 'exponential', from: 10,  to: 100, expected: ((100 - 10) / Math.log(10)) * 20,      why: 'rising' },
  { curve: 'exponential', from: 50,  to: 50,  expected: 1000,                                  why: 'a ramp that is none' },
] as const)('a $curve ramp from $from to $to brings the area under its rate ($why)', ({ curve, from, to, expected }) => {
  const shape = { kind: 'ramp', from_per_s: from, to_per_s: to, duration_s: 20, curve } as const;
  const times = due({ ...shape, process: 'constant', smoothness: 1 }, 1, 5000);
  expect(times.filter((at) => at < 20e9).length).toBe(Math.ceil(expected - 1e-6));
});

test('steps keep their rates, a pause has no calls, and the schedule ends with the last', () => {
  const stages = [
    { rate_per_s: 10, duration_s: 10 },
    { rate_per_s: 0, duration_s: 5 },
    { rate_per_s: 100, duration_s: 2 },
  ];
  const times = due({ kind: 'steps', stages, process: 'constant', smoothness: 1 });
  expect(times).toHaveLength(300);
  expect(times.filter((at) => at < 10e9)).toHaveLength(100);
  expect(times.filter((at) => at >= 10e9 && at < 15e9)).toHaveLength(0);
  expect(times.at(-1)).toBe(16.99e9);
});

test('offline has everything due at once', () => {
  expect([...due({ kind: 'offline' }, 1, 3)]).toEqual([0, 0, 0]);
  expect(drawSchedule({ kind: 'offline' }, { count: 3, seed: 1 }).offered_per_s).toBeNull();
});

const shapes: Exclude<Arrivals, { kind: 'trace' }>[] = [
  { kind: 'constant', rate_per_s: 30 },
  { kind: 'poisson', rate_per_s: 30 },
  { kind: 'gamma', rate_per_s: 30, smoothness: 0.5 },
  {
    kind: 'ramp',
    from_per_s: 1,
    to_per_s: 50,
    duration_s: 9,
    curve: 'exponential',
    process: 'gamma',
    smoothness: 3,
  },
];

property.prop([
  fc.constantFrom(...shapes),
  fc.nat(),
  fc.integer({ min: 1, max: 9 }),
  fc.option(fc.integer({ min: 1, max: 64 })),
])('workers together send exactly the schedule, once, in parts of the cap', (shape, seed, workers, cap) => {
  const whole = due(shape, seed, 500);
  const shares = dealLoad(workers, cap);
  const merged = shares.flatMap(({ first, step }) => {
    const own = [];
    for (let i = first; i < whole.length; i += step) own.push(i);
    return own;
  });
  expect(merged.toSorted((a, b) => a - b)).toEqual([...whole.keys()]);
  if (cap === null) return;
  expect(shares.reduce((sum, share) => sum + (share.cap ?? Number.NaN), 0)).toBe(cap);
  for (const share of shares) expect(share.cap === 0).toBe(share.first === Number.POSITIVE_INFINITY);
});

property.prop([fc.constantFrom(...shapes), fc.nat()])(
  'a schedule is the same whole, in parts and again',
  (shape, seed) => {
    const next = arrivalStream(shape, seed);
    const parts = Array.from({ length: 5 }, () => Array.from({ length: 40 }, () => next())).flat();
    expect(parts).toEqual([...due(shape, seed, 200)]);
    const [a, b] = [1, 1].map(() => drawSchedule(shape, { count: 200, seed }));
    expect(a?.sha256).toBe(b?.sha256);
    for (let i = 1; i < parts.length; i++) expect(parts[i] ?? 0).toBeGreaterThanOrEqual(parts[i - 1] ?? 0);
  },
);

test('another seed, rate or count is another schedule', () => {
  const digest = (rate_per_s: number, seed: number, count: number) =>
    drawSchedule({ kind: 'poisson', rate_per_s }, { seed, count }).sha256;
  const digests = [digest(5, 1, 100), digest(5, 2, 100), digest(6, 1, 100), digest(5, 1, 101)];
  expect(new Set(digests).size).toBe(4);
});

// biome-ignore format: a table is read in columns
test.each([
  { deal: [45, 32], caps: { 2: 13, 1: 19 }, why: 'the cap does not divide' },
  { deal: [2, 32],  caps: { 1: 2, 0: 30 },  why: 'fewer slots than workers' },
  { deal: [128, 1], caps: { 128: 1 },       why: 'one worker has all' },
] as const)('a cap of $deal.0 over $deal.1 workers stays the cap ($why)', ({ deal: [cap, workers], caps }) => {
  const counts: Record<number, number> = {};
  for (const share of dealLoad(workers, cap)) counts[share.cap ?? -1] = (counts[share.cap ?? -1] ?? 0) + 1;
  expect(counts).toEqual(caps);
});

test('a trace at speed 2 takes half the time, and parts of it keep their rows', () => {
  const at = Float64Array.of(0, 3e9, 3e9, 6.000_001e9, 12e9);
  expect([...traceSchedule(at, { speed: 2, from_s: 0 }).due_ns]).toEqual([
    0, 1.5e9, 1.5e9, 3_000_000_500, 6e9,
  ]);
  const part = traceSchedule(at, { speed: 1, from_s: 3, to_s: 12 });
  expect([...part.due_ns]).toEqual([0, 0, 3_000_001_000]);
  expect([...part.row]).toEqual([1, 2, 3]);
});
