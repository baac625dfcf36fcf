import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, PerwattError } from '@perwatt/core';
import { html } from '../html.js';
import { siteScript } from '../site/scripts/site-script.js';
import { sharedFiles, sitePageHtml } from '../site/site-shell.js';
import { writeWhole } from '../write-report.js';
import type { TrainingReport } from './training-account.js';
import { trainingPage } from './training-page.js';

/**
 * Writes the page of training runs into `folder`, which is made when it is missing: `index.html` and `assets/`. Opens from the
 * disk and needs no network. Returns the page's path. Throws `DISK_FULL` or `FILE_UNREADABLE`.
 */
export async function writeTrainingReport(
  reports: readonly TrainingReport[],
  folder: string,
  { plotlySource }: { readonly plotlySource: string },
): Promise<string> {
  const page = trainingPage(reports);
  if (page === null) throw new PerwattError('INPUT_INVALID', 'no training run was given');
  try {
    await mkdir(join(folder, 'assets'), { recursive: true });
  } catch (error) {
    throw new PerwattError('FILE_UNREADABLE', `folder ${folder} cannot be made: ${messageOf(error)}`, {
      cause: error,
    });
  }
  const ids = reports.map(({ manifest }) => html` <code>${manifest.run_id}</code>`);
  const index = { ...page, id: 'index' };
  const frame = {
    name: 'training',
    pages: [{ id: 'index', title: page.title }],
    footer: html`<p>Perwatt ${reports[0]?.manifest.perwatt_version ?? ''}. Made from the records of${ids}; nothing on this page is fetched from anywhere.</p>`,
  };
  await writeWhole(join(folder, sharedFiles.plotly), plotlySource);
  await writeWhole(join(folder, sharedFiles.script), siteScript);
  const path = join(folder, 'index.html');
  await writeWhole(path, sitePageHtml(index, frame));
  return path;
}
