import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { messageOf, PerwattError, systemCode } from '@perwatt/core';
import { reportPage } from './page.js';
import { resultsCsv } from './results-csv.js';
import { resultsJson } from './results-json.js';
import type { RunResults } from './results-types.js';

/** Paths of what was written. */
export interface WrittenReport {
  readonly html: string;
  readonly json: string;
  readonly csv: string;
}

/** Writes a file whole or not at all: under a temporary name, synced, then renamed. Throws `DISK_FULL` or `FILE_UNREADABLE`. */
export async function writeWhole(path: string, text: string): Promise<void> {
  const temporary = `${path}.part`;
  try {
    const file = await open(temporary, 'w');
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    const code = systemCode(error) === 'ENOSPC' ? 'DISK_FULL' : 'FILE_UNREADABLE';
    throw new PerwattError(code, `${path} cannot be written: ${messageOf(error)}`, { cause: error });
  }
}

/** Text of the chart library that is installed with this package. Throws `BUILD_MISSING` when it isn't. */
export async function readPlotlySource(): Promise<string> {
  try {
    const path = createRequire(import.meta.url).resolve('plotly.js-dist-min/plotly.min.js');
    return await readFile(path, 'utf8');
  } catch (error) {
    const hint = 'Run `npm install` in the Perwatt folder first.';
    throw new PerwattError('BUILD_MISSING', 'the chart library plotly.js-dist-min cannot be read', {
      hint,
      cause: error,
    });
  }
}

/**
 * Writes `index.html`, `results.json` and `results.csv` into `folder`, which is made when it is missing. Files of an
 * earlier report are replaced one by one, each whole. Throws `DISK_FULL` or `FILE_UNREADABLE`.
 */
export async function writeReport(
  results: RunResults,
  folder: string,
  { plotlySource }: { readonly plotlySource: string },
): Promise<WrittenReport> {
  const written = {
    html: join(folder, 'index.html'),
    json: join(folder, 'results.json'),
    csv: join(folder, 'results.csv'),
  };
  try {
    await mkdir(folder, { recursive: true });
  } catch (error) {
    throw new PerwattError('FILE_UNREADABLE', `folder ${folder} cannot be made: ${messageOf(error)}`, {
      cause: error,
    });
  }
  await writeWhole(written.json, resultsJson(results));
  await writeWhole(written.csv, resultsCsv(results));
  await writeWhole(written.html, reportPage(results, plotlySource));
  return written;
}
