import { openRun } from '@perwatt/records';
import { expect, test } from 'vitest';
import { resumeRun, runPlan } from './run-matrix.js';
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
