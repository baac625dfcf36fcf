import { instant } from '@perwatt/core';
import { steadyPowerSource, testDomain } from '@perwatt/test-kit';
import { expect, test } from 'vitest';
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
