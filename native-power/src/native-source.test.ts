import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hints, sampleEvents } from '@perwatt/core';
import { type PowercapTree, powercapTree, powerSourceContract } from '@perwatt/test-kit';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { loaded } from './binding.js';
import { powerSources } from './sources.js';

const named = (name: string, root: string) => {
  const source = powerSources({ root }).find((s) => s.name === name);
  if (source === undefined) throw new Error(`the addon has no ${name}`);
  return source;
};

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

function tree(...args: Parameters<typeof powercapTree>): PowercapTree {
  const built = powercapTree(args[0]);
  cleanups.push(built.remove);
  return built;
}

/** A host with a `/proc` of two threads, and a writer that spends CPU time. */
function procTree() {
  const root = mkdtempSync(join(tmpdir(), 'perwatt-proc-'));
  mkdirSync(join(root, 'proc'));
  writeFileSync(join(root, 'proc/cpuinfo'), 'processor\t: 0\nprocessor\t: 1\n');
  const spend = (busy: number, idle: number) =>
    writeFileSync(join(root, 'proc/stat'), `cpu  ${busy} 0 0 ${idle} 0 0 0 0 0 0\n`);
  spend(100, 100);
  const remove = () => rmSync(root, { recursive: true, force: true });
  return { root, spend, remove };
}

describe.skipIf(loaded.binding === null)('with the addon', () => {
  powerSourceContract('RAPL on a powercap tree', () => {
    const built = powercapTree([
      { zone: 'intel-rapl:0', name: 'package-0', energy_uj: 262_143_300_000 },
      { zone: 'intel-rapl:0:0', name: 'dram', energy_uj: 5 },
      { zone: 'intel-rapl:1', name: 'psys', energy_uj: 5 },
    ]);
    let drawn = 0;
    return {
      source: named('rapl-powercap', built.root),
      advance() {
        drawn += 10_000;
        built.set('intel-rapl:0', (262_143_300_000 + drawn) % 262_143_328_911);
        built.set('intel-rapl:0:0', 5 + drawn);
        built.set('intel-rapl:1', 5 + 2 * drawn);
      },
      dispose: built.remove,
    };
  });

  powerSourceContract('the estimator on a tree', () => {
    const host = procTree();
    let ticks = 100;
    return {
      source: named('estimate-cpu-load', host.root),
      advance() {
        ticks += 3;
        host.spend(ticks, ticks);
      },
      dispose: host.remove,
    };
  });

  if (process.platform === 'linux') {
    powerSourceContract('the estimator on this host', () => ({
      source: named('estimate-cpu-load', '/'),
      advance: () => {},
    }));
  }

  test('events are numbered as core names them', () => {
    expect(loaded.binding?.eventNames()).toEqual(sampleEvents);
  });

  test('a counter books across its wrap, exactly, and says so', () => {
    const built = tree([{ zone: 'intel-rapl:0', name: 'package-0', energy_uj: 262_143_000_000 }]);
    const recorder = named('rapl-powercap', built.root).start({ period_ns: 3.6e12 });
    cleanups.unshift(() => recorder.stop());
    built.set('intel-rapl:0', 1_000_000);
    recorder.mark();
    const columns = recorder.drain();
    expect([...columns.event].map((code) => sampleEvents[code])).toEqual(['first', 'wrap']);
    expect([...columns.booked_energy_j]).toEqual([0, 1.328911]);
    expect([...columns.raw]).toEqual([262_143_000_000n, 1_000_000n]);
    expect([...columns.power_valid]).toEqual([0, 0]);
  });

  test('a domain that breaks is missing, without a number, and the rest goes on', () => {
    const built = tree([
      { zone: 'intel-rapl:0', name: 'package-0' },
      { zone: 'intel-rapl:1', name: 'package-1' },
    ]);
    const recorder = named('rapl-powercap', built.root).start({ period_ns: 3.6e12 });
    cleanups.unshift(() => recorder.stop());
    recorder.drain();
    built.set('intel-rapl:0', 'nonsense');
    built.set('intel-rapl:1', 2_000_000);
    recorder.mark();
    const { event, raw_valid, booked_energy_j } = recorder.drain();
    expect([...event].map((code) => sampleEvents[code])).toEqual(['missing', 'ok']);
    expect([...raw_valid]).toEqual([0, 1]);
    expect([...booked_energy_j]).toEqual([0, 2]);
    expect(recorder.status().state).toBe('running');
  });

  test('facts of a domain arrive whole', () => {
    const built = tree([{ zone: 'intel-rapl:a', name: 'package-1', max_uj: 65_532_610_987 }]);
    const recorder = named('rapl-powercap', built.root).start();
    cleanups.unshift(() => recorder.stop());
    expect(recorder.domains).toEqual([
      {
        id: 'rapl:a:package-1',
        source: 'rapl-powercap',
        scope: 'package',
        kind: 'counter',
        provenance: 'counter',
        in_total: true,
        update_period_ns: 1_000_000,
        quantum: 0.000015,
        scale_error_ratio: null,
        sensing_share_ratio: null,
        note: null,
      },
    ]);
    expect(recorder.raw_units).toEqual(['uJ']);
  });

  test('a recorder says how late its readings on schedule were', async () => {
    const built = tree([{ zone: 'intel-rapl:0', name: 'package-0', energy_uj: 0 }]);
    const recorder = named('rapl-powercap', built.root).start({ period_ns: 3.6e12 });
    const fast = named('rapl-powercap', built.root).start({ period_ns: 1e6 });
    for (const each of [recorder, fast]) cleanups.unshift(() => each.stop());
    recorder.mark();
    expect(recorder.status().lateness).toBeNull();
    await vi.waitFor(() => expect(fast.status().lateness?.readings).toBeGreaterThan(3), { timeout: 10_000 });
    const { lateness, reads } = fast.status();
    expect(lateness?.readings).toBeLessThan(reads);
    expect(lateness?.p50_ns).toBeGreaterThanOrEqual(0);
    expect(lateness?.p99_ns).toBeGreaterThanOrEqual(lateness?.p50_ns ?? Infinity);
    expect(lateness?.max_ns).toBeGreaterThanOrEqual(lateness?.p99_ns ?? Infinity);
  });

  test('a recorder says what it saw of its sensors, and that it lost nothing', () => {
    const built = tree([{ zone: 'intel-rapl:0', name: 'package-0', energy_uj: 0 }]);
    const recorder = named('rapl-powercap', built.root).start({ period_ns: 5e6 });
    cleanups.unshift(() => recorder.stop());
    for (let mj = 0; mj < 60; mj++) {
      built.set('intel-rapl:0', mj * 1000);
      recorder.mark();
    }
    const { observed, dropped } = recorder.status();
    expect(dropped).toBe(0);
    expect(observed).toEqual([
      {
        domain: 'rapl:0:package-0',
        update_period_ns: null,
        reason: expect.stringMatching(/^(faster_than_read|too_few_changes|coarse_counter)$/),
        quantum: 0.001,
        samples: expect.any(Number),
      },
    ]);
    expect(observed?.[0]?.samples).toBeGreaterThanOrEqual(10);
  });

  test('native errors arrive with their code, their message and a hint', () => {
    const { root, remove } = procTree();
    cleanups.push(remove);
    expect(() => named('rapl-powercap', root).start()).toThrowError(
      expect.objectContaining({
        name: 'PerwattError',
        code: 'POWER_NO_SOURCE',
        message: `rapl-powercap: nothing to read under ${root}/sys/class/powercap`,
        hint: hints.POWER_NO_SOURCE,
      }),
    );
  });
});

if (loaded.binding === null) process.stderr.write(`tests with the addon skipped: ${loaded.problem}\n`);
