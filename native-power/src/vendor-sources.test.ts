import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sampleEvents } from '@perwatt/core';
import { powercapTree, powerSourceContract } from '@perwatt/test-kit';
import { describe, expect, onTestFinished, test } from 'vitest';
import { loaded } from './binding.js';
import { probePower } from './probe.js';
import { bestSources, powerSources, type SourceOptions } from './sources.js';
import { amdGpu, intelGpu, nvidiaGpu, stubProblem, vendorStub } from './vendor-stub.fixture.js';

/** Where no library is, whatever this machine has. */
const none = {
  nvml: '/nowhere/libnvidia-ml.so.1',
  amdsmi: '/nowhere/libamd_smi.so',
  level_zero: '/nowhere/libze_loader.so.1',
};

const named = (name: string, options: SourceOptions) => {
  const source = powerSources(options).find((s) => s.name === name);
  if (source === undefined) throw new Error(`the addon has no ${name}`);
  return source;
};

function stub(...args: Parameters<typeof vendorStub>) {
  const made = vendorStub(...args);
  onTestFinished(made.remove);
  return made;
}

const nvidia = (script: string) => ({ ...none, nvml: stub('nvml', script).library });
const intel = (script: string) => ({ ...none, level_zero: stub('levelzero', script).library });
const amd = (script: string) => ({ ...none, amdsmi: stub('amdsmi', script).library });

/** A host with CPU times, and with counters of its CPU where `rapl` says so. */
function host({ rapl }: { readonly rapl: boolean }): string {
  const tree = rapl ? powercapTree([{ zone: 'intel-rapl:0', name: 'package-0' }]) : null;
  const root = tree?.root ?? mkdtempSync(join(tmpdir(), 'perwatt-vendor-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  mkdirSync(join(root, 'proc'));
  writeFileSync(join(root, 'proc/stat'), 'cpu  1 0 0 1 0 0 0 0 0 0\n');
  writeFileSync(join(root, 'proc/cpuinfo'), 'processor : 0\n');
  return root;
}

const problem = loaded.binding === null ? loaded.problem : stubProblem;

describe.skipIf(problem !== null)('with stand-ins for vendors’ libraries', () => {
  powerSourceContract('NVIDIA', () => {
    let mj = 126_272_101_025;
    const made = vendorStub('nvml', nvidiaGpu(mj));
    return {
      source: named('nvml', { root: '/nowhere', libraries: { ...none, nvml: made.library } }),
      advance() {
        mj += 1;
        made.say(nvidiaGpu(mj));
      },
      dispose: made.remove,
    };
  });

  powerSourceContract('NVIDIA without a counter', () => {
    let mw = 100_000;
    const made = vendorStub('nvml', nvidiaGpu(null, mw));
    return {
      source: named('nvml', { root: '/nowhere', libraries: { ...none, nvml: made.library } }),
      advance() {
        mw = mw === 100_000 ? 90_000 : 100_000;
        made.say(nvidiaGpu(null, mw));
      },
      dispose: made.remove,
    };
  });

  powerSourceContract('AMD', () => {
    let count = 1_000_000;
    const made = vendorStub('amdsmi', amdGpu(count));
    return {
      source: named('amd-smi', { root: '/nowhere', libraries: { ...none, amdsmi: made.library } }),
      advance() {
        count += 1;
        made.say(amdGpu(count));
      },
      dispose: made.remove,
    };
  });

  test('Intel’s counter is booked, and must be read before its register laps', () => {
    const made = stub('levelzero', intelGpu(1_000_000));
    const source = named('level-zero', { libraries: { ...none, level_zero: made.library } });
    expect(() => source.start({ period_ns: 61e9 })).toThrow('must be read at least every 60000000000 ns');
    const recorder = source.start({ period_ns: 60e9 });
    onTestFinished(() => recorder.stop());
    made.say(intelGpu(1_250_000));
    recorder.mark();
    const { raw, booked_energy_j } = recorder.drain();
    expect([...raw]).toEqual([1_000_000n, 1_250_000n]);
    expect([...booked_energy_j]).toEqual([0, 0.25]);
  });

  // biome-ignore format: a table is read in columns
  test.each<[why: string, rapl: boolean, libraries: () => SourceOptions['libraries'], expected: string[]]>([
    ['nothing but CPU times',            false, () => none,                                        ['estimate-cpu-load']],
    ['CPU counters',                     true,  () => none,                                        ['rapl-powercap']],
    ['a GPU: no guess beside it',        false, () => nvidia(nvidiaGpu(5)),                        ['nvml']],
    ['CPU and GPU, both measured',       true,  () => nvidia(nvidiaGpu(5)),                        ['rapl-powercap', 'nvml']],
    ['CPU and another GPU',              true,  () => amd(amdGpu(5)),                              ['rapl-powercap', 'amd-smi']],
    ['both makes of GPU',                true,  () => ({ ...nvidia(nvidiaGpu(5)), amdsmi: amd(amdGpu(5)).amdsmi }), ['rapl-powercap', 'nvml', 'amd-smi']],
    ['another make of GPU',              true,  () => intel(intelGpu(5)),                          ['rapl-powercap', 'level-zero']],
    ['a library without a GPU',          true,  () => nvidia(''),                                  ['rapl-powercap']],
    ['a library that refuses',           false, () => nvidia('0, 0, init, 0, 18, 0, 0'),           ['estimate-cpu-load']],
  ])('sources of different devices are used together: %s', (_why, rapl, libraries, expected) => {
    const best = bestSources({ root: host({ rapl }), libraries: libraries() ?? none });
    expect(best.map(({ name }) => name)).toEqual(expected);
  });

  test('CPU and GPU are in the total under scopes of their own, and the GPU’s power is beside it', () => {
    const options = { root: host({ rapl: true }), libraries: nvidia(nvidiaGpu(5)) };
    const recorders = bestSources(options).map((source) => source.start({ period_ns: 3.6e12 }));
    for (const recorder of recorders) onTestFinished(() => recorder.stop());
    const domains = recorders.flatMap((recorder) => recorder.domains);
    expect(
      domains.map(({ id, scope, kind, provenance, in_total }) => [id, scope, kind, provenance, in_total]),
    ).toEqual([
      ['rapl:0:package-0', 'package', 'counter', 'counter', true],
      ['nvml:GPU-A:energy', 'gpu', 'counter', 'counter', true],
      ['nvml:GPU-A:power', 'gpu', 'gauge', 'integrated', false],
    ]);
  });

  test('counters and powers arrive in the vendor’s units', () => {
    const made = stub('nvml', nvidiaGpu(1_000_000, 34_007));
    const libraries = { ...none, nvml: made.library };
    const recorder = named('nvml', { libraries }).start({ period_ns: 3.6e12 });
    onTestFinished(() => recorder.stop());
    made.say(nvidiaGpu(1_000_001, 34_007));
    recorder.mark();
    const { raw, event, booked_energy_j, power_w, power_valid } = recorder.drain();
    expect(recorder.raw_units).toEqual(['mJ', 'mW']);
    expect([...raw]).toEqual([1_000_000n, 34_007n, 1_000_001n, 34_007n]);
    expect([...event].map((code) => sampleEvents[code])).toEqual(['first', 'first', 'ok', 'ok']);
    expect(booked_energy_j[2]).toBe(0.001);
    expect([...power_w]).toEqual([0, 34.007, 0, 34.007]);
    expect([...power_valid]).toEqual([0, 1, 0, 1]);
  });

  test('a GPU that is lost is missing, and comes back', () => {
    const made = stub('nvml', nvidiaGpu(1000));
    const recorder = named('nvml', { libraries: { ...none, nvml: made.library } }).start({
      period_ns: 3.6e12,
    });
    onTestFinished(() => recorder.stop());
    recorder.drain();
    made.say('0, 0, fields, 0, 15, 0, 0');
    recorder.mark();
    made.say(nvidiaGpu(1001));
    recorder.mark();
    const { event, raw_valid, domain } = recorder.drain();
    expect([...domain]).toEqual([0, 1, 0, 1]);
    expect([...event].map((code) => sampleEvents[code])).toEqual(['missing', 'missing', 'ok', 'ok']);
    expect([...raw_valid]).toEqual([0, 0, 1, 1]);
    expect(recorder.status().state).toBe('running');
  });

  test('what refuses to start says why, with its code', () => {
    const libraries = nvidia('0, 0, init, 0, 4, 0, 0');
    expect(() => named('nvml', { libraries }).start()).toThrowError(
      expect.objectContaining({
        name: 'PerwattError',
        code: 'POWER_PERMISSION',
        message: 'nvml: nvmlInit_v2 returned 4 (Insufficient Permissions)',
      }),
    );
    expect(() => named('amd-smi', { libraries: none }).start()).toThrowError(
      expect.objectContaining({
        code: 'POWER_NO_SOURCE',
        message: expect.stringMatching(/^amd-smi: cannot load \/nowhere\/libamd_smi\.so: /),
      }),
    );
  });

  test('a probe tells what is metered, and the fix of what is not', () => {
    const probes = probePower({ root: host({ rapl: true }), libraries: nvidia(nvidiaGpu(5)) });
    expect(probes.find(({ name }) => name === 'nvml')).toEqual({
      name: 'nvml',
      area: 'power',
      usable: true,
      detail: 'nvml:GPU-A:energy; beside the total: nvml:GPU-A:power',
      fix: null,
    });
    const old = probePower({ root: '/nowhere', libraries: nvidia('0, 0, init, 0, 18, 0, 0') });
    expect(old.find(({ name }) => name === 'nvml')).toMatchObject({
      usable: false,
      detail: 'nvmlInit_v2 returned 18 (Driver/library version mismatch)',
      fix: expect.stringMatching(/^reboot, so that the kernel module/),
    });
  });
});

if (problem !== null)
  process.stderr.write(`tests with stand-ins for vendors' libraries skipped: ${problem}\n`);
