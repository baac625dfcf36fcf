import { join } from 'node:path';
import { changedJson, type PublishedRun, type RunFolder } from '@perwatt/records';
import {
  createRedactor,
  type PrivateRecords,
  privateFactsOf,
  type RunResults,
  readPlotlySource,
  resultsJsonOf,
  resultsTable,
  type TrainingReport,
  writeImportedSite,
  writeReport,
  writeSite,
  writeTrainingReport,
} from '@perwatt/reports';
import { computeResults } from './compute-results.js';
import type { Io } from './io.js';

const none: UnmeasuredRuns = { imports: [], trainings: [] };

export interface MadeReport {
  readonly results: readonly RunResults[];
  readonly html: string;
}

/** A site of several pages, or one page that holds everything: of one run only. */
export type ReportForm = 'site' | 'single-file';

export interface ReportOptions {
  /** Default: the first run's own `report/`. */
  readonly folder?: string;
  /** Default `site`. */
  readonly form?: ReportForm;
  /** Environment whose keys must not stand in the report. */
  readonly env: Io['env'];
  /** What comes into the report beside the runs. */
  readonly beside?: UnmeasuredRuns;
}

/** Runs that are none of a matrix. */
export interface UnmeasuredRuns {
  readonly imports: readonly PublishedRun[];
  readonly trainings: readonly TrainingReport[];
}

/** What takes keys, tokens and passwords out of the texts of runs; names of hosts and users stay. */
function withoutSecretsOf(runs: readonly PrivateRecords[], env: Io['env']): (text: string) => string {
  const secrets = runs.flatMap((run) => privateFactsOf(run, { hostname: '', env }).secrets);
  return createRedactor({ hosts: [], users: [], homes: [], secrets }).withoutSecrets;
}

/** Manifests of runs without cells, as they are looked through for keys. */
const recordsOf = ({ imports, trainings }: UnmeasuredRuns): PrivateRecords[] => [
  ...imports.map(({ manifest }) => ({ manifest: {}, cells: () => [manifest] })),
  ...trainings.map(({ manifest }) => ({ manifest, cells: () => [] })),
];

/** Writes the report of imported runs and trainings, at least one, without the keys that stand in them. Returns its first page. */
export async function makeUnmeasuredReport(
  runs: UnmeasuredRuns,
  { folder, env }: { readonly folder: string; readonly env: Io['env'] },
): Promise<string> {
  const { imports, trainings } = changedJson(runs, withoutSecretsOf(recordsOf(runs), env));
  const plotlySource = await readPlotlySource();
  if (imports.length === 0) return writeTrainingReport(trainings, folder, { plotlySource });
  return (await writeImportedSite(imports, folder, { plotlySource, trainings })).html;
}

/** Writes the report of runs, at least one, without the keys that stand in them. Throws as `buildResults`, `writeSite` and `writeReport` do. */
export async function makeReport(
  runs: readonly [RunFolder, ...RunFolder[]],
  { folder = join(runs[0].path, 'report'), form = 'site', env, beside = none }: ReportOptions,
): Promise<MadeReport> {
  const [first] = runs;
  const made: { readonly run: RunFolder; readonly results: RunResults }[] = [];
  const clean = withoutSecretsOf([...runs, ...recordsOf(beside)], env);
  for (const run of runs) made.push({ run, results: changedJson(await computeResults(run), clean) });
  const options = { plotlySource: await readPlotlySource(), clean };
  const own = made.find(({ run }) => run === first);
  const { html } =
    form === 'single-file' && own !== undefined
      ? await writeReport(own.results, folder, options)
      : await writeSite(made, folder, { ...options, ...changedJson(beside, clean), link_records: true });
  return { results: made.map(({ results }) => results), html };
}

/** The result table of every run on standard output, or the same as JSON. */
export function printResults(
  runs: readonly RunResults[],
  io: Io,
  { json }: { readonly json: boolean },
): void {
  if (json) {
    io.print(resultsJsonOf(runs));
    return;
  }
  for (const [i, results] of runs.entries()) {
    if (runs.length > 1) io.print(`${i > 0 ? '\n' : ''}${results.run_id}`);
    io.print(resultsTable(results, io.columns ?? 120));
  }
}
