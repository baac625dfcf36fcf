import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { resolveModel } from '@perwatt/clients';
import { messageOf } from '@perwatt/core';
import { parseMatrix } from '@perwatt/harness';
import { openRun, verifyRun } from '@perwatt/records';
import { describe, expect, test } from 'vitest';
import { onlyRun, repository, runCli, temporaryFolder } from './cli.js';
import { reportText } from './report-text.js';

const perwatt = join(repository, 'packages/cli/bin/perwatt.js');
const example = join(repository, 'examples/engine-sweep.yaml');

async function whyNot(): Promise<string | null> {
  try {
    await resolveModel('smollm2-135m', { env: process.env });
    return null;
  } catch (error) {
    return messageOf(error);
  }
}

/** The example with fewer and shorter queries, its server started from this repository. */
function small(folder: string): string {
  const text = readFileSync(example, 'utf8')
    .replace('command: [perwatt, serve', `command: [${process.execPath}, ${perwatt}, serve`)
    .replace('limit: 24, max_tokens: 48', 'limit: 6, max_tokens: 8')
    .replace('rate_per_s: 0.8', 'rate_per_s: 4');
  expect(text).toContain('limit: 6,');
  const file = join(folder, 'engine-sweep.yaml');
  writeFileSync(file, text);
  return file;
}

test('the example is a matrix of one real server under five loads', () => {
  const { axes, engines } = parseMatrix(readFileSync(example, 'utf8'), 'engine-sweep.yaml');
  expect(Object.keys(engines ?? {})).toEqual(['serve']);
  expect(axes.load.map(({ concurrency, arrivals }) => arrivals?.kind ?? concurrency)).toEqual([
    1,
    2,
    4,
    8,
    'server',
  ]);
});

describe('a real server under load', async () => {
  const reason = await whyNot();
  if (reason !== null) process.stdout.write(`skipped the sweep of a real server: ${reason}\n`);

  test.skipIf(reason !== null)(
    'has joules per token at each load, energies that conserve, the counts of the server, and the curve on its page',
    async () => {
      const folder = temporaryFolder();
      const done = await runCli(['run', small(folder), '--quiet', '--no-compact'], { cwd: folder });
      expect(done.stderr).toBe('');
      expect(done.code).toBe(0);
      const path = onlyRun(join(folder, 'runs'));
      const run = openRun(path);
      const cells = run.cells();
      expect(cells.map(({ status }) => status)).toEqual(Array(5).fill('done'));
      expect(verifyRun(path).findings).toEqual([]);
      for (const { cell_id, ledgers, sittings, provenance } of cells) {
        const inTotal = ledgers.filter((ledger) => ledger.in_total);
        expect(inTotal.length).toBeGreaterThan(0);
        for (const { meter_j, queries_j, unattributed_j } of inTotal) {
          expect(meter_j).toBeGreaterThan(0);
          expect((queries_j ?? 0) + (unattributed_j ?? 0)).toBeCloseTo(meter_j ?? 0, 6);
        }
        const calls = run.readCalls(cell_id).rows.filter(({ phase }) => phase === 'measure');
        const tokens = calls.reduce((sum, call) => sum + (call.completion_tokens ?? 0), 0);
        expect(sittings[0]?.server_load?.generation_tokens).toBe(tokens);
        expect(provenance?.endpoint).toMatchObject({
          quantisation: expect.any(String),
          server: { id: 'serve', kind: 'command', argv: expect.arrayContaining(['--sequences', '8']) },
        });
      }
      const { cells: results } = JSON.parse(readFileSync(join(path, 'report/results.json'), 'utf8'));
      const byLoad = new Map(results.map((cell: { point: { load: string } }) => [cell.point.load, cell]));
      for (const load of ['c1', 'c2', 'c4', 'c8', 'open']) {
        const { metrics } = byLoad.get(load) as {
          metrics: Record<string, { value: number; reason: string }>;
        };
        expect([load, metrics['energy_per_output_token_j']?.reason]).toEqual([load, null]);
        expect(metrics['energy_per_output_token_j']?.value).toBeGreaterThan(0);
        expect(metrics['tokens_per_s']?.value).toBeGreaterThan(0);
      }
      const open = byLoad.get('open') as { metrics: Record<string, { value: number }> };
      expect(open.metrics['offered_per_s']?.value).toBeGreaterThan(0);
      expect(open.metrics['goodput_per_s']?.value).toBeGreaterThanOrEqual(0);
      expect(open.metrics['lag_p99_ns']?.value).toBeGreaterThanOrEqual(0);
      const page = reportText(path);
      for (const part of ['id="load-curve"', 'What the servers said', 'Engines that were started'])
        expect(page).toContain(part);
      expect(done.stdout).toContain('goodput/s');
    },
    400_000,
  );
});
