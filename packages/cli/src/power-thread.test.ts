import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PowerStreamOptions } from '@perwatt/harness';
import { powerSources } from '@perwatt/native-power';
import { readColumns, readSegment } from '@perwatt/records';
import { powercapTree } from '@perwatt/test-kit';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openPowerThread } from './power-thread.js';
import type { NativePlace } from './power-thread-messages.js';

const built = fileURLToPath(new URL('../dist/power-worker.js', import.meta.url));
const unable = powerSources().length === 0 ? 'the addon' : existsSync(built) ? null : built;
if (unable !== null) process.stderr.write(`tests with power threads skipped: ${unable} is not built\n`);

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'perwatt-thread-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

function place(): NativePlace {
  const tree = powercapTree([{ zone: 'intel-rapl:0', name: 'package-0', energy_uj: 1_000_000 }]);
  onTestFinished(() => tree.remove());
  return { name: 'rapl-powercap', root: tree.root, libraries: {} };
}

const options = (path: string, period_ns = 2e6): PowerStreamOptions => ({
  period_ns,
  samples: { folder: path, file: 'p-0.arrows', table: 'samples', sitting: 0, metadata: {} },
  channels: { folder: path, file: 'p-channels-0.arrows', table: 'channels', sitting: 0, metadata: {} },
});

/** Lets nothing else happen on this thread. */
const block = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

const pace = { look_ms: 20, flush_ms: 40 };

describe.skipIf(unable !== null)('a power thread', () => {
  test('reads and writes to disk while this one does nothing at all', () => {
    const path = folder();
    const stream = openPowerThread(place(), options(path), pace);
    onTestFinished(() => void stream.close());
    const from = stream.mark();
    block(600);
    const { series } = readColumns(join(path, 'p-0.arrows'));
    const [onDisk] = [...series.values()];
    const meanwhile = [...(onDisk?.at_ns ?? [])].filter((at) => at > from);
    expect(meanwhile.length).toBeGreaterThan(100);
    expect(Number((meanwhile.at(-1) ?? 0n) - from)).toBeGreaterThan(300e6);
  });

  test('loses nothing: the file, the readings handed over and the count of reads agree', () => {
    const path = folder();
    const stream = openPowerThread(place(), options(path), pace);
    const drained = [stream.drain()];
    for (const _ of [1, 2, 3]) {
      block(80);
      stream.mark();
      drained.push(stream.drain());
    }
    stream.stop();
    drained.push(stream.drain());
    const { samples, channels } = stream.close();
    const status = stream.status();
    expect(status).toMatchObject({ state: 'stopped', reason: null });
    const { rows } = readSegment(join(path, 'p-0.arrows'), 'samples', samples);
    expect(rows.map(({ at_ns }) => at_ns)).toEqual(drained.flatMap(({ at_ns }) => [...at_ns]));
    expect(rows).toHaveLength(status.reads);
    expect(channels).toBeNull();
    expect(stream.close()).toBe(stream.close());
    expect(stream.drain().at_ns).toHaveLength(0);
  });

  test('a mark has a sample of its own, there at once', () => {
    const stream = openPowerThread(place(), options(folder(), 3600e9), { look_ms: 3600e3, flush_ms: 3600e3 });
    onTestFinished(() => void stream.close());
    const before = process.hrtime.bigint();
    const at = stream.mark();
    const after = process.hrtime.bigint();
    expect([at >= before, at <= after]).toEqual([true, true]);
    const { at_ns } = stream.drain();
    expect(at_ns).toHaveLength(2);
    expect([at_ns[1]! >= before, at_ns[1]! <= at]).toEqual([true, true]);
  });

  test('what is flushed is on the disk', () => {
    const path = folder();
    const stream = openPowerThread(place(), options(path), { look_ms: 3600e3, flush_ms: 3600e3 });
    onTestFinished(() => void stream.close());
    const before = process.hrtime.bigint();
    stream.mark();
    const read = () => readColumns(join(path, 'p-0.arrows')).series.get(stream.domains[0]?.id ?? '');
    expect(read()).toBeUndefined();
    stream.flush();
    expect(read()?.at_ns.at(-1)).toBeGreaterThanOrEqual(before);
  });

  test('a source that cannot be read, and a file that is there, are the errors that they are elsewhere', () => {
    const path = folder();
    const empty = { name: 'rapl-powercap', root: folder(), libraries: {} };
    expect(() => openPowerThread(empty, options(path))).toThrowError(
      expect.objectContaining({ name: 'PerwattError', code: 'POWER_NO_SOURCE' }),
    );
    expect(readdirSync(path)).toEqual([]);
    const stream = openPowerThread(place(), options(path), pace);
    onTestFinished(() => void stream.close());
    expect(() => openPowerThread(place(), options(path))).toThrowError(
      expect.objectContaining({ code: 'RUN_IN_USE' }),
    );
  });

  test.each([
    ['process.exit(7)', 7, 'an exit in the middle of it'],
    [
      "process.on('SIGTERM', () => process.exit(7)); process.kill(process.pid, 'SIGTERM'); setTimeout(() => {}, 1e6)",
      7,
      'a signal',
    ],
    ['throw new Error("x")', 1, 'an error nobody caught'],
  ])('the file is whole after %s', (end, code) => {
    const path = folder();
    const thread = new URL('../dist/power-thread.js', import.meta.url).href;
    const script = `
      import { openPowerThread } from ${JSON.stringify(thread)};
      const stream = openPowerThread(${JSON.stringify(place())}, ${JSON.stringify(options(path))}, { flush_ms: 3600e3 });
      process.stdout.write(String(stream.mark()));
      ${end};`;
    const args = ['--input-type=module', '-e', script];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, {
      encoding: 'utf8',
      timeout: 60_000,
    });
    expect([status, code === 7 ? stderr : '']).toEqual([code, '']);
    const { info, rows } = readSegment(join(path, 'p-0.arrows'), 'samples');
    expect(info.torn).toBeNull();
    expect(rows.at(-1)?.at_ns).toBeGreaterThanOrEqual(BigInt(stdout));
  });
});
