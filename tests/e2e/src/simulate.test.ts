import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openRun } from '@perwatt/records';
import { expect, test } from 'vitest';
import { folderWith, onlyRun, runCli, startCli } from './cli.js';

const matrix = `
name: fleet
protocol: standard
seed: 7
axes:
  model: [small, large]
  accelerator: [{ id: desk, kind: gpu }, { id: edge, kind: npu }]
  dataset: [{ id: sums, limit: 150 }, { id: proofs, limit: 150 }]
  load: [{ concurrency: 4 }, { concurrency: 16 }]
power: { period_ms: 1000 }
simulate:
  models:
    small: { active_b: 1, weight_gb: 1, skill: -1 }
    large: { active_b: 8, weight_gb: 8, skill: 3 }
  accelerators:
    desk: { tflops: 100, gb_per_s: 500, idle_w: 30, prefill_w: 300, decode_w: 200 }
    edge: { tflops: 10, gb_per_s: 100, idle_w: 3, prefill_w: 15, decode_w: 12 }
  datasets:
    sums: { difficulty: -1, prompt_tokens: 60, output_tokens: 60 }
    proofs: { difficulty: 2, prompt_tokens: 200, output_tokens: 400 }
`;

const cellsDone = (root: string): number => {
  const [run] = existsSync(root) ? readdirSync(root) : [];
  const folder = join(root, run ?? '', 'cells');
  if (run === undefined || !existsSync(folder)) return 0;
  return readdirSync(folder).filter((cell) => {
    const file = join(folder, cell, 'cell.json');
    return existsSync(file) && /"status": ?"done"/.test(readFileSync(file, 'utf8'));
  }).length;
};

test('a fleet of laws runs to a report, is killed and resumed without a query lost, and is marked as simulated', async () => {
  const folder = folderWith({ 'fleet.yaml': matrix });
  const root = join(folder, 'runs');
  const running = startCli(['run', join(folder, 'fleet.yaml'), '--out', root, '--no-report', '--quiet']);
  while (cellsDone(root) < 3 && running.process.exitCode === null)
    await new Promise((resolve) => setTimeout(resolve, 50));
  running.process.kill('SIGKILL');
  await running.finished;
  const run = onlyRun(root);
  const resumed = await runCli(['run', '--resume', run, '--quiet']);
  expect(resumed).toMatchObject({ code: 0 });

  const cells = openRun(run).cells();
  expect(cells).toHaveLength(16);
  for (const cell of cells) {
    expect(cell.status).toBe('done');
    const ids = openRun(run)
      .readQueries(cell.cell_id)
      .rows.map((row) => row.query_id);
    expect(ids).toHaveLength(450);
    expect(new Set(ids).size).toBe(450);
    expect(cell.ledgers.filter((l) => l.in_total && l.meter_j !== null)).toHaveLength(1);
  }
  const verified = await runCli(['verify', run]);
  expect(verified.code, verified.stdout).toBe(0);
  const results = await runCli(['results', run]);
  expect(results.stdout).toContain('† simulated');
  expect(readFileSync(join(run, 'report/index.html'), 'utf8')).toContain('simulated');
}, 240_000);
