import { instant } from '@perwatt/core';
import { steadyPowerSource, testDomain } from '@perwatt/test-kit';
import { expect, test } from 'vitest';
import { withHostAfter } from './host-after.js';
import { runPlan } from './run-matrix.js';
import { fakeWorld, quickPlan, temporaryFolder } from './world.fixture.js';

const yaml = 'name: t\naxes: {model: [m1], dataset: [d1]}';

/** A host whose power has risen a hundredfold by the time that it is idle again. */
const warmingHost = () =>
  steadyPowerSource({
    name: 'fake',
    domains: [testDomain({ id: 'fake:0', source: 'fake', update_period_ns: 1_000_000 })],
    clock: { now: () => instant(process.hrtime.bigint()) },
    period_ns: 5_000_000,
    watts: (_, elapsed_ns) => 10 + elapsed_ns / 1e6,
  });

test('the idle host after a cell counts in its energy net of the idle host, and in its verdict', async () => {
  const deps = { ...fakeWorld({ call_ms: 20 }), powerSources: () => [warmingHost()] };
  const { run } = await runPlan(await quickPlan(yaml, deps), deps, {
    root: temporaryFolder(),
    signal: new AbortController().signal,
  });
  const [cell] = run.cells();
  const { baselines, start_ns, end_ns } = cell!.sittings[0]!;
  const host = (when: string) => {
    const own = baselines.find((b) => b.kind === 'host_idle' && b.when === when)!;
    return { at: (Number(own.start_ns) + Number(own.end_ns)) / 2, power_w: own.powers[0]!.power_w! };
  };
  const [before, after] = [host('before'), host('after')];
  const middle = (Number(start_ns) + Number(end_ns)) / 2;
  const share = (middle - before.at) / (after.at - before.at);
  const idle_w = before.power_w + share * (after.power_w - before.power_w);
  const seconds = Number(BigInt(end_ns!) - BigInt(start_ns)) / 1e9;
  const { meter_j, net_host_j } = cell!.ledgers[0]!;
  expect(net_host_j).toBeCloseTo(meter_j! - idle_w * seconds, 6);
  expect(Math.abs(net_host_j! - (meter_j! - before.power_w * seconds))).toBeGreaterThan(1);
  expect(cell!.verdict?.reasons.map(({ text }) => text)).toContainEqual(
    expect.stringMatching(/^idle power of fake:0 \(host_idle\) changed by/),
  );
});

test('an idle host that was not measured before a cell is known from after it, and the verdict says so', async () => {
  const deps = { ...fakeWorld({ call_ms: 20 }), powerSources: () => [warmingHost()] };
  const plan = await quickPlan(yaml, deps);
  const { run } = await runPlan(plan, deps, {
    root: temporaryFolder(),
    signal: new AbortController().signal,
  });
  const [whole] = run.cells();
  const [own] = whole!.sittings;
  const after = own!.baselines.find((b) => b.kind === 'host_idle' && b.when === 'after')!;
  const loaded = own!.baselines.filter(({ kind }) => kind === 'loaded_idle');
  const ledgers = whole!.ledgers.map((ledger) => ({ ...ledger, net_host_j: null }));
  const bare = { ...own!, baselines: loaded };
  const filledWith = (...others: (typeof bare)[]) => {
    run.writeCell({ ...whole!, sittings: [bare, ...others], ledgers });
    return withHostAfter(plan.cells[0]!, { run, plan, sitting: 0, after });
  };
  const filled = filledWith();
  const seconds = Number(BigInt(own!.end_ns!) - BigInt(own!.start_ns)) / 1e9;
  const { meter_j, net_host_j } = filled.ledgers[0]!;
  expect(net_host_j).toBeCloseTo(meter_j! - after.powers[0]!.power_w! * seconds, 6);
  expect(filled.verdict?.reasons.map(({ code }) => code)).toContain('baseline_late');
  expect(filledWith({ ...bare, sitting: 1 }).ledgers[0]?.net_host_j).toBeNull();
  expect(filledWith({ ...bare, sitting: 1, end_ns: bare.start_ns }).ledgers[0]?.net_host_j).toBeCloseTo(
    net_host_j!,
    6,
  );
});
