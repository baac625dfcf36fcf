import { extname } from 'node:path';
import type { Row } from '../rows.js';
import { arrowRows } from './arrow-rows.js';
import { csvRows } from './csv-rows.js';
import type { DataFile } from './data-file.js';
import { jsonRows } from './json-rows.js';
import { parquetRows } from './parquet-rows.js';

/** How the rows of a file are written. */
export type RowFormat = 'json' | 'csv' | 'parquet' | 'arrow';

/** The format by the first bytes, and by the name where these don't say. JSON and JSON Lines are told apart while reading. */
export function formatOf({ path, head }: DataFile): RowFormat {
  if (head.subarray(0, 4).toString('latin1') === 'PAR1') return 'parquet';
  const begins = head.subarray(0, 6).toString('latin1');
  if (begins === 'ARROW1' || begins.startsWith('\u00ff\u00ff\u00ff\u00ff')) return 'arrow';
  return /^\.(?:csv|tsv)$/.test(extname(path.replace(/\.gz$/i, '')).toLowerCase()) ? 'csv' : 'json';
}

/** All rows of a file, in order, one at a time. Throws `DATASET_ROW_INVALID` with file and place. */
export function fileRows(file: DataFile): AsyncGenerator<Row, void, undefined> {
  switch (formatOf(file)) {
    case 'parquet':
      return parquetRows(file);
    case 'arrow':
      return arrowRows(file);
    case 'csv':
      return csvRows(file).rows;
    case 'json':
      return jsonRows(file);
  }
}
