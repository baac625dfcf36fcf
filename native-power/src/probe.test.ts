import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { powercapTree } from '@perwatt/test-kit';
import { describe, expect, onTestFinished, test } from 'vitest';
import { loaded } from './binding.js';
import { probeDevices, probePower } from './probe.js';
import { bestSources, powerSources } from './sources.js';

function files(contents: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'perwatt-probe-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(contents)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

const cpuOnly = { 'proc/stat': 'cpu  1 0 0 1 0 0 0 0 0 0\n', 'proc/cpuinfo': 'processor : 0\n' };

/** A host with readable counters and CPU times. */
function measured(): string {
  const tree = powercapTree([{ zone: 'intel-rapl:0', name: 'package-0' }]);
  onTestFinished(tree.remove);
  mkdirSync(join(tree.root, 'proc'));
  writeFileSync(join(tree.root, 'proc/stat'), cpuOnly['proc/stat']);
  return tree.root;
}

/** No library is at these paths, whatever this host has. */
const noLibraries = {
  nvml: '/nonexistent/libnvidia-ml.so.1',
  amdsmi: '/nonexistent/libamd_smi.so',
  level_zero: '/nonexistent/libze_loader.so.1',
};

const names = (sources: readonly { readonly name: string }[]) => sources.map(({ name }) => name);

describe.skipIf(loaded.binding === null)('with the addon', () => {
  test('sources come in order of trust, readable or not', () => {
    expect(names(powerSources({ root: files({}) }))).toEqual([
      'rapl-powercap',
      'rapl-perf',
      'amd-energy',
      'intel-gpu-hwmon',
      'nvml',
      'amd-smi',
      'level-zero',
      'amdgpu-hwmon',
      'jetson-rails',
      'acpi-power-meter',
      'battery',
      'estimate-cpu-load',
    ]);
  });

  test('the best source is measured where it can be, else the estimator', () => {
    expect(names(bestSources({ root: measured(), libraries: noLibraries }))).toEqual(['rapl-powercap']);
    expect(names(bestSources({ root: files(cpuOnly), libraries: noLibraries }))).toEqual([
      'estimate-cpu-load',
    ]);
  });

  test('of several interfaces to one counter one is used, and the probe says why not the others', () => {
    const root = measured();
    const chip = (n: number, name: string, values: Readonly<Record<string, string>>) => {
      const folder = join(root, `sys/class/hwmon/hwmon${n}`);
      mkdirSync(folder, { recursive: true });
      for (const [file, text] of Object.entries({ name, ...values })) writeFileSync(join(folder, file), text);
    };
    chip(0, 'amd_energy', { energy1_label: 'Esocket0', energy1_input: '1' });
    chip(1, 'power_meter', { power1_average: '1' });
    expect(names(bestSources({ root, libraries: noLibraries }))).toEqual(['rapl-powercap']);
    const detail = (name: string) =>
      probePower({ root, libraries: noLibraries }).find((probe) => probe.name === name)?.detail;
    expect(detail('rapl-powercap')).toBe('rapl:0:package-0');
    expect(detail('amd-energy')).toBe(
      'amd-energy:socket-0; used only when named: shows again what rapl-powercap shows',
    );
    expect(detail('acpi-power-meter')).toMatch(/; used only when named: holds what rapl-powercap shows$/);
    expect(names(bestSources({ root, names: ['amd-energy'] }))).toEqual(['amd-energy']);
  });

  test('a host where nothing can be read says what was tried', () => {
    const root = files({});
    const told = (part: string) =>
      expect(() => bestSources({ root, libraries: noLibraries })).toThrowError(
        expect.objectContaining({ code: 'POWER_NO_SOURCE', message: expect.stringContaining(part) }),
      );
    told(`no power source can be read (rapl-powercap: nothing to read under ${root}/sys/class/powercap; `);
    told(
      `amd-energy, intel-gpu-hwmon, amdgpu-hwmon, jetson-rails, acpi-power-meter: nothing to read under ${root}/sys/class/hwmon; `,
    );
    told(`; estimate-cpu-load: nothing to read under ${root}/proc/stat)`);
  });

  // biome-ignore format: a table is read in columns
  test.each<[why: string, names: string[], message: string]>([
    ['unknown', ['wattmeter'],                           'no power source is called "wattmeter"'],
    ['twice',   ['rapl-powercap', 'rapl-perf'],          'rapl-powercap and rapl-perf show the same energy'],
    ['mixed',   ['rapl-powercap', 'estimate-cpu-load'],  'measured and estimated sources cannot be mixed: rapl-powercap, estimate-cpu-load'],
  ])('names that cannot be had: %s', (_why, wanted, message) => {
    expect(() => bestSources({ root: measured(), names: wanted })).toThrowError(
      expect.objectContaining({ code: 'INPUT_INVALID', message }),
    );
  });

  test('a named source is taken even where a better one is there', () => {
    expect(names(bestSources({ root: measured(), names: ['estimate-cpu-load'] }))).toEqual([
      'estimate-cpu-load',
    ]);
  });

  test('every source is probed, with what would enable it', () => {
    const found = probePower({ root: files(cpuOnly), libraries: noLibraries });
    expect(found).toHaveLength(12);
    expect(found.filter(({ usable, fix }) => usable || fix !== null)).toMatchObject([
      { name: 'rapl-powercap', area: 'power', usable: false, fix: 'sudo modprobe intel_rapl_msr' },
      { name: 'rapl-perf', area: 'power', usable: false, fix: 'sudo modprobe rapl' },
      { name: 'estimate-cpu-load', area: 'power', usable: true, fix: null },
    ]);
    expect(probePower({ root: measured() })[0]).toEqual({
      name: 'rapl-powercap',
      area: 'power',
      usable: true,
      detail: 'rapl:0:package-0',
      fix: null,
    });
  });
});

test('without the addon there is no source, and the probe says how to get one', () => {
  const missing = { binding: null, problem: 'the addon is not built' } as const;
  expect(powerSources({}, missing)).toEqual([]);
  expect(probePower({}, missing)).toEqual([
    {
      name: 'native-power',
      area: 'power',
      usable: false,
      detail: 'the addon is not built',
      fix: 'npm run build',
    },
  ]);
  expect(() => bestSources({}, missing)).toThrowError(
    expect.objectContaining({ code: 'POWER_NO_SOURCE', message: 'the addon is not built' }),
  );
});

test('devices are named when they are seen, and said to be absent when not', () => {
  const root = files({
    'dev/nvidia0': '',
    'dev/nvidia1': '',
    'dev/nvidiactl': '',
    'dev/dri/renderD128': '',
    'dev/dri/card0': '',
    'sys/class/hwmon/hwmon0/name': 'amdgpu\n',
    'sys/class/hwmon/hwmon0/power1_average': '1\n',
    'sys/class/hwmon/hwmon1/temp1_input': '1\n',
  });
  const probes = probeDevices({ root });
  expect(probes.map(({ name, usable }) => [name, usable])).toEqual([
    ['nvidia', true],
    ['dri', true],
    ['accel', false],
    ['hwmon', true],
  ]);
  expect(probes.map(({ detail }) => detail.replaceAll(root, ''))).toEqual([
    '/dev/nvidia0, /dev/nvidia1 (seen)',
    '/dev/dri/renderD128 (seen)',
    'no /dev/accel/* (no neural processor)',
    'hwmon0 amdgpu (power1_average) (seen)',
  ]);
  expect(probeDevices({ root: files({}) }).every(({ usable, fix }) => !usable && fix === null)).toBe(true);
});

if (loaded.binding === null) process.stderr.write(`tests with the addon skipped: ${loaded.problem}\n`);
