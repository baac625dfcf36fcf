import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { exportRun, type TrainingRun, writeRecordsParquet } from '@perwatt/records';
import { gridMarkdown, recordsCsv } from '../compare/grid.js';
import type { TrainingReport } from '../training/training-account.js';
import { trainingPage } from '../training/training-page.js';
import { type CitedRun, citationFile } from './citation.js';
import { latexTable } from './latex-table.js';
import { putFigures, putFile, wholeFolder, writeChecksums } from './publication-files.js';
import { trainingCard } from './training-card.js';
import { trainingGrid, trainingNotes, trainingRecords } from './training-table.js';
import type { PublicationOptions } from './write-publication.js';

/** A training as it is to be published: nothing private in it any more. */
export interface PublishedTraining {
  readonly run: TrainingRun;
  readonly report: TrainingReport;
  /** JSON of its account. */
  readonly json: string;
}

export interface TrainingPublicationOptions extends Omit<PublicationOptions, 'report'> {
  /** Writes the report of all trainings into a folder. */
  readonly report: (reports: readonly TrainingReport[], folder: string) => Promise<unknown>;
}

const citedTraining = ({ run: { manifest } }: PublishedTraining): CitedRun => ({
  run_id: manifest.run_id,
  perwatt_version: manifest.perwatt_version,
  clocks: manifest.clocks,
  sha256: createHash('sha256').update(JSON.stringify(manifest.trainings)).digest('hex'),
  sha256_of: 'the recipes, parameters and seeds',
});

/**
 * Writes a publication of trainings into `out`, a new folder: report, accounts, tables, figures, the tables behind them, a
 * citation, a data card and checksums over all. It appears whole or not at all. The same runs give the same bytes. Throws
 * `INPUT_INVALID` where the folder holds something.
 */
export async function writeTrainingPublication(
  out: string,
  sources: readonly PublishedTraining[],
  options: TrainingPublicationOptions,
): Promise<void> {
  await wholeFolder(out, (folder) => writeParts(folder, sources, options));
}

async function writeParts(
  folder: string,
  sources: readonly PublishedTraining[],
  { title, licence, redacted, draw, missing, report, ...facts }: TrainingPublicationOptions,
): Promise<void> {
  const reports = sources.map((source) => source.report);
  const runs = sources.map((source) => ({
    ...source,
    folder: sources.length === 1 ? '.' : `runs/${source.run.manifest.run_id}`,
  }));
  for (const source of runs) {
    putFile(join(folder, source.folder, 'results.json'), source.json);
    await exportRun(source.run.path, { format: 'parquet', out: join(folder, source.folder, 'data') });
  }
  const records = trainingRecords(reports);
  putFile(join(folder, 'results.csv'), `${recordsCsv(records).join('\n')}\n`);
  await writeRecordsParquet(join(folder, 'results.parquet'), records);
  writeTables(folder, title, reports);
  putFigures(join(folder, 'figures'), (await draw?.(trainingPage(reports)?.figures ?? [])) ?? []);
  await report(reports, join(folder, 'report'));
  putFile(
    join(folder, 'CITATION.cff'),
    citationFile(sources.map(citedTraining), { title, licence, ...facts }),
  );
  putFile(join(folder, 'DATA_CARD.md'), trainingCard({ title, licence, runs, redacted, missing }));
  await writeChecksums(folder);
}

function writeTables(folder: string, title: string, reports: readonly TrainingReport[]): void {
  const [grid, notes] = [trainingGrid(reports), trainingNotes(reports)];
  putFile(
    join(folder, 'tables/results.md'),
    [...gridMarkdown(grid), '', ...notes.map((note) => `- ${note}`), ''].join('\n'),
  );
  putFile(
    join(folder, 'tables/results.tex'),
    latexTable(grid, { caption: `Trainings of ${title}.`, label: `tab:${title}`, notes }),
  );
}
