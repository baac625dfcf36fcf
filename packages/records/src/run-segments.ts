import { join } from 'node:path';
import type { TableName } from '@perwatt/core';
import type { SegmentSource } from './compact-table.js';
import { fileName } from './file-names.js';
import type { CellFile, PowerFile } from './manifest.js';
import { segmentFiles } from './read-tables.js';
import type { RunFolder } from './run-folder.js';

/** The tables of a cell's folder. */
export const cellTables = ['queries', 'calls', 'texts', 'grades', 'replayed'] as const;
/** The tables of the power folder. */
export const powerTables = ['samples', 'channels'] as const;

/** Segments of a table, in order: those in the folder, and those that the cell says were closed. */
export function cellSegments(run: RunFolder, cell: CellFile, table: TableName): SegmentSource[] {
  const folder = run.cellFolder(cell.cell_id);
  const entries = cell.segments.filter((entry) => entry.table === table);
  const present = segmentFiles(folder, table);
  const missing = entries.map(({ file }) => file).filter((file) => !present.includes(file));
  return [...present, ...missing].map((file) => ({
    path: join(folder, fileName('segment file', file)),
    entry: entries.find((entry) => entry.file === file) ?? null,
  }));
}

/** The segment of a power file: of its samples, or of the readings beside them, where it has any. */
export function powerSegment(
  run: Pick<RunFolder, 'powerFolder'>,
  power: PowerFile,
  table: (typeof powerTables)[number],
): SegmentSource | null {
  const found = table === 'samples' ? power : power.channels;
  if (found === null || found === undefined) return null;
  return { path: join(run.powerFolder, fileName('power file', found.file)), entry: found.segment };
}
