import type { PowerSource } from '@perwatt/core';
import type { PowerSeries } from '@perwatt/metrics';
import { openRun } from '@perwatt/records';
import { steadyPowerSource, testDomain } from '@perwatt/test-kit';
import { expect, test } from 'vitest';
import type { PowerLog } from './power-log.js';
import { resumeRun, runPlan } from './run-matrix.js';
import { settleCell } from './settle.js';
import { fakeWorld, quickPlan, temporaryFolder } from './world.fixture.js';

const never = new AbortController().signal;

test('a sitting that a crash ended before anything was measured takes nothing from the others', async () => {
  const deps = fakeWorld({ items: 12, call_ms: 4 });
  const text = 'name: t\nprotocol: quick\naxes: {model: [m1], dataset: [d1]}';
  const plan = await quickPlan(text, deps);
  const { run: folder } = await runPlan(plan, deps, { root: temporaryFolder(), signal: never });
  const [cell] = folder.cells();
  const [sitting] = cell!.sittings;
  const crashed = {
    ...sitting!,
    sitting: 1,
    state: 'open' as const,
    start_ns: sitting!.end_ns!,
    end_ns: null,
  };
  folder.writeCell({
    ...cell!,
    status: 'running',
    sittings: [sitting!, { ...crashed, boot_id: 'a boot without samples' }],
  });
  const options = { root: '', signal: never };
  const second = await resumeRun(openRun(folder.path), null, { deps, protocol: plan.protocol, options });
  expect(second.run.cells()[0]).toMatchObject({ status: 'done', ledgers: cell!.ledgers });
});

test('a counter that stood still gives way to the power beside it, in queries and ledgers, and stays flagged', async () => {
  const deps = fakeWorld({ items: 24, call_ms: 60 });
  const gpu = { source: 'gpu', scope: 'gpu', quantum: 0.001 } as const;
  const steady = steadyPowerSource({
    name: 'gpu',
    clock: deps.clock,
    domains: [
      testDomain({ ...gpu, id: 'gpu:energy', provenance: 'counter' }),
      testDomain({ ...gpu, id: 'gpu:power', kind: 'gauge', provenance: 'integrated', in_total: false }),
    ],
    watts: (domain) => (domain === 0 ? 0 : 9),
  });
  const source: PowerSource = {
    ...steady,
    start(options) {
      const recorder = steady.start(options);
      return {
        ...recorder,
        status: () => ({ ...recorder.status(), flags: ['stale->gauge:gpu:energy'] }),
      };
    },
  };
  const text = 'name: t\nprotocol: quick\naxes: {model: [m1], dataset: [d1]}';
  const world = { ...deps, powerSources: () => [source] };
  const plan = await quickPlan(text, world);
  const { run } = await runPlan(plan, world, { root: temporaryFolder(), signal: never });
  const [cell] = run.cells();
  const ledger = (id: string) => cell?.ledgers.find(({ domain }) => domain === id);
  expect([ledger('gpu:energy')?.in_total, ledger('gpu:power')?.in_total]).toEqual([false, true]);
  const queries = run.readQueries(cell!.cell_id).rows;
  const sum = queries.reduce((total, { energy_gross_j }) => total + (energy_gross_j ?? Number.NaN), 0);
  expect(sum).toBeGreaterThan(9);
  expect(sum + (ledger('gpu:power')?.unattributed_j ?? Number.NaN)).toBeCloseTo(
    ledger('gpu:power')?.meter_j ?? Number.NaN,
    6,
  );
  expect(cell?.sittings[0]?.power_flags).toContainEqual({ source: 'gpu', flag: 'stale->gauge:gpu:energy' });
});

test('a sitting without a baseline that answered nothing leaves the net energy of the others', async () => {
  const deps = fakeWorld({ items: 12, call_ms: 4 });
  const plan = await quickPlan('name: t\nprotocol: quick\naxes: {model: [m1], dataset: [d1]}', deps);
  const { run } = await runPlan(plan, deps, { root: temporaryFolder(), signal: never });
  const [file] = run.cells();
  const [sitting] = file!.sittings;
  const [ledger] = file!.ledgers;
  const start = BigInt(sitting!.end_ns!) + 1_000_000_000n;
  const at_ns = BigInt64Array.from({ length: 21 }, (_, i) => start + BigInt(i - 5) * 100_000_000n);
  const booked_j = Float64Array.from(at_ns, (_, i) => i);
  const domain = testDomain({ id: ledger!.domain, source: 'fake', update_period_ns: 1_000_000 });
  const series: PowerSeries = { domain, at_ns, booked_j, lo_j: booked_j, hi_j: booked_j };
  const power = { series: () => [series], flags: () => [], forgetBefore: () => {} } as unknown as PowerLog;
  const empty = { ...sitting!, sitting: 1, start_ns: String(start), baselines: [] };
  const opened = { ...empty, end_ns: String(start + 1_000_000_000n) };
  run.writeCell({ ...file!, sittings: [sitting!, opened], ledgers: [{ ...ledger!, net_j: 1.5 }] });
  const live = { power, after: null };
  const { ledgers } = settleCell(plan.cells[0]!, { run, plan, sitting: 1, live }).file;
  expect(ledgers[0]?.net_j).toBe(1.5);
  expect(ledgers[0]?.meter_j).toBeCloseTo(ledger!.meter_j! + 10, 6);
});
