import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Recorder, sampleEvents } from '@perwatt/core';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { loaded } from './binding.js';
import { powerSources } from './sources.js';

const chip = 'sys/class/hwmon/hwmon0';

/** A host with these files, and what changes one. */
function host(contents: Readonly<Record<string, string>>) {
  const root = mkdtempSync(join(tmpdir(), 'perwatt-files-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const set = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), `${text}\n`);
  };
  for (const [path, text] of Object.entries(contents)) set(path, text);
  return { root, set };
}

function record(root: string, name: string, period_ns: number): Recorder {
  const source = powerSources({ root }).find((one) => one.name === name);
  if (source === undefined) throw new Error(`no source is called ${name}`);
  const recorder = source.start({ period_ns });
  onTestFinished(() => recorder.stop());
  return recorder;
}

const hour = 3_600e9;

describe.skipIf(loaded.binding === null)('with the addon', () => {
  test('power is recorded as such and integrated over the stamps', () => {
    const { root, set } = host({ [`${chip}/name`]: 'amdgpu', [`${chip}/power1_average`]: '100000000' });
    const recorder = record(root, 'amdgpu-hwmon', hour);
    expect(recorder.domains).toMatchObject([
      { id: 'amdgpu-hwmon:hwmon0', scope: 'gpu', kind: 'gauge', provenance: 'integrated', in_total: true },
    ]);
    expect(recorder.raw_units).toEqual(['uW']);
    set(`${chip}/power1_average`, '50000000');
    recorder.mark();
    const { at_ns, power_w, power_valid, raw, booked_energy_j, booked_lo_j, booked_hi_j } = recorder.drain();
    expect([...power_w]).toEqual([100, 50]);
    expect([...power_valid]).toEqual([1, 1]);
    expect([...raw]).toEqual([100_000_000n, 50_000_000n]);
    const seconds = Number((at_ns[1] ?? 0n) - (at_ns[0] ?? 0n)) / 1e9;
    expect(booked_energy_j[1]).toBeCloseTo(75 * seconds, 9);
    expect([booked_lo_j[1], booked_hi_j[1]]).toEqual([booked_energy_j[1], booked_energy_j[1]]);
  });

  test('what no meter can show is missing, never a number', () => {
    const { root, set } = host({ [`${chip}/name`]: 'power_meter', [`${chip}/power1_average`]: '250000000' });
    const recorder = record(root, 'acpi-power-meter', hour);
    set(`${chip}/power1_average`, '4294967295000');
    recorder.mark();
    const { event, power_valid, raw_valid } = recorder.drain();
    expect([...event].map((code) => sampleEvents[code])).toEqual(['first', 'missing']);
    expect([power_valid[1], raw_valid[1]]).toEqual([0, 0]);
  });

  test('a platform that counts less than its package is flagged and no longer told', async () => {
    const zones = 'sys/class/powercap/intel-rapl:';
    const { root, set } = host({
      [`${zones}0/name`]: 'package-0',
      [`${zones}0/energy_uj`]: '0',
      [`${zones}1/name`]: 'psys',
      [`${zones}1/energy_uj`]: '0',
    });
    const recorder = record(root, 'rapl-powercap', hour);
    expect(recorder.status().flags).toEqual([]);
    set(`${zones}0/energy_uj`, '99000000');
    set(`${zones}1/energy_uj`, '6000');
    await vi.waitFor(
      () => {
        recorder.mark();
        expect(recorder.status().flags).toEqual(['psys<package']);
      },
      { timeout: 10_000, interval: 50 },
    );
    const { domain, raw_valid } = recorder.drain();
    const platform = [...raw_valid].filter((_, i) => domain[i] === 1);
    expect(platform.at(-1)).toBe(0);
  });

  test('a card whose driver must be asked often is not asked seldom', () => {
    const { root } = host({ [`${chip}/name`]: 'xe', [`${chip}/energy1_input`]: '1' });
    expect(() => record(root, 'intel-gpu-hwmon', hour)).toThrowError(
      expect.objectContaining({
        code: 'INPUT_INVALID',
        message: 'intel-gpu-hwmon must be read at least every 60000000000 ns, not every 3600000000000 ns',
      }),
    );
  });
});

if (loaded.binding === null) process.stderr.write(`tests with the addon skipped: ${loaded.problem}\n`);
