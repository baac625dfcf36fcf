import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type ChannelUnit, channelRows, channelUnits } from '@perwatt/core';
import { afterEach, beforeEach, describe, expect, expectTypeOf, test } from 'vitest';
import type { Binding } from './binding.js';
import { powerSources, type SourceOptions } from './sources.js';
import { nvidiaGpu, stubProblem, vendorStub } from './vendor-stub.fixture.js';

let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'perwatt-channels-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const set = (path: string, text: string) => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), `${text}\n`);
};

const start = (name: string, options: SourceOptions = { root }) => {
  const recorder = powerSources(options)
    .find((source) => source.name === name)
    ?.start({ period_ns: 1e6 });
  if (recorder === undefined) throw new Error(`no source ${name}`);
  return recorder;
};

/** Device, channel, value, unit, text and reason of every reading so far, without their times. */
const rows = (recorder: ReturnType<typeof start>) => {
  const columns = recorder.drainChannels?.();
  if (columns === undefined) throw new Error('the recorder hands over no channels');
  return channelRows(columns, recorder.channels ?? []);
};

describe('channels beside power', () => {
  test('are read from the files of a CPU, at the start, on the samples’ clock', () => {
    set('sys/class/powercap/intel-rapl:0/name', 'package-0');
    set('sys/class/powercap/intel-rapl:0/energy_uj', '5');
    set('sys/class/powercap/intel-rapl:0/constraint_0_name', 'long_term');
    set('sys/class/powercap/intel-rapl:0/constraint_0_power_limit_uw', '125000000');
    set('sys/class/thermal/thermal_zone0/type', 'x86_pkg_temp');
    set('sys/class/thermal/thermal_zone0/temp', '45500');
    const recorder = start('rapl-powercap');
    const first = rows(recorder);
    const { at_ns } = recorder.drain();
    recorder.stop();
    expect(first.map(({ at_ns: _, ...row }) => row)).toEqual([
      {
        device: 'cpu:package-0',
        channel: 'long_term_power_limit_w',
        value: 125,
        unit: 'W',
        text: null,
        missing_reason: null,
      },
      {
        device: 'cpu',
        channel: 'x86_pkg_temp_c',
        value: 45.5,
        unit: '°C',
        text: null,
        missing_reason: null,
      },
    ]);
    expect(Number((first[0]?.at_ns ?? 0n) - (at_ns[0] ?? 0n))).toBeLessThan(1e9);
    expect(first[0]?.at_ns).toBeGreaterThan(at_ns[0] ?? 0n);
  });

  test('are none on a tree that tells nothing beside power', () => {
    set('proc/stat', 'cpu  1 2 3 4 5 6 7 8 9 10');
    const recorder = start('estimate-cpu-load');
    recorder.stop();
    expect(recorder.channels).toEqual([]);
    expect(rows(recorder)).toEqual([]);
  });

  const reason = stubProblem === null ? '' : ` (skipped: ${stubProblem})`;
  test.skipIf(stubProblem !== null)(`of a GPU tell bits by name, and nothing from 0${reason}`, () => {
    const script = (temperature: string) =>
      [nvidiaGpu(5000), `0, 0, temperature, 0, ${temperature}`, '0, 0, reasons, 0, 0, 0, 4'].join('\n');
    const stub = vendorStub('nvml', script('4, 0, 64'));
    const recorder = start('nvml', { root, libraries: { nvml: stub.library } });
    expect(recorder.channels).toEqual([
      { device: 'nvml:GPU-A', channel: 'gpu_temp_c', unit: '°C' },
      { device: 'nvml:GPU-A', channel: 'throttle_reasons', unit: 'bits' },
    ]);
    expect(rows(recorder)).toMatchObject([
      { value: null, text: null, missing_reason: 'permission' },
      { value: 4, text: 'sw_power_cap', missing_reason: null },
    ]);
    recorder.stop();
    stub.remove();
  });

  test('have the units that the tables name', () => {
    type Native = InstanceType<Binding['Recorder']>['channels'][number]['unit'];
    expectTypeOf<Native>().toEqualTypeOf<ChannelUnit>();
    expect(channelUnits).toHaveLength(5);
  });
});
