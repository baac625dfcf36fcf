import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRng } from '@perwatt/core';
import { openRun, readSegment } from '@perwatt/records';
import { ggufFixture } from '@perwatt/test-kit';
import { expect, test, vi } from 'vitest';
import { onlyRun, runCli, startCli, temporaryFolder } from './cli.js';

const KILLS = 5;

function matrixIn(folder: string): string {
  writeFileSync(join(folder, 'tiny.gguf'), ggufFixture());
  const file = join(folder, 'matrix.yaml');
  writeFileSync(
    file,
    `
name: kills
protocol: quick
seed: 11
axes:
  model: [{ id: tiny, path: tiny.gguf }]
  dataset:
    - { id: sums, kind: arithmetic, level: 1, limit: 60, max_tokens: 160 }
  strategy: [single, { id: sc2, kind: self_consistency, attempts: 2 }]
`,
  );
  return file;
}

const queryIds = (path: string) => {
  const run = openRun(path);
  return run.cells().flatMap((cell) => run.readQueries(cell.cell_id).rows.map((q) => q.query_id));
};

/** Batches that a torn segment keeps, all of them readable; throws when reading does. */
function readEverything(path: string): number {
  let rows = 0;
  const run = openRun(path);
  for (const cell of run.cells()) {
    const folder = run.cellFolder(cell.cell_id);
    for (const file of readdirSync(folder).filter((name) => name.endsWith('.arrows'))) {
      const table = file.startsWith('calls') ? 'calls' : file.startsWith('texts') ? 'texts' : 'queries';
      rows += readSegment(join(folder, file), table).rows.length;
    }
  }
  return rows;
}

/** Rows on the disk so far; 0 before there is a run. */
const rowsOf = (root: string): number =>
  existsSync(root) && readdirSync(root).length > 0 ? readEverything(onlyRun(root)) : 0;

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test('five kills at random moments, each followed by a resume: every query once, every whole batch readable', async () => {
  const folder = temporaryFolder();
  const matrix = matrixIn(folder);
  const [whole, killed] = [join(folder, 'whole'), join(folder, 'killed')];
  // Beside the killed one, for both wait most of the time.
  const uninterrupted = runCli(['run', matrix, '--out', whole, '--no-report', '--quiet']);

  const rng = createRng(2024);
  let rowsBefore = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    const args = existsSync(killed)
      ? ['run', '--resume', onlyRun(killed), '--no-report', '--quiet']
      : ['run', matrix, '--out', killed, '--no-report', '--quiet'];
    const running = startCli(args);
    await wait(4_000 + rng() * 8_000);
    await vi.waitFor(() => onlyRun(killed), { timeout: 60_000, interval: 100 });
    running.process.kill('SIGKILL');
    await running.finished;
    const rows = readEverything(onlyRun(killed));
    expect(rows).toBeGreaterThanOrEqual(rowsBefore);
    rowsBefore = rows;
  }
  const last = await runCli(['run', '--resume', onlyRun(killed), '--no-report', '--quiet']);
  for (const { code, stderr } of [last, await uninterrupted]) expect(code, stderr).toBe(0);
  const expected = queryIds(onlyRun(whole)).toSorted();
  expect(expected).toHaveLength(120);

  const ids = queryIds(onlyRun(killed));
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.toSorted()).toEqual(expected);
  for (const cell of openRun(onlyRun(killed)).cells()) {
    expect(cell.status).toBe('done');
    for (const ledger of cell.ledgers.filter((l) => l.meter_j !== null)) {
      const { meter_j, queries_j, unattributed_j } = ledger;
      expect((queries_j ?? 0) + (unattributed_j ?? 0)).toBeCloseTo(meter_j ?? 0, 6);
    }
  }
}, 300_000);

test('Ctrl-C ends a run cleanly, prints how to go on, and a resume completes it', async () => {
  const folder = temporaryFolder();
  const matrix = matrixIn(folder);
  const out = join(folder, 'runs');
  const running = startCli(['run', matrix, '--out', out, '--no-report']);
  await vi.waitFor(() => expect(rowsOf(out)).toBeGreaterThan(0), { timeout: 60_000, interval: 100 });
  running.process.kill('SIGINT');
  const { code, stderr } = await running.finished;
  expect(code).toBe(130);
  expect(stderr).toContain(`perwatt run --resume ${onlyRun(out)}`);
  expect(openRun(onlyRun(out)).manifest.status).toBe('interrupted');

  const resumed = await runCli(['run', '--resume', onlyRun(out), '--quiet']);
  expect(resumed.code).toBe(0);
  expect(queryIds(onlyRun(out))).toHaveLength(120);
  expect(existsSync(join(onlyRun(out), 'report', 'index.html'))).toBe(true);
  for (const { cell_id } of openRun(onlyRun(out)).cells())
    expect(readdirSync(join(onlyRun(out), 'cells', cell_id))).toContain('queries.parquet');
}, 180_000);
