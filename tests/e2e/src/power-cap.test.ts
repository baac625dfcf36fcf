import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startMockServer } from '@perwatt/clients';
import { openRun } from '@perwatt/records';
import { expect, onTestFinished, test, vi } from 'vitest';
import { onlyRun, type Running, startCli, temporaryFolder } from './cli.js';

/** A matrix whose one cell runs under 200 W, by commands that keep a device's limit in a file; calls take so long that it can be killed. */
async function measuredUnderLimit() {
  const mock = await startMockServer({
    ttft: { kind: 'constant', ms: 150 },
    tpot: { kind: 'constant', ms: 1 },
  });
  onTestFinished(() => mock.close());
  const folder = temporaryFolder();
  const limit = join(folder, 'limit');
  writeFileSync(limit, '350');
  writeFileSync(
    join(folder, 'limit.js'),
    `const { readFileSync, writeFileSync } = require('node:fs');
if (process.argv[2] === undefined) console.log('limit: ' + readFileSync('limit', 'utf8') + ' W');
else writeFileSync('limit', process.argv[2]);`,
  );
  writeFileSync(
    join(folder, 'matrix.yaml'),
    `
name: capped
protocol: quick
power: { sources: [] }
power_cap:
  set: ['${process.execPath}', limit.js, '{watts}']
  read: ['${process.execPath}', limit.js]
  restore: ['${process.execPath}', limit.js, '{watts}']
  settle_s: 0
axes:
  model: [{ id: m, endpoint: mock }]
  dataset: [{ id: sums, kind: arithmetic, level: 1, limit: 60, max_tokens: 8 }]
  variant: [{ id: w200, power_cap_w: 200 }]
endpoints:
  mock: { url: '${mock.url}' }
`,
  );
  const start = (...args: readonly string[]) =>
    startCli(['run', ...args, '--quiet', '--no-report', '--no-compact'], { cwd: folder });
  const watts = () => readFileSync(limit, 'utf8');
  /** Waits until the cell is being measured under its limit; a process that ends before says why. */
  const measuring = async ({ finished, stderr }: Running) => {
    const ended = finished.then(({ code }) => expect.fail(`ended with ${code}: ${stderr()}`));
    const seen = vi.waitFor(
      () => {
        const run = openRun(onlyRun(join(folder, 'runs')));
        expect(run.readCalls(run.manifest.order[0]!).rows.length).toBeGreaterThan(3);
        expect(watts()).toBe('200');
      },
      { timeout: 50_000, interval: 100 },
    );
    await Promise.race([seen, ended]);
  };
  const manifest = () => openRun(onlyRun(join(folder, 'runs'))).manifest;
  return { start, watts, measuring, manifest, run: () => onlyRun(join(folder, 'runs')) };
}

test('after kill -9 the limit is as the run left it, and the resume puts it back and measures under it again', async () => {
  const { start, watts, measuring, manifest, run } = await measuredUnderLimit();
  const first = start('matrix.yaml');
  await measuring(first);
  first.process.kill('SIGKILL');
  await first.finished;
  expect([watts(), manifest().power_cap]).toEqual([
    '200',
    { before_w: 350, state: 'set', after_w: null, problem: null },
  ]);
  const again = await start('--resume', run()).finished;
  expect(again.stderr).not.toContain('error');
  expect([again.code, watts()]).toEqual([0, '350']);
  expect(manifest()).toMatchObject({ status: 'done', power_cap: { state: 'restored', after_w: 350 } });
  const [cell] = openRun(run()).cells();
  expect(cell?.sittings.map(({ power_cap }) => power_cap?.read_w)).toEqual([200, 200]);
});

test('Ctrl-C puts the limit back before the process ends', async () => {
  const { start, watts, measuring, manifest } = await measuredUnderLimit();
  const running = start('matrix.yaml');
  await measuring(running);
  running.process.kill('SIGINT');
  expect((await running.finished).code).toBe(130);
  expect([watts(), manifest().power_cap?.state, manifest().status]).toEqual([
    '350',
    'restored',
    'interrupted',
  ]);
});

test('a second Ctrl-C, which ends the process at once, still puts it back', async () => {
  const { start, watts, measuring } = await measuredUnderLimit();
  const running = start('matrix.yaml');
  await measuring(running);
  running.process.kill('SIGINT');
  await vi.waitFor(() => expect(running.stderr()).toContain('stopping'), { timeout: 20_000 });
  running.process.kill('SIGINT');
  expect((await running.finished).code).toBe(130);
  expect(watts()).toBe('350');
});
