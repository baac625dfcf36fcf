import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
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
}, 900_000);

const tiny = `
name: tiny
protocol: quick
repeats: 3
seed: 7
axes:
  model: [small]
  accelerator: [{ id: edge, kind: npu }]
  dataset: [{ id: sums, limit: 30 }]
simulate:
  models:
    small: { active_b: 1, weight_gb: 1, skill: 1 }
  accelerators:
    edge: { tflops: 10, gb_per_s: 100, idle_w: 3, prefill_w: 15, decode_w: 12 }
  datasets:
    sums: { difficulty: -1, prompt_tokens: 60, output_tokens: 60 }
`;

/** The run as it would be had a counter of an embedded engine's own device measured it. */
function asMeasured(run: string, folder: string): string {
  const copy = join(folder, 'measured');
  cpSync(run, copy, { recursive: true });
  const cells = readdirSync(join(copy, 'cells')).map((cell) => join(copy, 'cells', cell, 'cell.json'));
  const changed: Readonly<Record<string, readonly [from: string, to: string | undefined]>> = {
    provenance: ['simulated', 'counter'],
    host: ['edge', undefined],
    kind: ['simulated', 'embedded'],
    endpoint: ['edge', 'embedded'],
    accelerator: ['edge', 'bench'],
  };
  for (const file of [join(copy, 'run.json'), ...cells]) {
    const json = JSON.parse(readFileSync(file, 'utf8'), (key, value) => {
      if (key === 'run_id') return `${value}-measured`;
      const [from, to] = changed[key] ?? [];
      return from !== undefined && value === from ? to : value;
    });
    writeFileSync(file, JSON.stringify(json));
  }
  return copy;
}

test('simulated joules say so in every table, figure and file, and stand beside measured ones only on request', async () => {
  const folder = folderWith({ 'tiny.yaml': tiny });
  const root = join(folder, 'runs');
  const table = await runCli(['run', join(folder, 'tiny.yaml'), '--out', root, '--quiet']);
  expect(table).toMatchObject({ code: 0 });
  expect(table.stdout).toMatch(/†\s?[\d.]+/);
  expect(table.stdout).toContain('† simulated: laws say it, nothing was run or measured');
  const run = onlyRun(root);

  const csv = await runCli(['results', run, '--format', 'csv']);
  expect(csv.stdout).toContain('simulated');
  const json = await runCli(['results', run, '--format', 'json', '--metric', 'energy_per_query_j']);
  expect(json.stdout).toMatch(/"provenance": ?"simulated"/);
  const columns = readFileSync(join(run, 'report/results.csv'), 'utf8')
    .split('\n')
    .map((line) => line.split(','));
  expect(columns[1]?.[columns[0]?.indexOf('energy_provenance') ?? -1]).toBe('simulated');
  const file = JSON.parse(readFileSync(join(run, 'report/results.json'), 'utf8'));
  expect(file.power[0]).toMatchObject({ source: 'simulated', provenance: 'simulated' });
  expect(file.cells[0].metrics.ipw_per_w).toMatchObject({ provenance: 'simulated' });
  expect(file.not_measured.map(({ code }: { code: string }) => code)).toContain('simulated');
  const page = readFileSync(join(run, 'report/index.html'), 'utf8');
  expect(page).toMatch(/<strong>[^<]*simulated/);

  const out = join(folder, 'tables');
  expect(await runCli(['export', run, '--format', 'json', '--out', out])).toMatchObject({ code: 0 });
  expect(readFileSync(join(out, 'cells.jsonl'), 'utf8')).toContain('"energy_provenance":"simulated"');
  expect(readFileSync(join(out, 'samples.jsonl'), 'utf8')).toContain('"domain":"simulated:edge"');

  const measured = asMeasured(run, folder);
  const refused = await runCli(['compare', measured, run, '--by', 'accelerator']);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain('provenance "counter" and "simulated"');
  const mixed = await runCli(['compare', measured, run, '--by', 'accelerator', '--allow-mixed']);
  expect(mixed.stdout).toContain('provenance "counter" and "simulated"');
  expect(mixed.stdout).toContain('†');
}, 600_000);
