import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { PublishedRow } from '@perwatt/core';
import { figureRows } from './figure-rows.js';
import type { ForeignFile, Importer, ImportOptions } from './importer.js';

/** A file in memory, handed out in pieces of `chunk` bytes, so that lines and characters are cut anywhere. */
export function fileOf(path: string, content: string | Uint8Array, chunk = 1 << 16): ForeignFile {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  return {
    path,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    async *chunks() {
      for (let at = 0; at < bytes.length; at += chunk) yield bytes.subarray(at, at + chunk);
    },
  };
}

const root = resolve(import.meta.dirname, '../../..');
/** Folder of other projects' published results, outside the repository. */
export const results = join(resolve(root, process.env['PERWATT_SHARED'] ?? '../shared'), 'data/results');
/** Why tests over `results` are skipped; null when they can run. */
export const noResults = existsSync(results)
  ? null
  : `no published results in ${results}; set PERWATT_SHARED`;

/** A file under `results`. */
export const sharedFile = (path: string): ForeignFile => fileOf(path, readFileSync(join(results, path)));

/** All rows an importer makes of files. */
export async function rowsOf(
  importer: Importer,
  files: readonly ForeignFile[],
  options: ImportOptions = {},
): Promise<PublishedRow[]> {
  const rows: PublishedRow[] = [];
  for await (const record of importer.read(files, options)) rows.push(...figureRows(record, 'run'));
  return rows;
}

/** Rows of one metric. */
export const ofMetric = (rows: readonly PublishedRow[], metric: string): PublishedRow[] =>
  rows.filter((row) => row.metric === metric);

/** Records behind rows: file and row. */
export const recordsOf = (rows: readonly PublishedRow[]): number =>
  new Set(rows.map((row) => `${row.source_file}#${row.source_row}`)).size;
