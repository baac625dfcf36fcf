import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, PerwattError } from '@perwatt/core';
import { type Catalogue, shippedCatalogue } from '@perwatt/metrics';
import type { PublishedRun } from '@perwatt/records';
import { recordsCsv } from '../compare/grid.js';
import { html } from '../html.js';
import { siteScript } from '../site/scripts/site-script.js';
import { sharedFiles, sitePageHtml } from '../site/site-shell.js';
import type { TrainingReport } from '../training/training-account.js';
import { trainingPage } from '../training/training-page.js';
import { type WrittenReport, writeWhole } from '../write-report.js';
import { importedPages } from './imported-pages.js';
import { importedSite } from './imported-site.js';

/** The figures of imported runs as JSON: what each run says of itself, and every row of its table. Ends in a newline. */
export const publishedJson = (runs: readonly PublishedRun[]): string =>
  `${JSON.stringify({ published: runs.map(({ manifest, rows }) => ({ manifest, rows })) })}\n`;

/** Writes `published.json` and `published.csv`, a line a figure with all that is known of it, into a folder that is there. */
export async function writePublishedFiles(
  runs: readonly PublishedRun[],
  folder: string,
): Promise<Pick<WrittenReport, 'json' | 'csv'>> {
  const [json, csv] = [join(folder, 'published.json'), join(folder, 'published.csv')];
  await writeWhole(json, publishedJson(runs));
  await writeWhole(csv, `${recordsCsv(runs.flatMap(({ rows }) => rows)).join('\n')}\n`);
  return { json, csv };
}

export interface ImportedSiteOptions {
  readonly plotlySource: string;
  readonly catalogue?: Catalogue;
  /** Trainings that come into the same report. */
  readonly trainings?: readonly TrainingReport[];
}

/**
 * Writes imported runs, at least one, as a site of their own into `folder`, which is made when it is missing: `index.html` and
 * the other pages, `assets/`, `published.json` and `published.csv`. Throws `DISK_FULL` or `FILE_UNREADABLE`.
 */
export async function writeImportedSite(
  runs: readonly PublishedRun[],
  folder: string,
  { plotlySource, catalogue = shippedCatalogue(), trainings = [] }: ImportedSiteOptions,
): Promise<WrittenReport> {
  try {
    await mkdir(join(folder, 'assets'), { recursive: true });
  } catch (error) {
    throw new PerwattError('FILE_UNREADABLE', `folder ${folder} cannot be made: ${messageOf(error)}`, {
      cause: error,
    });
  }
  const training = trainingPage(trainings);
  const pages = [...importedPages(importedSite(runs, catalogue), 'alone'), ...(training ? [training] : [])];
  const ids = runs.map(({ manifest }) => html` <code>${manifest.run_id}</code>`);
  const version = runs[0]?.manifest.perwatt_version ?? '';
  const frame = {
    name: runs.map(({ manifest }) => manifest.run_id).join(' + '),
    pages: pages.map(({ id, title }) => ({ id, title })),
    footer: html`<p>Perwatt ${version}. Made from imported${ids}; nothing on this page was measured by Perwatt, and nothing is fetched from anywhere.</p>`,
  };
  const written = await writePublishedFiles(runs, folder);
  await writeWhole(join(folder, sharedFiles.plotly), plotlySource);
  await writeWhole(join(folder, sharedFiles.script), siteScript);
  for (const page of pages) await writeWhole(join(folder, `${page.id}.html`), sitePageHtml(page, frame));
  return { html: join(folder, 'index.html'), ...written };
}
