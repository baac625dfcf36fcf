import { join } from 'node:path';
import type { RunFolder } from '@perwatt/records';
import { type RunResults, readPlotlySource, resultsJson, resultsTable, writeReport } from '@perwatt/reports';
import { computeResults } from './compute-results.js';
import type { Io } from './io.js';

export interface MadeReport {
  readonly results: RunResults;
  readonly html: string;
}

/** Writes the report of a run into `folder`, by default the run's own `report/`. */
export async function makeReport(run: RunFolder, folder = join(run.path, 'report')): Promise<MadeReport> {
  const results = await computeResults(run);
  const { html } = await writeReport(results, folder, { plotlySource: await readPlotlySource() });
  return { results, html };
}

/** The result table on standard output, or the same as JSON. */
export function printResults(results: RunResults, io: Io, { json }: { readonly json: boolean }): void {
  io.print(json ? resultsJson(results) : resultsTable(results, io.columns ?? 120));
}
