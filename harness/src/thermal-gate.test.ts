import { fc, test as property } from '@fast-check/vitest';
import type { ThermalGate } from '@perwatt/core';
import { expect, test } from 'vitest';
import type { Levels } from './levels.js';
import { protocolOf } from './protocols.js';
import { runPlan } from './run-matrix.js';
import { coolDown, type GateWorld } from './thermal-gate.js';
import { virtualWorld } from './virtual-world.fixture.js';
import { quickPlan, temporaryFolder } from './world.fixture.js';

const gate = (more: Partial<ThermalGate> = {}): ThermalGate => ({
  until: 'idle',
  temperature_c: 5,
  floor_c: 35,
  power_w: 3,
  power_ratio: 0.05,
  hold_s: 30,
  max_s: 300,
  ...more,
});

const levels = (celsius: number | null, watts: number | null): Levels => ({
  temperatures_c: new Map(celsius === null ? [] : [['gpu gpu_temp_c', celsius]]),
  powers_w: new Map(watts === null ? [] : [['gpu:0', watts]]),
});

/** A world whose time moves only by waiting. */
function worldOf(at: (second: number) => Levels): GateWorld & { readonly waits: () => number } {
  let now = 0;
  let waits = 0;
  return {
    read: () => at(now),
    nowS: () => now,
    wait: async (seconds) => {
      now += seconds;
      waits += 1;
    },
    signal: new AbortController().signal,
    waits: () => waits,
  };
}

const idle = levels(40, 60);

// biome-ignore format: a table is read in columns
test.each<[at: (s: number) => Levels, state: string, waited_s: number, why: string]>([
  [() => levels(40, 60),                      'cool',    30,  'idle from the start: it is held for 30 s'],
  [(s) => levels(s < 40 ? 80 : 44, 60),       'cool',    70,  'cool at 40 s, released 30 s later'],
  [(s) => levels(44, s < 40 ? 300 : 62),      'cool',    70,  'the same by power'],
  [(s) => levels(s === 50 ? 46 : 44, 60),     'cool',    30,  'warm again only after it was released'],
  [(s) => levels(s % 20 === 0 ? 46 : 44, 60), 'gave_up', 300, 'never cool for so long'],
  [() => levels(80, 60),                      'gave_up', 300, 'a temperature that never falls'],
  [() => levels(40, 63.1),                    'gave_up', 300, '3 W above 60 W, and 5 % of it, is the most'],
  [() => levels(45, 63),                      'cool',    30,  'at the limits'],
  [() => levels(null, 60),                    'cool',    30,  'a temperature that can no longer be read is not waited for'],
  [() => levels(null, null),                  'on_time', 0,   'nothing to watch'],
])('a gate over levels %# ends as it should', async (at, state, waited_s) => {
  expect(await coolDown(gate(), idle, worldOf(at))).toMatchObject({ state, waited_s });
});

test('a gate without an idle state to come back to lets pass; where it gives up it names what was too high', async () => {
  expect(
    await coolDown(
      gate(),
      null,
      worldOf(() => idle),
    ),
  ).toEqual({ state: 'first', waited_s: 0, readings: [] });
  const { readings } = await coolDown(
    gate(),
    idle,
    worldOf(() => levels(80, 60)),
  );
  expect(readings).toEqual([{ what: 'gpu gpu_temp_c', unit: '°C', value: 80, idle: 40, limit: 45 }]);
});

test('below the floor everything is cool', async () => {
  const cold = levels(20, null);
  expect(
    await coolDown(
      gate(),
      cold,
      worldOf(() => levels(34, null)),
    ),
  ).toMatchObject({ state: 'cool' });
  expect(
    await coolDown(
      gate({ floor_c: 0 }),
      cold,
      worldOf(() => levels(34, null)),
    ),
  ).toMatchObject({
    state: 'gave_up',
  });
});

property.prop([
  fc.array(
    fc.record({ c: fc.option(fc.double({ noNaN: true })), w: fc.option(fc.double({ noNaN: true })) }),
    { minLength: 1 },
  ),
  fc.double({ min: 0.1, max: 500, noNaN: true }),
  fc.double({ min: 0, max: 100, noNaN: true }),
  fc.boolean(),
])(
  'a gate ends, whatever is read, even on a clock that stands still',
  async (script, max_s, hold_s, still) => {
    const world = worldOf((second) => {
      const step = script[Math.floor(second) % script.length];
      return levels(step?.c ?? null, step?.w ?? null);
    });
    const stuck: GateWorld = { ...world, nowS: () => 0 };
    await coolDown(gate({ max_s, hold_s }), idle, still ? stuck : world);
    expect(world.waits()).toBeLessThanOrEqual(Math.ceil(max_s) + 1);
  },
);

const never = new AbortController().signal;

const matrix = `
name: t
protocol: quick
order: as-written
cool_down: { until: idle, hold_s: 2, max_s: 60 }
axes:
  model: [m1, m2]
  dataset: [d1]
  strategy: [single, double]
`;

/** Hot for so many seconds after the last call. */
function cooling(seconds: number) {
  let last_ns = Number.NEGATIVE_INFINITY;
  const world = virtualWorld({
    items: 2,
    celsius: (at_ns) => (at_ns - last_ns < seconds * 1e9 ? 85 : 30),
    call_ns: () => {
      last_ns = Number(world.time.clock.now());
      return 1e9;
    },
  });
  return world.deps;
}

async function gates(deps: ReturnType<typeof cooling>) {
  const plan = await quickPlan(matrix, deps);
  const protocol = { ...protocolOf(plan.matrix), baseline_s: 0.05 };
  const { run } = await runPlan({ ...plan, protocol }, deps, { root: temporaryFolder(), signal: never });
  return run.cells().toSorted((a, b) => a.position - b.position);
}

test('cells wait until the machine is as cool as it was when idle; the first has nothing to wait for', async () => {
  const cells = await gates(cooling(20));
  const facts = cells.map((cell) => cell.sittings[0]?.cool_down);
  expect(facts.map((f) => f?.state)).toEqual(['first', 'cool', 'cool', 'cool']);
  for (const each of facts.slice(1)) {
    expect(each?.waited_s).toBeGreaterThan(18);
    expect(each?.waited_s).toBeLessThan(26);
  }
  expect(cells.flatMap((c) => c.verdict?.reasons ?? []).map((r) => r.code)).not.toContain('warm_start');
});

test('a machine that does not cool down is not waited for for ever: the cell is flagged, with the figure', async () => {
  const cells = await gates(cooling(500));
  const reasons = cells.map(
    (cell) => cell.verdict?.reasons.find((r) => r.code === 'warm_start')?.text ?? null,
  );
  expect(reasons[0]).toBeNull();
  expect(reasons.slice(1)).toEqual(
    Array(3).fill(
      'it began before the machine was idle again: after 60 s fake gpu_temp_c 85.0 °C, limit 35.0 °C',
    ),
  );
});
