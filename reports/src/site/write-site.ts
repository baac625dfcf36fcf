import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, PerwattError } from '@perwatt/core';
import { type Catalogue, shippedCatalogue } from '@perwatt/metrics';
import { type Html, html } from '../html.js';
import { writePublishedFiles } from '../imported/write-imported-site.js';
import { resultsCsvOf } from '../results-csv.js';
import { resultsJsonOf } from '../results-json.js';
import { type WrittenReport, writeWhole } from '../write-report.js';
import { cellPages, matrixFileOf } from './cell-pages.js';
import { siteScript } from './scripts/site-script.js';
import { siteComparables } from './site-comparable.js';
import { type Site, type SiteRun, siteOf } from './site-model.js';
import { type BesideRuns, sitePages } from './site-pages.js';
import { type SiteFrame, sharedFiles, sitePageHtml } from './site-shell.js';

export interface SiteOptions extends BesideRuns {
  /** Text of plotly.js's minified bundle, written once for all pages. */
  readonly plotlySource: string;
  /** Models and accelerators with what is known of them. Default: the shipped one. */
  readonly catalogue?: Catalogue;
  /** Takes out of texts what must not leave the run: applied to what stands in no results, matrices and pages of cells. */
  readonly clean?: (text: string) => string;
  /** Cells' pages link the Parquet files of their run folders: for a report that stays on this machine. Default false. */
  readonly link_records?: boolean;
}

async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (error) {
    throw new PerwattError('FILE_UNREADABLE', `folder ${folder} cannot be made: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

function footerOf({ runs, merged }: Site): Html {
  const ids = runs.map(({ results }) => html` <code>${results.run_id}</code>`);
  return html`<p>Perwatt ${merged.perwatt_version}, metric definitions version ${merged.metric_spec_version}. ${runs.length === 1 ? 'Run' : 'Runs'}${ids}. Made from the records of the run folder; nothing on this page is fetched from anywhere.</p>`;
}

/** Takes away pages of cells that an earlier report had and this one has not. */
async function removeOthers(folder: string, kept: ReadonlySet<string>): Promise<void> {
  for (const name of await readdir(folder))
    if (name.endsWith('.html') && !kept.has(name)) await rm(join(folder, name), { force: true });
}

interface PageOptions extends BesideRuns {
  readonly clean: (text: string) => string;
  readonly link_records: boolean;
}

async function writePages(
  site: Site,
  folder: string,
  { clean, link_records, ...beside }: PageOptions,
): Promise<void> {
  const pages = sitePages(site, siteComparables(site), beside);
  const frame: SiteFrame = {
    name: site.merged.name,
    pages: pages.map(({ id, title }) => ({ id, title })),
    footer: footerOf(site),
  };
  for (const page of pages) await writeWhole(join(folder, `${page.id}.html`), sitePageHtml(page, frame));
  const written = new Set<string>();
  for (const page of cellPages(site, link_records ? folder : null)) {
    await writeWhole(join(folder, `${page.id}.html`), clean(sitePageHtml(page, frame)));
    written.add(`${page.id.slice('cells/'.length)}.html`);
  }
  await removeOthers(join(folder, 'cells'), written);
}

/**
 * Writes runs as a site into `folder`, which is made when it is missing: `index.html` and the other pages, one page a cell
 * under `cells/`, `assets/`, `results.json`, `results.csv`, and the matrix of each run; where imported runs stand beside them
 * `published.json` and `published.csv` too. Files of an earlier report are
 * replaced one by one, each whole. Opens from the disk and needs no network. Throws `DISK_FULL` or `FILE_UNREADABLE`.
 */
export async function writeSite(
  runs: readonly SiteRun[],
  folder: string,
  {
    plotlySource,
    catalogue = shippedCatalogue(),
    clean = (text) => text,
    link_records = false,
    ...beside
  }: SiteOptions,
): Promise<WrittenReport> {
  const site = siteOf(runs, catalogue);
  for (const part of ['assets', 'cells']) await makeFolder(join(folder, part));
  const written = {
    html: join(folder, 'index.html'),
    json: join(folder, 'results.json'),
    csv: join(folder, 'results.csv'),
  };
  await writeWhole(written.json, resultsJsonOf(runs.map(({ results }) => results)));
  await writeWhole(written.csv, resultsCsvOf(runs.map(({ results }) => results)));
  for (const own of runs)
    if (own.run !== null)
      await writeWhole(
        join(folder, matrixFileOf(site, own)),
        clean(`${JSON.stringify(own.run.manifest.matrix, null, 2)}\n`),
      );
  await writeWhole(join(folder, sharedFiles.plotly), plotlySource);
  await writeWhole(join(folder, sharedFiles.script), siteScript);
  if (beside.imports !== undefined && beside.imports.length > 0)
    await writePublishedFiles(beside.imports, folder);
  await writePages(site, folder, { clean, link_records, ...beside });
  return written;
}
