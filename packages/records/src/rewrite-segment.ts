import { basename } from 'node:path';
import { type Column, PerwattError, type RowOf, type TableName, tables } from '@perwatt/core';
import type { Data, RecordBatch } from 'apache-arrow';
import type { SegmentSource } from './compact-table.js';
import { decodeRows, namesOf } from './decode-rows.js';
import type { SegmentEntry } from './manifest.js';
import { type SegmentInfo, scanSegment } from './scan-segment.js';
import { SegmentWriter } from './segment-writer.js';

/** How the texts of a table are changed. */
export interface TextChange {
  readonly change: (text: string) => string;
  /** Columns that are emptied. */
  readonly emptied: readonly string[];
}

/** What a segment is, and whether anything in it would be another after a change of its texts. */
export interface Inspected {
  readonly info: SegmentInfo;
  readonly changes: boolean;
}

const textColumns = (table: TableName): string[] =>
  Object.entries<Column>(tables[table]).flatMap(([name, { type }]) =>
    type === 'name' || type === 'text' ? [name] : [],
  );

/** Looks through every text of a segment's whole batches and metadata; null for a file that is no segment of the table. */
export function inspectSegment(
  table: TableName,
  source: SegmentSource,
  { change, emptied }: TextChange,
): Inspected | null {
  const differs = (text: string) => change(text) !== text;
  let changes = differs(basename(source.path));
  try {
    const info = scanned(source, table, (batch) => {
      changes ||= textColumns(table).some((name) => {
        const data = batch.data.children[batch.schema.fields.findIndex((field) => field.name === name)];
        if (data === undefined) return false;
        return emptied.includes(name) ? data.nullCount < data.length : someText(data, differs);
      });
    });
    return { info, changes: changes || Object.values(info.metadata).some(differs) };
  } catch (error) {
    if (error instanceof PerwattError && error.code === 'RUN_INVALID') return null;
    throw error;
  }
}

function someText(data: Data, test: (text: string) => boolean): boolean {
  if (data.dictionary != null) return namesOf(data).some(test);
  const { values, valueOffsets } = data;
  const bytes = Buffer.from(values.buffer, values.byteOffset, values.byteLength);
  for (let i = 0; i < data.length; i++) {
    if (test(bytes.toString('utf8', valueOffsets[i], valueOffsets[i + 1]))) return true;
  }
  return false;
}

export interface RewriteOptions extends TextChange {
  /** Folder of the new file, which has the changed name of the old one. */
  readonly folder: string;
  readonly info: SegmentInfo;
}

const ownKeys = ['table', 'schema_version', 'sitting'];

/** Writes the whole batches of a segment anew with their texts changed. Returns what the new file, a closed one, holds. */
export function rewriteSegment<T extends TableName>(
  table: T,
  source: SegmentSource,
  { folder, info, change, emptied }: RewriteOptions,
): SegmentEntry {
  const kept = Object.entries(info.metadata).filter(([key]) => !ownKeys.includes(key));
  const writer = SegmentWriter.create<T>({
    folder,
    file: change(basename(source.path)),
    table,
    sitting: info.sitting ?? 0,
    metadata: Object.fromEntries(kept.map(([key, value]) => [key, change(value)])),
  });
  const columns = textColumns(table);
  scanned(source, table, (batch) => {
    const rows: Record<string, unknown>[] = decodeRows(batch, table);
    for (const row of rows) changeTexts(row, columns, { change, emptied });
    writer.append(rows as RowOf<(typeof tables)[T]>[]);
    writer.flush();
  });
  return writer.close();
}

function changeTexts(
  row: Record<string, unknown>,
  columns: readonly string[],
  { change, emptied }: TextChange,
): void {
  for (const name of columns) {
    const text = row[name];
    if (typeof text === 'string') row[name] = emptied.includes(name) ? null : change(text);
  }
}

/** Visits every whole batch. Throws what `visit` throws, which a scan would take for damage of the file. */
function scanned(
  { path, entry }: SegmentSource,
  table: TableName,
  visit: (batch: RecordBatch) => void,
): SegmentInfo {
  const failures: unknown[] = [];
  const onBatch = (batch: RecordBatch) => {
    if (failures.length > 0) return;
    try {
      visit(batch);
    } catch (error) {
      failures.push(error);
    }
  };
  const info = scanSegment(path, { table, entry: entry ?? undefined, onBatch });
  if (failures.length > 0) throw failures[0];
  return info;
}
