import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { buildResults } from './build-results.js';
import { buildResultsOn } from './build-results-on.js';
import { resultsCsv } from './results-csv.js';
import { resultsJson } from './results-json.js';
import { syntheticRun } from './synthetic-run.fixture.js';

const root = mkdtempSync(join(tmpdir(), 'perwatt-threads-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

test('1, 2 and 4 threads give the same results to the byte', async () => {
  const run = syntheticRun({ root, items: 12, repeats: 3 });
  const alone = buildResults(run);
  for (const threads of [1, 2, 4]) {
    const results = await buildResultsOn(run, { threads });
    expect(resultsJson(results)).toBe(resultsJson(alone));
    expect(resultsCsv(results)).toBe(resultsCsv(alone));
    expect(JSON.stringify(results.shown_queries)).toBe(JSON.stringify(alone.shown_queries));
  }
});

test('a run that a thread cannot read fails as it does on one', async () => {
  const run = syntheticRun({ root: join(root, 'gone'), items: 4 });
  const cells = run.cells();
  rmSync(run.path, { recursive: true });
  await expect(buildResultsOn({ ...run, cells: () => cells }, { threads: 2 })).rejects.toThrow(/run/);
});
