import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { MatrixFile, type SampleEvent, SCHEMA_VERSION } from '@perwatt/core';
import { createRun } from '@perwatt/records';
import { type ScriptedSample, scriptedPowerSource, testDomain } from '@perwatt/test-kit';
import { expect, onTestFinished, test } from 'vitest';
import { openPowerLog } from './power-log.js';

const newRun = () => {
  const root = mkdtempSync(`${tmpdir()}/perwatt-power-log-`);
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  return createRun(root, {
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
};

const sample = (at: number, booked_energy_j: number, event: SampleEvent): ScriptedSample => ({
  at_ns: BigInt(at),
  booked_energy_j,
  event,
});

test('readings without a number are on record but no part of the series: in memory and on disk alike', () => {
  const run = newRun();
  const source = scriptedPowerSource({
    domains: [testDomain({ id: 'a' })],
    readings: [
      [sample(1, 0, 'first')],
      [sample(2, 5, 'ok'), sample(3, 5, 'missing'), sample(4, 5, 'suspect'), sample(5, 5, 'out_of_range')],
      [sample(6, 9, 'ok'), sample(7, 9, 'same')],
    ],
  });
  const log = openPowerLog(run, [source], { period_ms: undefined, boot_id: null });
  for (const _ of [1, 2, 3]) log.drain();
  log.close();
  const [live] = log.series();
  const [file] = run.powerSeries();
  expect([...(live?.at_ns ?? [])]).toEqual([1n, 2n, 6n, 7n]);
  expect([...(live?.booked_j ?? [])]).toEqual([0, 5, 9, 9]);
  expect(file?.series.get('a')?.at_ns).toEqual(live?.at_ns);
  expect(run.manifest.power[0]?.segment?.rows).toBe(7);
});
