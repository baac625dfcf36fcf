import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { RunFolder } from '@perwatt/records';
import { buildResults, resultsJson, resultsTable, writeReport } from '@perwatt/reports';
import type { Io } from './io.js';

/** Writes the report of a run into `folder`, by default the run's own `report/`. */
export async function makeReport(run: RunFolder, folder = join(run.path, 'report')) {
  const results = await buildResults(run);
  return writeReport(results, folder, { plotlySource: readFileSync(plotlyFile(), 'utf8') });
}

const plotlyFile = () =>
  createRequire(createRequire(import.meta.url).resolve('@perwatt/reports')).resolve('plotly.js-dist-min');

/** The result table on standard output, or the same as JSON. */
export async function printResults(
  run: RunFolder,
  io: Io,
  { json }: { readonly json: boolean },
): Promise<void> {
  const results = await buildResults(run);
  io.print(json ? resultsJson(results) : resultsTable(results, io.columns ?? 120));
}
