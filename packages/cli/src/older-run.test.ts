import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { openRun, verifyRun } from '@perwatt/records';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compareCommand } from './commands/compare.js';
import { exportCommand } from './commands/export.js';
import { footprintCommand } from './commands/footprint.js';
import { queryCommand } from './commands/query.js';
import { reportCommand } from './commands/report.js';
import { recordedIo } from './io.fixture.js';
import type { Io } from './io.js';

/**
 * A run as the first version of the schema wrote it, before channels, recorder states and net energies of the host were
 * kept: two cells of three items in two repeats. Its bytes are those of then (path to base64, gzipped).
 */
const golden = new URL('../golden/run-1.json.gz', import.meta.url);

let root = '';
let run = '';
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'perwatt-older-'));
  run = join(root, 'old');
  const files = JSON.parse(gunzipSync(readFileSync(golden)).toString()) as Record<string, string>;
  for (const [path, bytes] of Object.entries(files)) {
    mkdirSync(dirname(join(run, path)), { recursive: true });
    writeFileSync(join(run, path), Buffer.from(bytes, 'base64'));
  }
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

async function perwatt(command: (io: Io) => Command, ...args: readonly string[]): Promise<string[]> {
  const { io, result } = recordedIo({ cwd: root });
  await command(io).exitOverride().parseAsync(args, { from: 'user' });
  expect(result.err).toEqual([]);
  return result.out;
}

describe('a run of the first version of the schema', () => {
  test('verifies: every seal, checksum, count and sum is as it was written', () => {
    expect(verifyRun(run)).toMatchObject({ cells: 2, segments: 7, rows: 151, findings: [] });
    const opened = openRun(run);
    expect(opened.manifest.schema_version).toBe(1);
    expect(opened.cells().map(({ cell_id }) => opened.readTexts(cell_id).rows.length)).toEqual([30, 18]);
    expect(opened.powerSeries()).toHaveLength(1);
    expect(opened.channelReadings()).toEqual([]);
  });

  test('answers in SQL, with what it lacks as null or no rows', async () => {
    const sql = `SELECT strategy, count(*) AS n, sum(completion_tokens)::INT AS tokens, exact_sum(energy_gross_j) AS j
      FROM queries GROUP BY strategy ORDER BY strategy`;
    expect(await perwatt(queryCommand, 'old', sql, '--csv')).toEqual([
      'strategy,n,tokens,j',
      'sc2,6,96,5.659558968000',
      'single,6,48,0.884644848000',
    ]);
    const counts =
      'SELECT (SELECT count(*) FROM calls) AS calls, (SELECT count(*) FROM samples) AS samples, (SELECT count(*) FROM channels) AS channels';
    expect(await perwatt(queryCommand, 'old', counts, '--csv')).toEqual([
      'calls,samples,channels',
      '21,70,0',
    ]);
    const later =
      'SELECT count(*) AS n, count(prefix_key) AS keys, count(shared_prefix_tokens) AS shared FROM calls';
    expect(await perwatt(queryCommand, 'old', later, '--csv')).toEqual(['n,keys,shared', '21,0,0']);
  });

  test('reports the figures that it had then', async () => {
    const [json = ''] = await perwatt(reportCommand, 'old', '--out', 'report', '--json');
    const { cells } = JSON.parse(json);
    const spent = cells.map(
      ({ metrics }: { metrics: Record<string, { value: number | null; reason: string | null }> }) => [
        metrics['max_parallel']?.value,
        metrics['sequential_tokens']?.value,
        metrics['billed_once_tokens']?.reason,
      ],
    );
    expect(spent).toEqual([
      [2, 8, 'tokens_unknown'],
      [1, 8, 'tokens_unknown'],
    ]);
    const found = cells.map((cell: { metrics: Record<string, { value: number }> }) =>
      ['accuracy', 'power_w', 'energy_per_query_j', 'energy_per_output_token_j', 'tokens_per_s'].map(
        (metric) => cell.metrics[metric]?.value,
      ),
    );
    // biome-ignore format: a table is read in columns
    expect(found).toEqual([
      [0, 8, 0.943259828, 0.05895373925, 135.699619766],
      [0, 8, 0.147440808, 0.01843010100, 434.072499114],
    ].map((row) => row.map((value) => expect.closeTo(value, 8))));
    const pages = ['index', 'results', 'pareto', 'accelerators', 'models', 'method'];
    for (const page of pages) expect(existsSync(join(root, 'report', `${page}.html`)), page).toBe(true);
    expect(readFileSync(join(root, 'report/index.html'), 'utf8')).toContain('estimate-cpu-load:cpu');
    expect(readdirSync(join(root, 'report/cells'))).toHaveLength(2);
  });

  test('is one page that holds everything where that is asked for', async () => {
    const out = await perwatt(reportCommand, 'old', '--single-file', '--out', 'page');
    expect(out.at(-1)).toBe(`report: ${join(root, 'page/index.html')}`);
    expect(readdirSync(join(root, 'page')).sort()).toEqual(['index.html', 'results.csv', 'results.json']);
  });

  test('stands beside another run in one report, which needs a place of its own', async () => {
    cpSync(run, join(root, 'again'), { recursive: true });
    const [cell] = readdirSync(join(root, 'again/cells'));
    writeFileSync(join(root, 'again/cells', cell!, 'queries.parquet'), '');
    const json = await perwatt(reportCommand, 'old', 'again', 'old', '--out', 'both', '--json');
    expect(JSON.parse(json.join('\n')).runs).toHaveLength(2);
    const pages = readdirSync(join(root, 'both/cells')).map((name) =>
      readFileSync(join(root, 'both/cells', name), 'utf8'),
    );
    expect(pages).toHaveLength(4);
    const link = `href="../../again/cells/${cell}/queries.parquet"`;
    expect(pages.filter((page) => page.includes(link))).toHaveLength(1);
    // biome-ignore format: a table is read in columns
    for (const [args, message] of [
      [['old', 'again'],                                    'a report of 2 runs needs --out'],
      [['old', 'again', '--out', 'x', '--single-file'],     '--single-file holds one run, not 2'],
    ] as const)
      await expect(perwatt(reportCommand, ...args)).rejects.toMatchObject({ code: 'USAGE', message });
  });

  test('is exported, compared and accounted for', async () => {
    const tables = await perwatt(exportCommand, 'old', '--format', 'huggingface', '--out', 'hf');
    expect(tables.map((line) => line.replace(/.*\/(\w+)\/data.*: (\d+) rows.*/, '$1 $2'))).toEqual([
      'queries 12',
      'calls 21',
      'texts 48',
      'grades 0',
      'replayed 0',
      'samples 70',
      'channels 0',
      'cells 2',
    ]);
    const compared = (await perwatt(compareCommand, 'old', '--by', 'strategy')).join('\n');
    expect(compared).toMatch(/^single +accuracy .*within noise/m);
    expect((await perwatt(footprintCommand, 'old', '--region', 'eu')).join('\n')).toContain('estimated cpu');
  });
});
