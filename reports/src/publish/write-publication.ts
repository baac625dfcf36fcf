import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { shippedCatalogue } from '@perwatt/metrics';
import { exportRun, type RunFolder, writeRecordsParquet } from '@perwatt/records';
import { gridMarkdown } from '../compare/grid.js';
import type { Figure } from '../figure.js';
import { loadFigure } from '../load-figure.js';
import { paretoFigure } from '../pareto-figure.js';
import { powerFigure } from '../power-figure.js';
import { resultRecords, resultsCsv } from '../results-csv.js';
import { resultsJson } from '../results-json.js';
import type { RunResults } from '../results-types.js';
import { siteComparables } from '../site/site-comparable.js';
import { siteOf } from '../site/site-model.js';
import { sitePages } from '../site/site-pages.js';
import { type CitationFacts, citationFile, citedRun } from './citation.js';
import { dataCard } from './data-card.js';
import type { DrawnFigure } from './draw-figures.js';
import { latexTable } from './latex-table.js';
import { jsonText, putFigures, putFile, wholeFolder, writeChecksums } from './publication-files.js';
import { type PublicationSummary, publicationSummary, summaryJsonSchema } from './publication-summary.js';
import { publicationGrid, publicationNotes } from './publication-table.js';

/** A run as it is to be published: nothing private in it any more. */
export interface PublishedSource {
  readonly run: RunFolder;
  readonly results: RunResults;
}

export interface PublicationOptions extends CitationFacts {
  readonly redacted: PublicationSummary['redacted'];
  /** Draws figures; null where nothing can, and then `missing` says why. */
  readonly draw: ((figures: readonly Figure[]) => Promise<readonly DrawnFigure[]>) | null;
  readonly missing: readonly string[];
  /** Writes the report of all runs into a folder. */
  readonly report: (sources: readonly PublishedSource[], folder: string) => Promise<unknown>;
}

/** Figures of a run that a publication has; those that it has nothing for are left out. */
export const publicationFigures = (results: RunResults): Figure[] =>
  [paretoFigure(results), loadFigure(results), powerFigure(results)].filter((figure) => figure !== null);

/** The same, and those of the report's pages. */
function figuresOf(source: PublishedSource): Figure[] {
  const site = siteOf([source], shippedCatalogue());
  const figures = [
    ...publicationFigures(source.results),
    ...sitePages(site, siteComparables(site)).flatMap((page) => page.figures),
  ];
  return [...new Map(figures.toReversed().map((figure) => [figure.id, figure])).values()].toReversed();
}

/**
 * Writes a publication of runs into `out`, a new folder: report, results, tables, figures, the tables behind them, a summary
 * with its schema, a citation, a data card and checksums over all. It appears whole or not at all. The same runs give the
 * same bytes. Throws `INPUT_INVALID` where the folder holds something.
 */
export async function writePublication(
  out: string,
  sources: readonly PublishedSource[],
  options: PublicationOptions,
): Promise<void> {
  await wholeFolder(out, (folder) => writeParts(folder, sources, options));
}

async function writeParts(
  folder: string,
  sources: readonly PublishedSource[],
  options: PublicationOptions,
): Promise<void> {
  const { title, redacted, draw, missing, report } = options;
  const placed = sources.map((source) => ({
    ...source,
    folder: sources.length === 1 ? '.' : `runs/${source.results.run_id}`,
  }));
  const results = sources.map((source) => source.results);
  for (const source of placed)
    await writeRun(join(folder, source.folder), source, { draw, texts: !redacted.texts });
  if (sources.length > 1) writeTables(folder, results);
  await report(sources, join(folder, 'report'));
  putFile(join(folder, 'summary.json'), jsonText(publicationSummary({ title, runs: placed, redacted })));
  putFile(join(folder, 'summary.schema.json'), jsonText(summaryJsonSchema()));
  putFile(join(folder, 'CITATION.cff'), citationFile(results.map(citedRun), options));
  putFile(
    join(folder, 'DATA_CARD.md'),
    dataCard({ title, licence: options.licence, runs: placed, redacted, missing }),
  );
  await writeChecksums(folder);
}

interface RunParts {
  readonly draw: PublicationOptions['draw'];
  /** Whether prompts and completions are among the tables. */
  readonly texts: boolean;
}

async function writeRun(
  folder: string,
  { run, results }: PublishedSource,
  { draw, texts }: RunParts,
): Promise<void> {
  putFile(join(folder, 'results.json'), resultsJson(results));
  putFile(join(folder, 'results.csv'), resultsCsv(results));
  await writeRecordsParquet(join(folder, 'results.parquet'), resultRecords(results));
  writeTables(folder, [results]);
  const data = join(folder, 'data');
  await exportRun(run.path, { format: 'parquet', out: data });
  if (!texts) rmSync(join(data, 'texts.parquet'), { force: true });
  putFigures(join(folder, 'figures'), (await draw?.(figuresOf({ run, results }))) ?? []);
}

function writeTables(folder: string, runs: readonly RunResults[]): void {
  const grid = publicationGrid(runs);
  const notes = publicationNotes(runs);
  const names = runs.map(({ name }) => name).join(', ');
  const markdown = [...gridMarkdown(grid), '', ...notes.map((note) => `- ${note}`), ''].join('\n');
  putFile(join(folder, 'tables/results.md'), markdown);
  const caption = `Results of ${names}.`;
  putFile(join(folder, 'tables/results.tex'), latexTable(grid, { caption, label: `tab:${names}`, notes }));
}
