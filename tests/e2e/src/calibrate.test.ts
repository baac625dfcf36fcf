import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fakeMeterPage, powercapTree, shellyStatus } from '@perwatt/test-kit';
import { expect, onTestFinished, test } from 'vitest';
import { runCli, temporaryFolder } from './cli.js';

/** Processor power at a time since the start: a step each 1.5 s. */
const watts = (seconds: number) => [10, 40, 70, 25, 55][Math.floor(seconds / 1.5) % 5] ?? 10;

test('a counter is held against a plug, and bounds use the result', async () => {
  const tree = powercapTree([{ zone: 'intel-rapl:0', name: 'package-0', energy_uj: 1_000_000 }]);
  const start = process.hrtime.bigint();
  const seconds = () => Number(process.hrtime.bigint() - start) / 1e9;
  let [booked_j, last_s] = [1, 0];
  const counting = setInterval(() => {
    const now = seconds();
    booked_j += watts(last_s) * (now - last_s);
    last_s = now;
    tree.set('intel-rapl:0', Math.round(booked_j * 1e6));
  }, 5);
  const plug = await fakeMeterPage(() => shellyStatus(30 + 1.25 * watts(seconds())));
  onTestFinished(async () => {
    clearInterval(counting);
    await plug.close();
    tree.remove();
  });
  const folder = temporaryFolder();
  writeFileSync(
    join(folder, 'lab.yaml'),
    `name: lab
axes: { model: [m], dataset: [d] }
power:
  meters: [{ id: plug, kind: http-json, url: '${plug.url}', pointer: /apower, unit: W, update_ms: 100, period_ms: 100, accuracy: 0.01 }]
`,
  );
  const env = { PERWATT_SYSFS_ROOT: tree.root, PERWATT_CONFIG: join(folder, 'config') };
  const wait = ['--', process.execPath, '-e', 'setTimeout(() => {}, 12000)'];
  const meters = ['--source', 'rapl-powercap', '--against', 'plug', '--matrix', 'lab.yaml', '--json'];
  const made = await runCli(['power', 'calibrate', ...meters, ...wait], { cwd: folder, env });
  expect(made.stderr).toContain('stored, and applied from now on');
  const calibration = JSON.parse(made.stdout);
  expect(calibration.scale).toBeGreaterThan(1.1);
  expect(calibration.scale).toBeLessThan(1.4);
  expect(readdirSync(join(folder, 'config/calibrations'))).toHaveLength(1);

  const record = ['power', 'record', '--baseline', '0s', '--source', 'rapl-powercap'];
  const quick = ['--', process.execPath, '-e', 'setTimeout(() => {}, 300)'];
  const told = await runCli([...record, ...quick], { cwd: folder, env });
  expect(told.stderr).toContain('bounds of rapl-powercap use its calibration against plug on 20');
  const json = await runCli([...record, '--json', ...quick], { cwd: folder, env });
  expect(JSON.parse(json.stdout).domains[0]).toMatchObject({
    scale_error_ratio: calibration.scale_error_ratio,
    calibration: { sha256: calibration.sha256, against: 'plug' },
  });
});
