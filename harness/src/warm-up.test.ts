import { fc, test as property } from '@fast-check/vitest';
import type { WarmUpRule } from '@perwatt/core';
import { expect, test } from 'vitest';
import { protocolOf } from './protocols.js';
import { runPlan } from './run-matrix.js';
import { stability, type WarmRound, warmUntilStable } from './stability.js';
import { virtualWorld } from './virtual-world.fixture.js';
import { quickPlan, temporaryFolder } from './world.fixture.js';

const rule = (more: Partial<WarmUpRule> = {}): WarmUpRule => ({
  until: 'stable',
  window: 3,
  tolerance: 0.1,
  max_rounds: 30,
  max_s: 300,
  ...more,
});

const rounds = (...values: readonly (readonly [number | null, number | null])[]): WarmRound[] =>
  values.map(([tokens_per_s, power_w]) => ({ tokens_per_s, power_w }));

// biome-ignore format: a table is read in columns
test.each<[seen: WarmRound[], stable: boolean, blind: boolean, why: string]>([
  [[],                                              false, false, 'nothing was sent'],
  [rounds([10, 5], [10, 5]),                        false, false, 'less than a window'],
  [rounds([1, 50], [10, 5], [10.5, 5], [10, 5.2]),  true,  false, 'the last three agree'],
  [rounds([10, 5], [10, 5], [12, 5]),               false, false, 'throughput still grows'],
  [rounds([10, 5], [10, 6], [10, 7]),               false, false, 'power still grows'],
  [rounds([10, null], [10, null], [10, null]),      true,  false, 'without power, by throughput alone'],
  [rounds([null, 5], [null, 5], [null, 5]),         true,  false, 'without tokens, by power alone'],
  [rounds([null, null], [null, null], [null, null]), false, true, 'neither'],
  [rounds([0, 5], [0, 5], [0, 5]),                  true,  false, 'no tokens at all are no throughput to go by'],
])('rounds %# are stable or not', (seen, stable, blind) => {
  expect(stability(seen, rule())).toMatchObject({ stable, blind });
});

property.prop([
  fc.array(fc.tuple(fc.option(fc.double({ noNaN: true })), fc.option(fc.double({ noNaN: true }))), {
    minLength: 1,
  }),
  fc.integer({ min: 2, max: 60 }),
  fc.boolean(),
])(
  'a warm-up ends, whatever is seen, even on a clock that stands still',
  async (script, max_rounds, still) => {
    let sent = 0;
    const facts = await warmUntilStable(rule({ max_rounds }), {
      round: async (n) => {
        sent += 1;
        const [tokens_per_s, power_w] = script[n % script.length] ?? [null, null];
        return { tokens_per_s, power_w };
      },
      nowS: () => (still ? 0 : sent),
      signal: new AbortController().signal,
    });
    expect(sent).toBeLessThanOrEqual(max_rounds);
    expect(facts.rounds).toBe(sent);
    expect(facts.stable || facts.reason !== null).toBe(true);
  },
);

const never = new AbortController().signal;

const matrix = (warm_up: string, concurrency = 1) => `
name: t
protocol: quick
warm_up: ${warm_up}
axes:
  model: [m1]
  dataset: [d1]
  load: [{ concurrency: ${concurrency} }]
`;

/** A device whose calls take twice as long until so many of them were made. */
function warming(cold: number) {
  let calls = 0;
  return virtualWorld({
    items: 8,
    call_ns: () => {
      calls += 1;
      return calls <= cold ? 40_000_000 - calls * 3_000_000 : 10_000_000;
    },
  }).deps;
}

async function warmed(text: string, deps: ReturnType<typeof warming>) {
  const plan = await quickPlan(text, deps);
  const protocol = { ...protocolOf(plan.matrix), baseline_s: 0.05, cooldown_s: 0 };
  const { run } = await runPlan({ ...plan, protocol }, deps, { root: temporaryFolder(), signal: never });
  const [cell] = run.cells();
  return { cell, calls: run.readCalls(cell!.cell_id).rows };
}

test('a cell is warmed until it no longer gets faster; nothing of the cold calls is measured', async () => {
  const { cell, calls } = await warmed(matrix('{ until: stable, tolerance: 0.05 }'), warming(5));
  expect(cell?.sittings[0]).toMatchObject({
    warmup_calls: 8,
    warm_up: { stable: true, rounds: 8, reason: null },
  });
  const measured = calls.filter((c) => c.phase === 'measure').map((c) => Number(c.end_ns - c.dispatch_ns));
  expect(Math.max(...measured)).toBe(10_000_000);
  expect(cell?.verdict?.reasons.map((r) => r.code)).toEqual(['quick']);
});

test('a cell that never settles is measured all the same and says so', async () => {
  const { cell } = await warmed(matrix('{ until: stable, tolerance: 0.01, max_rounds: 4 }'), warming(9));
  const flag = cell?.verdict?.reasons.find((r) => r.code === 'warm_up_unstable');
  expect(flag?.text).toMatch(
    /did not settle: not within 1\.0 % after 4 rounds and 0\.1 s: throughput \d+\.\d %, power 0\.0 %$/,
  );
  expect(cell?.status).toBe('done');
});

test('a round has as many queries as the cell keeps in flight', async () => {
  const { cell, calls } = await warmed(matrix('{ until: stable }', 4), warming(0));
  expect(cell?.sittings[0]).toMatchObject({ warmup_calls: 12, warm_up: { rounds: 3 } });
  const first = calls.filter((c) => c.phase === 'warmup').slice(0, 4);
  expect(new Set(first.map((c) => c.dispatch_ns)).size).toBe(1);
});
