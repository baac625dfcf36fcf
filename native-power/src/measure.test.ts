import type { Clock, PowerSource, RecorderStatus } from '@perwatt/core';
import {
  manualClock,
  powercapTree,
  scriptedPowerSource,
  steadyPowerSource,
  testDomain,
} from '@perwatt/test-kit';
import { expect, onTestFinished, test } from 'vitest';
import { loaded } from './binding.js';
import { measure } from './measure.js';
import { powerSources } from './sources.js';

const pkg = testDomain({ id: 'package-0', provenance: 'counter' });
const dram = testDomain({ id: 'dram-0', provenance: 'counter', scope: 'dram' });
const psys = testDomain({ id: 'psys', provenance: 'counter', scope: 'system', in_total: false });

const steady = (clock: Clock, watts: readonly number[], domains = [pkg, dram, psys]) =>
  steadyPowerSource({ domains: domains.slice(0, watts.length), clock, watts: (d) => watts[d] ?? 0 });

test('returns what the work returned, with what was drawn: summed, and by domain', async () => {
  const clock = manualClock();
  const work = async () => {
    clock.advance(2e9);
    return 'done';
  };
  const result = await measure(work, { sources: [steady(clock, [40, 2.5, 60])], clock });
  expect(result).toMatchObject({
    value: 'done',
    duration_ns: 2e9,
    energy_j: 85,
    mean_power_w: 42.5,
    provenance: 'counter',
    reason: null,
  });
  expect(result.lo_j).toBeCloseTo(85 - 2 * 42.5 * 0.001, 9);
  expect(result.hi_j).toBeCloseTo(85 + 2 * 42.5 * 0.001, 9);
  expect(result.domains.map(({ domain, energy_j }) => [domain.id, energy_j])).toEqual([
    ['package-0', 80],
    ['dram-0', 5],
    ['psys', 120],
  ]);
});

// biome-ignore format: a table is read in columns
test.each<[why: string, changes: Partial<typeof pkg>, lo: number, hi: number]>([
  ['a slow sensor',              { update_period_ns: 1e8 },              80 - 8,               80 + 8],
  ['a coarse counter',           { quantum: 0.5 },                       80 - 1 - 0.08,        80 + 1 + 0.08],
  ['a coarse gauge, all along',  { kind: 'gauge', quantum: 0.5 },        80 - 1 - 0.08,        80 + 1 + 0.08],
  ['a declared scale error',     { scale_error_ratio: 0.1 },             (80 - 0.08) * 0.9,    (80 + 0.08) * 1.1],
  ['a sensor of half the time',  { sensing_share_ratio: 0.5 },           80 - 0.12,            80 + 0.12],
])('bounds: %s', async (_why, changes, lo, hi) => {
  const clock = manualClock();
  const source = steady(clock, [40], [{ ...pkg, ...changes }]);
  const result = await measure(() => clock.advance(2e9), { sources: [source], clock });
  expect(result.lo_j).toBeCloseTo(lo, 9);
  expect(result.hi_j).toBeCloseTo(hi, 9);
});

test('a domain that gives no number at an end makes the sum unknown, not smaller', async () => {
  const source = scriptedPowerSource({
    domains: [pkg, dram],
    readings: [0, 1, 2].map((s) =>
      [0, 1].map((domain) => ({
        at_ns: BigInt(s) * 1_000_000_000n,
        domain,
        booked_energy_j: 10 * s,
        event: domain === 1 && s === 2 ? ('missing' as const) : ('ok' as const),
      })),
    ),
  });
  const result = await measure(() => 1, { sources: [source], clock: manualClock() });
  expect(result).toMatchObject({ energy_j: null, lo_j: null, hi_j: null, mean_power_w: null });
  expect(result.reason).toMatch(/^dram-0: /);
});

test('work that is over before a sensor could tell has no energy, not 0', async () => {
  const clock = manualClock();
  const slow = steady(clock, [40], [{ ...pkg, update_period_ns: 1e8 }]);
  const result = await measure(() => clock.advance(1.9e8), { sources: [slow], clock });
  expect(result).toMatchObject({ energy_j: null, reason: 'package-0: over before its sensor could tell' });
});

test('energy of unlike provenance is told by domain and not summed', async () => {
  const clock = manualClock();
  const sources = [
    steady(clock, [40]),
    steady(clock, [5], [testDomain({ id: 'cpu', scope: 'cpu', kind: 'estimate', provenance: 'estimated' })]),
  ];
  const result = await measure(() => clock.advance(1e9), { sources, clock });
  expect(result).toMatchObject({
    energy_j: null,
    provenance: null,
    reason: 'counter and estimated energy are not summed',
  });
  expect(result.domains.map(({ energy_j }) => energy_j)).toEqual([40, 5]);
});

test('what the work throws passes through, and nothing runs on', async () => {
  const clock = manualClock();
  const source = steady(clock, [40]);
  let stops = 0;
  const watched: PowerSource = {
    ...source,
    start(options) {
      const recorder = source.start(options);
      return {
        ...recorder,
        stop() {
          stops += 1;
          recorder.stop();
        },
      };
    },
  };
  const failing = () => {
    throw new Error('the work failed');
  };
  await expect(measure(failing, { sources: [watched], clock })).rejects.toThrow('the work failed');
  expect(stops).toBe(1);
});

test.skipIf(loaded.binding === null)('reads the real counters of a tree', async () => {
  const tree = powercapTree([{ zone: 'intel-rapl:0', name: 'package-0', energy_uj: 5 }]);
  onTestFinished(tree.remove);
  const result = await measure(
    () =>
      new Promise((resolve) => {
        tree.set('intel-rapl:0', 1_000_005);
        setTimeout(resolve, 20);
      }),
    { sources: powerSources({ root: tree.root }).filter(({ name }) => name === 'rapl-powercap') },
  );
  expect(result).toMatchObject({ energy_j: 1, provenance: 'counter', reason: null });
});

if (loaded.binding === null) process.stderr.write(`tests with the addon skipped: ${loaded.problem}\n`);

/** A source whose recorder also has this to say. */
const saying = (source: PowerSource, more: Partial<RecorderStatus>): PowerSource => ({
  ...source,
  start(options) {
    const recorder = source.start(options);
    return { ...recorder, status: () => ({ ...recorder.status(), ...more }) };
  },
});

test('bounds go by the update period that was observed where it is longer than the declared one', async () => {
  const clock = manualClock();
  const seen = (ns: number) => [
    { domain: pkg.id, update_period_ns: ns, reason: null, quantum: null, samples: 9 },
  ];
  const measured = (ns: number) =>
    measure(() => clock.advance(2e9), {
      sources: [saying(steady(clock, [40]), { observed: seen(ns) })],
      clock,
    });
  expect((await measured(1e8)).hi_j).toBeCloseTo(80 + 8, 9);
  expect((await measured(1e3)).hi_j).toBeCloseTo(80 + 0.08, 9);
  expect(await measured(2e9)).toMatchObject({ energy_j: null });
});

test('a counter that stood still beside its power gives way to it, and says so', async () => {
  const clock = manualClock();
  const counter = testDomain({ id: 'gpu:energy', provenance: 'counter', scope: 'gpu' });
  const gauge = testDomain({
    id: 'gpu:power',
    provenance: 'integrated',
    scope: 'gpu',
    kind: 'gauge',
    in_total: false,
  });
  const source = (flags: readonly string[]) => saying(steady(clock, [0, 40], [counter, gauge]), { flags });
  const measured = (flags: readonly string[]) =>
    measure(() => clock.advance(2e9), { sources: [source(flags)], clock });
  const result = await measured(['stale->gauge:gpu:energy']);
  expect(result).toMatchObject({ energy_j: 80, provenance: 'integrated', reason: null });
  expect(result.domains[0]?.domain).toMatchObject({
    id: 'gpu:energy',
    kind: 'gauge',
    provenance: 'integrated',
    note: 'its counter stood still: the power of gpu:power, integrated',
  });
  expect(await measured([])).toMatchObject({ energy_j: 0, provenance: 'counter' });
});
