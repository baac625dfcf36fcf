import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fakeMeterPage, ggufFixture, shellyStatus } from '@perwatt/test-kit';
import { expect, onTestFinished, test } from 'vitest';
import { onlyRun, runCli, temporaryFolder } from './cli.js';

const matrix = (url: string) => `
name: two
protocol: quick
repeats: 2
axes:
  model: [{ id: tiny, path: tiny.gguf }, { id: twin, path: twin.gguf }]
  dataset: [{ id: sums, kind: arithmetic, level: 1, limit: 8, max_tokens: 8 }]
power:
  meters:
    - { id: plug, kind: http-json, url: '${url}', pointer: /apower, unit: W, update_ms: 500, period_ms: 250, accuracy: 0.01 }
`;

test('a run is shown, compared and routed by the built command', { timeout: 180_000 }, async () => {
  const plug = await fakeMeterPage(() => shellyStatus(50));
  onTestFinished(() => plug.close());
  const cwd = temporaryFolder();
  for (const name of ['tiny', 'twin']) writeFileSync(join(cwd, `${name}.gguf`), ggufFixture());
  writeFileSync(join(cwd, 'matrix.yaml'), matrix(plug.url));
  const done = await runCli(['run', 'matrix.yaml', '--quiet'], { cwd });
  expect(done.stderr).not.toContain('error[');
  const run = onlyRun(join(cwd, 'runs'));

  const shown = await runCli(['results', run, '--metric', 'accuracy,power_w', '--format', 'csv'], { cwd });
  expect(shown.stdout.trim().split('\n')).toHaveLength(5);
  expect(shown.stdout).toMatch(/power_w,W,(50|49\.9)/);
  expect(shown.stdout).toMatch(/external,wall/);

  const compared = await runCli(['compare', run, '--by', 'model', '--json'], { cwd });
  const { rows } = JSON.parse(compared.stdout) as {
    rows: { metric: string; verdict: string | null; estimate: object }[];
  };
  expect(rows.map(({ metric }) => metric)).toContain('energy_per_query_j');
  expect(
    rows.filter(({ metric }) => /_j$|_w$/.test(metric)).every(({ verdict }) => verdict !== 'different'),
  ).toBe(true);
  expect(rows.find(({ metric }) => metric === 'accuracy')?.estimate).toMatchObject({
    pairing: 'paired',
    items: 8,
    repeats: 2,
  });

  const refused = await runCli(['compare', run, '--by', 'accelerator'], { cwd });
  expect(refused.code).toBe(1);
  expect(refused.stderr).toMatch(/^error\[INPUT_INVALID\]: no two cells differ in accelerator alone/m);

  const routed = await runCli(['route', run, '--json', '--router', 'oracle', 'random'], { cwd });
  const [table] = JSON.parse(routed.stdout) as [
    { scored_repeat: number; rows: { router: string; saving: number }[] },
  ];
  expect(table.scored_repeat).toBe(1);
  expect(table.rows.map(({ router }) => router)).toEqual([
    'all to tiny',
    'all to twin',
    'oracle',
    'random, 50 % strong',
  ]);
});
