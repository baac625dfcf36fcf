import { existsSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { type CounterMoment, type LiveCounter, liveCounter, momentAt } from '@perwatt/test-kit';
import { afterEach, describe, expect, test } from 'vitest';
import { addonPath } from './addon.js';
import { outcomeOf } from './kernel-outcome.js';
import { askProcess, kernelProgram } from './kernel-process.js';
import { type KernelEvent, type NativeRow, PROTOCOL_VERSION } from './protocol.js';

const child = fileURLToPath(new URL('../dist/kernels-child.js', import.meta.url));
const missing = [
  ...[addonPath, child].filter((file) => !existsSync(file)).map((file) => `${file} is not built`),
  ...(process.platform === 'linux' ? [] : ['threads are watched through /proc']),
  ...((loadavg()[0] ?? 0) > 4 * availableParallelism()
    ? [`too much else runs here (load ${loadavg()[0]}): the counter is a process that has to keep pace`]
    : []),
];
if (missing.length > 0)
  process.stdout.write(`skipped: kernels metered by a live counter: ${missing.join('; ')}\n`);

const IDLE_W = 100;
const BUSY_W = 60;
/** Idle power alone wraps it between the first window's beginning and the last one's end; nearly half a second of it can go unseen. */
const MAX_UJ = 240_000_000;
const WINDOW_NS = 7e8;
/** Slower than powercap says that it is. */
const PERIOD_MS = 12;

type Result = Extract<KernelEvent, { readonly event: 'result' }>;

let counter: LiveCounter | null = null;
afterEach(async () => {
  await counter?.stop();
  counter?.remove();
  counter = null;
});

/** Meters one kernel in its process by a counter that runs at `busy_w` a core more than idle, and tells every phase. */
async function metered(busy_w: number, onPhase: (phase: string) => void = () => {}) {
  const live = await liveCounter({
    idle_w: IDLE_W,
    busy_w,
    max_uj: MAX_UJ,
    period_ms: PERIOD_MS,
    threads: '^kernels-',
  });
  counter = live;
  const { file, args } = kernelProgram();
  const results: Result[] = [];
  const end = await askProcess(
    {
      kind: 'run',
      version: PROTOCOL_VERSION,
      device: 'cpu:0',
      cells: [{ index: 0, spec: { kind: 'fma', dtype: 'f32', n: 2 ** 16, k: 48 }, skip: [] }],
      check_only: false,
      timing: { most_ns: 5e7, deviation_ratio: 0.5 },
      energy: { windows: 3, least_ns: WINDOW_NS, warm_up_ns: 2e8 },
      power: { root: live.root, libraries: { nvml: '/nowhere', amdsmi: '/nowhere', level_zero: '/nowhere' } },
      threads: 1,
    },
    {
      program: { file: '/bin/sh', args: ['-c', 'echo $$ > "$0"; exec "$@"', live.pidFile, file, ...args] },
      env: process.env,
      deadline_ms: 60_000,
      signal: new AbortController().signal,
      onEvent: (event) => {
        if (event.event === 'result') results.push(event);
        if (event.event === 'phase') onPhase(event.phase);
      },
    },
  );
  expect(end).toEqual({ how: 'ended', reason: null });
  const [result] = results;
  if (result === undefined) throw new Error('there is no result');
  return { result, trace: await live.stop() };
}

type Window = NonNullable<NativeRow['energy']>['windows'][number];

/** What the counter should have counted in a window, and the most that it counts between two writes there. */
function truthOf(trace: readonly CounterMoment[], { start_ns, end_ns }: Window) {
  const [open, close] = [momentAt(trace, start_ns), momentAt(trace, end_ns)];
  const within = trace.filter(({ at_ns }) => at_ns >= start_ns - 1e8 && at_ns <= end_ns + 1e8);
  const steps = within.map(({ energy_j }, i) => energy_j - (within[i - 1]?.energy_j ?? energy_j));
  return {
    energy_j: close.energy_j - open.energy_j,
    busy_s: close.busy_s - open.busy_s,
    step_j: Math.max(...steps),
  };
}

describe.skipIf(missing.length > 0)('a kernel metered by a live counter', { retry: 2 }, () => {
  test('has the joules that were drawn, from tick to tick, wraps undone, idle power known', async () => {
    const { result, trace } = await metered(BUSY_W);
    const { energy } = result.row;
    const valid = energy?.windows.filter(({ invalid }) => invalid === null) ?? [];
    expect(result.row.energy_reason).toBeNull();
    expect(valid.length).toBeGreaterThanOrEqual(3);
    const truths = valid.map((window) => truthOf(trace, window));
    for (const [i, { energy_j, step_j }] of truths.entries()) {
      const window = valid[i];
      expect((window?.end_ns ?? 0) - (window?.start_ns ?? 0)).toBeGreaterThanOrEqual(WINDOW_NS);
      expect(Math.abs((window?.energy_j ?? 0) - energy_j)).toBeLessThanOrEqual(2 * step_j);
    }
    const laps = (at_ns: number) => Math.floor((momentAt(trace, at_ns).energy_j * 1e6) / (MAX_UJ + 1));
    expect(laps(valid.at(-1)?.end_ns ?? 0)).toBeGreaterThan(laps(valid[0]?.start_ns ?? 0));
    expect((energy?.idle?.power_w ?? 0) / IDLE_W).toBeCloseTo(1, 1);

    const outcome = outcomeOf(result);
    const perLaunch = (of: (truth: ReturnType<typeof truthOf>) => number) =>
      truths.reduce((sum, truth, i) => sum + of(truth) / (valid[i]?.launches ?? 1), 0) / truths.length;
    const edges_j = perLaunch(({ step_j }) => 2 * step_j);
    const gross_j = perLaunch(({ energy_j }) => energy_j);
    const net_j = perLaunch(({ busy_s }) => BUSY_W * busy_s);
    expect(outcome.energy).toMatchObject({ scope: 'package', provenance: 'counter', windows: valid.length });
    expect(outcome.energy?.domain).toBe('rapl-powercap:rapl:0:package-0');
    const { gross_j: told_j, lo_j, hi_j } = outcome.energy ?? { gross_j: 0, lo_j: 0, hi_j: 0 };
    expect(lo_j - edges_j).toBeLessThanOrEqual(gross_j);
    expect(hi_j + edges_j).toBeGreaterThanOrEqual(gross_j);
    expect(told_j / gross_j).toBeCloseTo(1, 1);
    expect((outcome.energy?.net_j ?? 0) / net_j).toBeCloseTo(1, 1);
    expect(outcome.energy?.duty_ratio).toBeGreaterThanOrEqual(0.97);
    expect(outcome.energy_reason).toBeNull();
  });

  test('that draws less than idle has a net energy below 0, and says so', async () => {
    const { result, trace } = await metered(-50);
    const { energy, energy_reason } = outcomeOf(result);
    expect(energy_reason).toBeNull();
    const valid = result.row.energy?.windows.filter(({ invalid }) => invalid === null) ?? [];
    const net_j = valid.map((window) => (-50 * truthOf(trace, window).busy_s) / window.launches);
    const mean_j = net_j.reduce((sum, value) => sum + value, 0) / net_j.length;
    expect(energy?.gross_j).toBeGreaterThan(0);
    expect(energy?.net_j).toBeLessThan(0);
    expect((energy?.net_j ?? 0) / mean_j).toBeCloseTo(1, 1);
  });

  test('whose counter stops has no energy, the reason, and its time all the same', async () => {
    const { result } = await metered(BUSY_W, (phase) => {
      if (phase === 'energy') counter?.freeze();
    });
    const outcome = outcomeOf(result);
    expect(outcome.energy).toBeNull();
    expect(outcome.energy_reason).toMatch(/did not move|moved only once|stood still|s long/);
    expect(outcome).toMatchObject({ status: 'ok' });
    expect(outcome.time?.mean_ns).toBeGreaterThan(0);
  });
});
