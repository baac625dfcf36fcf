import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { unpackBundle } from '@perwatt/reports';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { recordedIo } from '../io.fixture.js';
import { diffCommand } from './diff.js';

const golden = fileURLToPath(new URL('../../../../reports/golden/run.tgz', import.meta.url));

let root = '';
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'perwatt-diff-'));
  await unpackBundle(golden, { into: join(root, 'golden'), most_bytes: 1e9 });
  cpSync(join(root, 'golden/results.json'), join(root, 'old.json'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

async function diff(...args: readonly string[]) {
  const { io, result } = recordedIo({ cwd: root });
  await diffCommand(io)
    .exitOverride()
    .parseAsync([...args], { from: 'user' });
  return { code: result.code, out: result.out.join('\n') };
}

interface Results {
  run_id: string;
  host: { cpu: string | null };
  results_version: number;
  cells: {
    point: Record<string, string>;
    verdict: { state: string; reasons: unknown[] };
    metrics: Record<string, Record<string, unknown>>;
    provenance: { endpoint: { engine_version: string } };
  }[];
}

/** The golden results with something changed, as a file. */
function edited(name: string, edit: (results: Results) => void): string {
  const results: Results = JSON.parse(readFileSync(join(root, 'old.json'), 'utf8'));
  edit(results);
  writeFileSync(join(root, name), JSON.stringify(results));
  return name;
}

/** A figure with all its bounds, `factor` times what it was. */
function scaled(results: Results, id: string, factor: number): void {
  const metric = results.cells[0]!.metrics[id]!;
  for (const [key, value] of Object.entries(metric))
    if (typeof value === 'number') metric[key] = value * factor;
}

describe('two results', () => {
  test('that are the same have nothing to tell', async () => {
    const { code, out } = await diff('old.json', 'old.json');
    expect(out).toMatch(/^nothing changed: 2 cells, \d+ figures$/);
    expect(code).toBe(0);
  });

  test('one a run and one its stored results, are the same too', async () => {
    const { code, out } = await diff('old.json', 'golden/run', '--metric', 'accuracy');
    expect(out).toMatch(/^nothing changed/);
    expect(code).toBe(0);
  });

  test('tell figures with intervals and a verdict, cells, verdicts and provenance', async () => {
    const file = edited('new.json', (results) => {
      scaled(results, 'ipj_per_j', 3);
      results.cells[0]!.metrics['accuracy']!['value'] = null;
      results.cells[0]!.metrics['accuracy']!['reason'] = 'nothing_scored';
      results.cells[0]!.verdict = { state: 'invalid', reasons: [] };
      results.cells[0]!.provenance.endpoint.engine_version = 'b9999';
      results.cells[1]!.point['model'] = 'other';
      results.host.cpu = 'Another\u001b[31m CPU';
    });
    const { code, out } = await diff('old.json', file);
    expect(code).toBe(1);
    expect(out).toMatch(/added {4}other \/ edge/);
    expect(out).toMatch(/removed {2}small \/ edge/);
    expect(out).toMatch(/verdict flagged quick → invalid/);
    expect(out).toMatch(/changed .*: engine .* → .*b9999/);
    expect(out).toMatch(/processor simulated → Another \[31m CPU/);
    expect(out).toMatch(/accuracy +0?\.?\d[^\n]*nothing_scored/);
    expect(out).toMatch(/ipj_per_j[^\n]*\[[^\n]*\[[^\n]*×3[^\n]*not judged/);
    const json = JSON.parse((await diff('old.json', file, '--json')).out);
    expect(json.cells).toMatchObject({ shared: 1, added: [expect.stringContaining('other')] });
    expect(
      json.figures.find(({ metric }: { metric: string }) => metric === 'ipj_per_j').effect.value,
    ).toBeCloseTo(3, 9);
  });

  test('a figure beyond its noise is different, one within it is not', async () => {
    const changed = (factor: number) =>
      edited(`by-${factor}.json`, (results) => {
        scaled(results, 'ipj_per_j', factor);
        results.cells.splice(1);
      });
    const verdict = async (factor: number) => {
      const { figures } = JSON.parse((await diff('old.json', changed(factor), '--json')).out);
      return figures.find(({ metric }: { metric: string }) => metric === 'ipj_per_j').verdict;
    };
    expect(await verdict(3)).toBe('different');
    expect(await verdict(1.01)).toBe('within noise');
  });
});

test.each([
  ['nowhere', () => 'nowhere', 'FILE_UNREADABLE'],
  [
    'a folder of nothing',
    () => {
      mkdirSync(join(root, 'nothing'), { recursive: true });
      return 'nothing';
    },
    'INPUT_INVALID',
  ],
  [
    'no JSON',
    () => {
      writeFileSync(join(root, 'x.json'), 'x');
      return 'x.json';
    },
    'INPUT_INVALID',
  ],
  [
    'other JSON',
    () => {
      writeFileSync(join(root, 'y.json'), '[]');
      return 'y.json';
    },
    'INPUT_INVALID',
  ],
  [
    'results of a newer version',
    () =>
      edited('z.json', (results) => {
        results.results_version = 99;
      }),
    'RUN_SCHEMA_NEWER',
  ],
])('%s is one clear error', async (_what, make, code) => {
  await expect(diff('old.json', make())).rejects.toMatchObject({ code });
});
