import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  instant,
  MatrixFile,
  type PowerSource,
  type Recorder,
  type RecorderStatus,
  SCHEMA_VERSION,
} from '@perwatt/core';
import { energyInWindow } from '@perwatt/metrics';
import { createRun, readSegment } from '@perwatt/records';
import { type ScriptedSample, scriptedPowerSource, testDomain } from '@perwatt/test-kit';
import { expect, onTestFinished, test } from 'vitest';
import { openPowerLog } from './power-log.js';

function logOf(
  readings: readonly (readonly ScriptedSample[])[],
  says: Partial<RecorderStatus> = {},
  more: Partial<Recorder> = {},
) {
  const root = mkdtempSync(join(tmpdir(), 'perwatt-log-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const run = createRun(root, {
    schema_version: SCHEMA_VERSION,
    metric_spec_version: 1,
    run_id: 'run-1',
    perwatt_version: '0.1.0',
    status: 'running',
    matrix: MatrixFile.parse({ name: 'm', axes: { model: ['a'], dataset: ['d'] } }),
    matrix_sha256: 'f'.repeat(64),
    order: [],
    host: {
      hostname: 'h',
      os: 'linux',
      kernel: '6',
      cpu: 'x',
      arch: 'x64',
      cores: 2,
      threads: 2,
      memory_bytes: 1,
      virtual_machine: null,
      governor: null,
      node: 'v20',
    },
    clocks: [],
    left_out: [],
    power: [],
  });
  const domains = [testDomain({ id: 'd', source: 'scripted', kind: 'gauge' })];
  const scripted = scriptedPowerSource({ domains, readings });
  const source: PowerSource = {
    ...scripted,
    start(options) {
      const recorder = scripted.start(options);
      return { ...recorder, status: () => ({ ...recorder.status(), ...says }), ...more };
    },
  };
  const log = openPowerLog(run, [source], { period_ms: undefined, boot_id: null });
  onTestFinished(() => log.close());
  return { log, run };
}

const at = (s: number, booked_energy_j: number, event?: ScriptedSample['event']): ScriptedSample => ({
  at_ns: BigInt(s) * 1_000_000_000n,
  booked_energy_j,
  ...(event && { event }),
});

const seconds = Array.from({ length: 21 }, (_, s) => s);
const window = { start: instant(0n), end: instant(20_000_000_000n) };

test('a meter that only failed for most of a window leaves no energy, although it was asked all the while', () => {
  const silent = seconds.map((s) => (s > 5 && s < 18 ? at(s, 50, 'missing') : at(s, Math.min(s, 5) * 10)));
  const { log, run } = logOf([silent]);
  log.drain();
  const [series] = log.series();
  expect(energyInWindow(series!, window)).toMatchObject({ energy_j: null, reason: 'low_coverage' });
  log.close();
  const { rows } = readSegment(join(run.powerFolder, 'scripted-0.arrows'), 'samples');
  expect(rows.map(({ event }) => event).filter((event) => event === 'missing')).toHaveLength(12);
});

test('one that never failed has its energy', () => {
  const { log } = logOf([seconds.map((s) => at(s, s * 10))]);
  log.drain();
  expect(energyInWindow(log.series()[0]!, window)).toMatchObject({ energy_j: 200, reason: null });
});

test('a log has begun when every domain has had a number', () => {
  const { log } = logOf([[at(0, 0, 'missing')], [at(1, 0, 'first')]]);
  log.drain();
  expect(log.begun()).toBe(false);
  log.drain();
  expect(log.begun()).toBe(true);
});

test('readings without a number are on record but no part of the series: in memory and on disk alike', () => {
  const { log, run } = logOf([
    [at(1, 0, 'first')],
    [at(2, 5, 'ok'), at(3, 5, 'missing'), at(4, 5, 'suspect'), at(5, 5, 'out_of_range')],
    [at(6, 9, 'ok'), at(7, 9, 'same')],
  ]);
  for (const _ of [1, 2, 3]) log.drain();
  log.close();
  const [live] = log.series();
  const [file] = run.powerSeries();
  expect([...(live?.at_ns ?? [])]).toEqual([1n, 2n, 6n, 7n].map((s) => s * 1_000_000_000n));
  expect([...(live?.booked_j ?? [])]).toEqual([0, 5, 9, 9]);
  expect(file?.series.get('d')?.at_ns).toEqual(live?.at_ns);
  expect(run.manifest.power[0]?.segment?.rows).toBe(7);
});

test('an update period that was observed to be longer than declared goes with the series, in memory and on disk', () => {
  const seen = (update_period_ns: number) => ({
    observed: [{ domain: 'd', update_period_ns, reason: null, quantum: null, samples: 9 }],
  });
  const periods = (ns: number) => {
    const { log, run } = logOf([[at(1, 0, 'first')], [at(2, 5)]], seen(ns));
    log.drain();
    log.close();
    const domains = [
      log.series()[0]?.domain,
      run.powerSeries()[0]?.domains[0],
      run.manifest.power[0]?.domains[0],
    ];
    return domains.map((domain) => domain?.update_period_ns);
  };
  expect(periods(2e9)).toEqual([2e9, 2e9, 1e6]);
  expect(periods(1e3)).toEqual([1e6, 1e6, 1e6]);
});

test('what is read beside power goes to a file of its own, named in the manifest', () => {
  let left = 2;
  const { log, run } = logOf(
    [[at(1, 0, 'first')], [at(2, 5)]],
    {},
    {
      channels: [{ device: 'gpu', channel: 'gpu_temp_c', unit: '°C' }],
      drainChannels() {
        const n = left > 0 ? 1 : 0;
        left -= n;
        return {
          at_ns: new BigInt64Array(n).fill(7n),
          channel: new Uint16Array(n),
          value: new Float64Array(n).fill(64),
          value_valid: new Uint8Array(n).fill(1),
          text: Array(n).fill(null),
          missing_reason: Array(n).fill(null),
        };
      },
    },
  );
  log.drain();
  expect(run.manifest.power[0]?.channels).toEqual({ file: 'scripted-channels-0.arrows', segment: null });
  log.close();
  expect(run.manifest.power[0]?.channels?.segment?.rows).toBe(2);
  const [readings] = run.channelReadings();
  expect(readings).toMatchObject({ source: 'scripted', torn: null });
  expect(readings?.rows.map(({ device, channel, value }) => [device, channel, value])).toEqual([
    ['gpu', 'gpu_temp_c', 64],
    ['gpu', 'gpu_temp_c', 64],
  ]);
});

test('when one source cannot start, those that run already are closed', () => {
  const { run } = logOf([[at(1, 0, 'first')]]);
  const domains = [testDomain({ id: 'other', source: 'other' })];
  const good = scriptedPowerSource({ name: 'other', domains, readings: [[at(1, 0, 'first')]] });
  const states: string[] = [];
  const watched = {
    ...good,
    start() {
      const recorder = good.start();
      return {
        ...recorder,
        stop() {
          states.push('stopped');
          recorder.stop();
        },
      };
    },
  };
  const refusing = {
    ...good,
    name: 'refusing',
    start: () => {
      throw new Error('no such device');
    },
  };
  const options = { period_ms: undefined, boot_id: null };
  expect(() => openPowerLog(run, [watched, refusing], options)).toThrow('no such device');
  expect(states).toContain('stopped');
  expect(run.manifest.power.find(({ source }) => source === 'other')?.segment).not.toBeNull();
});
