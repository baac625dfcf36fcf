import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, writeSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Domain, type Instant, instant, sampleEvents } from '@perwatt/core';
import { energyInWindow, type PowerSeries } from '@perwatt/metrics';
import { clock, openAgent, powerSources } from '@perwatt/native-power';
import { powercapTree } from '@perwatt/test-kit';
import { expect, onTestFinished, test, vi } from 'vitest';

const bin = fileURLToPath(new URL('../bin/perwatt.js', import.meta.url));
const built = existsSync(fileURLToPath(new URL('../dist/commands/agent.js', import.meta.url)));
const reason =
  powerSources().length === 0 ? 'the addon is not built' : built ? null : '`npm run build` has not run';

interface Agent {
  readonly process: ChildProcess;
  readonly url: string;
}

/** Starts `perwatt agent` as a process of its own and waits until it serves. */
function startAgent(root: string, port: number): Promise<Agent> {
  const child = spawn(
    process.execPath,
    [bin, 'agent', '--port', String(port), '--token-env', 'TOKEN', '--source', 'rapl-powercap', '--json'],
    {
      env: { ...process.env, PERWATT_SYSFS_ROOT: root, TOKEN: 'secret' },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  onTestFinished(() => void child.kill('SIGKILL'));
  return new Promise((resolve, reject) => {
    let text = '';
    let errors = '';
    child.stderr.on('data', (bytes) => {
      errors += bytes;
    });
    child.on('exit', (code) => reject(new Error(`the agent ended with ${code}: ${errors}`)));
    child.stdout.on('data', (bytes) => {
      text += bytes;
      if (text.includes('\n')) resolve({ process: child, url: JSON.parse(text).url });
    });
  });
}

test.skipIf(reason !== null)(
  'an agent that is killed and comes back leaves a gap with its length, no energy, and nothing invented',
  async () => {
    const tree = powercapTree([{ zone: 'intel-rapl:0', name: 'package-0', energy_uj: 1_000_000_000 }]);
    onTestFinished(() => tree.remove());
    // 20 W, whether or not anybody looks.
    const began = clock.now();
    // Written in place, so that a reader never finds the file empty.
    const file = openSync(tree.file('intel-rapl:0'), 'r+');
    const burn = () =>
      writeSync(file, String(1_000_000_000 + Math.round(Number(clock.now() - began) * 20e-3)), 0);
    const burning = setInterval(burn, 5);
    onTestFinished(() => {
      clearInterval(burning);
      closeSync(file);
    });

    const first = await startAgent(tree.root, 0);
    const { sources } = await openAgent(
      { id: 'far', url: first.url, token: 'secret', max_power_w: 200 },
      clock,
    );
    const recorder = sources[0]!.start({ period_ns: 20_000_000 });
    onTestFinished(() => recorder.stop());
    const points: { at: bigint; energy: number; lo: number; hi: number; event: string }[] = [];
    const collect = () => {
      const columns = recorder.drain();
      for (const [i, event] of columns.event.entries()) {
        points.push({
          at: columns.at_ns[i]!,
          event: sampleEvents[event]!,
          energy: columns.booked_energy_j[i]!,
          lo: columns.booked_lo_j[i]!,
          hi: columns.booked_hi_j[i]!,
        });
      }
      return points;
    };
    const count = () => collect().filter(({ event }) => event === 'ok').length;

    await vi.waitFor(() => expect(count()).toBeGreaterThan(40), { timeout: 30_000 });
    first.process.removeAllListeners('exit');
    first.process.kill('SIGKILL');
    await vi.waitFor(() => expect(recorder.status().missing_reason).toMatch(/ECONNREFUSED/), {
      timeout: 30_000,
    });
    collect();
    const before = points.length;
    const lastSeen = points.at(-1)!;

    await startAgent(tree.root, Number(new URL(first.url).port));
    const more = count();
    await vi.waitFor(() => expect(count()).toBeGreaterThan(more + 20), { timeout: 30_000 });
    recorder.stop();
    collect();

    const gap = points[before]!;
    expect(points.map(({ event }) => event).filter((event) => event === 'gap')).toHaveLength(1);
    expect(gap.event).toBe('gap');
    const length_ns = Number(gap.at - lastSeen.at);
    expect(recorder.gaps()).toEqual([{ start_ns: lastSeen.at, end_ns: gap.at, length_ns }]);
    expect(gap.energy).toBe(lastSeen.energy);
    expect(gap.hi - lastSeen.hi).toBeCloseTo((200 * length_ns) / 1e9, 6);

    const series = seriesOf(recorder.domains[0]!, points);
    const [start, end] = [points[0]!.at, points.at(-1)!.at] as [Instant, Instant];
    const whole = energyInWindow(series, { start, end });
    expect(whole).toMatchObject({ energy_j: null, reason: 'low_coverage' });
    expect(whole.coverage_ratio).toBeCloseTo(1 - length_ns / Number(end - start), 1);
    for (const [from, to] of [
      [start, lastSeen.at],
      [gap.at, end],
    ] as [bigint, bigint][]) {
      const { energy_j, lo_j, hi_j } = energyInWindow(series, { start: instant(from), end: instant(to) });
      const truth = (20 * Number(to - from)) / 1e9;
      expect(Math.abs(energy_j! - truth)).toBeLessThan(truth / 2);
      expect(lo_j).toBeLessThanOrEqual(energy_j!);
      expect(hi_j).toBeGreaterThanOrEqual(energy_j!);
    }
  },
);

function seriesOf(
  domain: Domain,
  points: readonly { at: bigint; energy: number; lo: number; hi: number }[],
): PowerSeries {
  return {
    domain,
    at_ns: BigInt64Array.from(points, ({ at }) => at),
    booked_j: Float64Array.from(points, ({ energy }) => energy),
    lo_j: Float64Array.from(points, ({ lo }) => lo),
    hi_j: Float64Array.from(points, ({ hi }) => hi),
  };
}

if (reason !== null) process.stderr.write(`test of a killed agent skipped: ${reason}\n`);
