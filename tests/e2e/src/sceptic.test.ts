import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { unpackBundle } from '@perwatt/reports';
import { pythonClients } from '@perwatt/test-kit';
import { expect, test } from 'vitest';
import { repository, runCli, temporaryFolder } from './cli.js';

const client = pythonClients();
if ('missing' in client) process.stderr.write(`skipped: the walk of a sceptic, because ${client.missing}\n`);

const script = fileURLToPath(new URL('./sceptic.py', import.meta.url));

interface Cell {
  readonly cell_id: string;
  readonly point: Readonly<Record<string, string>>;
  readonly concurrency: number;
  readonly energy: { readonly gross_j: number; readonly busy_ns: number };
  readonly metrics: Readonly<Record<string, { readonly value: number | null }>>;
}

const checked = [
  'accuracy',
  'power_w',
  'energy_per_query_j',
  'ipw_per_w',
  'ipj_per_j',
  'tokens_per_s',
  'energy_per_output_token_j',
] as const;

test.skipIf('missing' in client)(
  'a number of the report leads to its cell, its queries and the raw samples, and pyarrow alone makes it again',
  async () => {
    const folder = temporaryFolder();
    const bundle = join(repository, 'reports/golden/run.tgz');
    const [into, report] = [join(folder, 'bundle'), join(folder, 'report')];
    await unpackBundle(bundle, { into, most_bytes: 1e8 });
    const run = join(into, 'run');
    const told = await runCli(['report', run, '--out', report]);
    expect(told.code, told.stderr).toBe(0);
    expect(told.stdout + told.stderr).not.toContain('\u001b');
    const overview = readFileSync(join(report, 'index.html'), 'utf8');
    const { cells } = JSON.parse(readFileSync(join(report, 'results.json'), 'utf8')) as { cells: Cell[] };
    expect(cells).toHaveLength(2);
    for (const cell of cells) {
      expect(overview).toContain(cell.cell_id);
      expect(existsSync(join(report, 'cells', `${cell.cell_id}.html`))).toBe(true);
      const python = 'python' in client ? client.python : '';
      const made = JSON.parse(execFileSync(python, [script, run, cell.cell_id], { encoding: 'utf8' }));
      expect(made.gross_j / cell.energy.gross_j).toBeCloseTo(1, 9);
      expect(made.busy_ns).toBe(cell.energy.busy_ns);
      for (const id of checked) expect(made[id] / (cell.metrics[id]?.value ?? 0), id).toBeCloseTo(1, 9);
      if (cell.concurrency === 1) expect(made.query.row_j / made.query.alone_j).toBeCloseTo(1, 9);
    }
  },
  300_000,
);
