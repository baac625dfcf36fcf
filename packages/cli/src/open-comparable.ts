import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { messageOf, PerwattError, systemCode } from '@perwatt/core';
import { type Catalogue, shippedCatalogue, withOwnEntries } from '@perwatt/metrics';
import { openRun, type PublishedRun, type RunFolder, readPublished } from '@perwatt/records';
import {
  accountTraining,
  type ComparableCell,
  comparablePublished,
  comparableRun,
  fittedGrid,
  type Grid,
  type RunResults,
  type TrainingReport,
} from '@perwatt/reports';
import { computeResults } from './compute-results.js';
import type { Io } from './io.js';
import { textTable } from './text-table.js';

/** Width of tables where there is no terminal. */
const WIDTH = 120;

/** A run as a folder holds it: measured here, or published by others. */
export type OpenedRun =
  | { readonly kind: 'measured'; readonly run: RunFolder }
  | { readonly kind: 'published'; readonly run: PublishedRun };

/** Opens a run of either kind. Throws as `openRun` and `readPublished` do. */
export function openAnyRun(path: string, { cwd, printError }: Pick<Io, 'cwd' | 'printError'>): OpenedRun {
  const folder = resolve(cwd, path);
  try {
    return { kind: 'measured', run: openRun(folder) };
  } catch (error) {
    if (!(error instanceof PerwattError && error.code === 'RUN_PUBLISHED')) throw error;
  }
  const run = readPublished(folder);
  for (const { file, reason } of run.torn) printError(`${file}: ${reason}`);
  return { kind: 'published', run };
}

/** A run of any kind that has a report. */
export type AnyRun = OpenedRun | { readonly kind: 'training'; readonly report: TrainingReport };

/** Opens a run of any kind. Throws as `openAnyRun` and `accountTraining` do. */
export function openRunOfAnyKind(path: string, io: Pick<Io, 'cwd' | 'printError'>): AnyRun {
  try {
    return openAnyRun(path, io);
  } catch (error) {
    if (!(error instanceof PerwattError && error.code === 'RUN_TRAINING')) throw error;
  }
  return { kind: 'training', report: accountTraining(resolve(io.cwd, path)) };
}

/** The shipped catalogue, with a user's own entries where a file is given. */
export function catalogueWith(file: string | undefined, cwd: string): Catalogue {
  if (file === undefined) return shippedCatalogue();
  return withOwnEntries(shippedCatalogue(), { text: readText(file, cwd), file });
}

/** A file's text. Throws `FILE_UNREADABLE`. */
export function readText(file: string, cwd: string): string {
  try {
    return readFileSync(resolve(cwd, file), 'utf8');
  } catch (error) {
    throw new PerwattError(
      'FILE_UNREADABLE',
      `cannot read ${file}: ${systemCode(error) ?? messageOf(error)}`,
      {
        cause: error,
      },
    );
  }
}

/** The cells of a run, and the results of a measured one. */
export interface OpenedCells {
  readonly opened: OpenedRun;
  readonly results: RunResults | null;
  readonly cells: readonly ComparableCell[];
}

/** The cells of a run of either kind, in the terms of a comparison. */
export async function cellsOf(
  opened: OpenedRun,
  catalogue: Catalogue,
  contributions: 'read' | 'skip',
): Promise<OpenedCells> {
  if (opened.kind === 'published')
    return { opened, results: null, cells: comparablePublished(opened.run, catalogue) };
  const results = await computeResults(opened.run);
  return { opened, results, cells: comparableRun({ run: opened.run, results, contributions }, catalogue) };
}

/** A grid as lines that fit the terminal; columns that had to leave are named. */
export function gridLines(grid: Grid, { columns }: Pick<Io, 'columns'>): string[] {
  const width = columns ?? WIDTH;
  const { grid: fitted, dropped } = fittedGrid(grid, width);
  const left = dropped.length > 0 ? [`not shown for want of room: ${dropped.join(', ')}`] : [];
  return [...textTable(fitted.columns, fitted.rows, width), ...left];
}

/** Names parted by commas; undefined for none. */
export const commaList = (text: string | undefined): readonly string[] | undefined =>
  text
    ?.split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
