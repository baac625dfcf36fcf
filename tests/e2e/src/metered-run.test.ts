import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openRun } from '@perwatt/records';
import { fakeMeterPage, ggufFixture, powercapTree, shellyStatus } from '@perwatt/test-kit';
import { expect, onTestFinished, test } from 'vitest';
import { onlyRun, runCli, startCli, temporaryFolder } from './cli.js';

const matrix = (power: string) => `
name: metered
protocol: quick
axes:
  model: [{ id: tiny, path: tiny.gguf }]
  dataset: [{ id: sums, kind: arithmetic, level: 1, limit: 20, max_tokens: 60 }]
power:
${power}
`;

function folderOf(power: string): string {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'tiny.gguf'), ggufFixture());
  writeFileSync(join(folder, 'matrix.yaml'), matrix(power));
  return folder;
}

async function run(folder: string, env: Record<string, string> = {}) {
  const done = await runCli(['run', 'matrix.yaml', '--quiet'], { cwd: folder, env });
  expect(done.stderr).not.toContain('error[');
  const path = onlyRun(join(folder, 'runs'));
  const results = JSON.parse(readFileSync(join(path, 'report/results.json'), 'utf8'));
  return { power: openRun(path).manifest.power, metrics: results.cells[0].metrics };
}

test('a matrix reads a smart plug: watts of the wall, called external, and no estimate beside them', async () => {
  const plug = await fakeMeterPage(() => shellyStatus(50));
  onTestFinished(() => plug.close());
  const folder = folderOf(`
  meters:
    - { id: plug, kind: http-json, url: '${plug.url}', pointer: /apower, unit: W, update_ms: 500, period_ms: 250, accuracy: 0.01 }`);
  const { power, metrics } = await run(folder);
  expect(power.map(({ source, provenance }) => [source, provenance])).toEqual([['plug', 'external']]);
  expect(power[0]?.domains).toMatchObject([{ id: 'plug:wall', scope: 'wall', scale_error_ratio: 0.01 }]);
  expect(metrics.power_w).toMatchObject({ provenance: 'external', reason: null });
  expect(metrics.power_w.value).toBeCloseTo(50, 6);
});

test('a matrix reads another host through its agent, and this one not', async () => {
  const tree = powercapTree([{ zone: 'intel-rapl:0', name: 'package-0', energy_uj: 5_000_000_000 }]);
  const start = process.hrtime.bigint();
  const twentyWatts = () => 5_000_000_000n + (20n * (process.hrtime.bigint() - start)) / 1000n;
  const counting = setInterval(() => tree.set('intel-rapl:0', twentyWatts()), 20);
  onTestFinished(() => {
    clearInterval(counting);
    tree.remove();
  });
  const agent = startCli(
    ['agent', '--port', '0', '--token-env', 'AGENT', '--source', 'rapl-powercap', '--json'],
    {
      env: { AGENT: 'secret', PERWATT_SYSFS_ROOT: tree.root },
    },
  );
  const url = await new Promise<string>((resolve, reject) => {
    agent.process.stdout?.on('data', (bytes) => resolve(JSON.parse(String(bytes)).url));
    void agent.finished.then(({ stderr }) => reject(new Error(stderr)));
  });
  const folder = folderOf(`
  agents: [{ id: far, url: '${url}', token_env: AGENT }]`);
  const { power, metrics } = await run(folder, { AGENT: 'secret' });
  expect(metrics.power_w).toMatchObject({ provenance: 'counter', reason: null });
  expect(metrics.power_w.value).toBeGreaterThan(15);
  expect(metrics.power_w.value).toBeLessThan(25);
  expect(power.map(({ source, provenance }) => [source, provenance])).toEqual([
    ['far-rapl-powercap', 'counter'],
  ]);
  expect(power[0]?.domains[0]?.note).toMatch(/through an agent; clock offset known to ±/);
});

// biome-ignore format: a table is read in columns
test.each([
  ["meters: [{ id: m, kind: http-json, url: 'http://127.0.0.1:9/', pointer: /p, unit: W }]",   'POWER_NO_SOURCE', /meter m gives no number/,              'a meter out of reach'],
  ["meters: [{ id: m, kind: http-json, url: 'http://127.0.0.1:9/', pointer: /p, unit: hp }]",  'MATRIX_INVALID',  /matrix\.yaml:8: power\.meters\[0\]\.unit/, 'a unit that is none'],
  ["meters: [{ id: m, kind: prometheus, url: 'http://127.0.0.1:9/', unit: W }]",               'MATRIX_INVALID',  /give `metric` or `query`/,             'neither metric nor query'],
  ["agents: [{ id: a, url: 'http://127.0.0.1:9/', token_env: NO_SUCH_TOKEN }]",                'INPUT_INVALID',   /NO_SUCH_TOKEN is not set/,             'a token that is not set'],
])('%s fails with %s: %s %s', async (power, code, message) => {
  const folder = folderOf(`  ${power}`);
  const { code: exit, stderr } = await runCli(['run', 'matrix.yaml', '--quiet'], { cwd: folder });
  expect([exit, stderr]).toEqual([1, expect.stringContaining(`error[${code}]`)]);
  expect(stderr).toMatch(message);
});
