import { join } from 'node:path';
import { PerwattError, type TextRow } from '@perwatt/core';
import type { Data, RecordBatch } from 'apache-arrow';
import { decodeRows } from './decode-rows.js';
import { segmentFiles } from './read-tables.js';
import type { RunFolder } from './run-folder.js';
import { scanSegment } from './scan-segment.js';

/**
 * The texts of a few queries of a cell, batch by batch, so that the others are never kept. What can't be read is left out:
 * these texts are to look at.
 */
export function readTextsOf(run: RunFolder, cellId: string, queryIds: ReadonlySet<string>): TextRow[] {
  if (queryIds.size === 0) return [];
  const folder = run.cellFolder(cellId);
  const rows: TextRow[] = [];
  const onBatch = (batch: RecordBatch) => {
    if (hasOne(batch, queryIds))
      rows.push(...decodeRows(batch, 'texts').filter(({ query_id }) => queryIds.has(query_id)));
  };
  for (const file of segmentFiles(folder, 'texts')) {
    try {
      scanSegment(join(folder, file), { table: 'texts', onBatch });
    } catch (error) {
      if (!(error instanceof PerwattError) || error.code !== 'RUN_INVALID') throw error;
    }
  }
  return rows;
}

function hasOne(batch: RecordBatch, queryIds: ReadonlySet<string>): boolean {
  const at = batch.schema.fields.findIndex(({ name }) => name === 'query_id');
  const ids: Data | undefined = batch.data.children[at];
  if (ids === undefined) return false;
  const bytes = Buffer.from(ids.values.buffer, ids.values.byteOffset, ids.values.byteLength);
  for (let i = 0; i < batch.numRows; i++) {
    if (queryIds.has(bytes.toString('utf8', ids.valueOffsets[i], ids.valueOffsets[i + 1]))) return true;
  }
  return false;
}
