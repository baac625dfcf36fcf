import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf, PerwattError, type RowOf, type TableName, type tables } from '@perwatt/core';
import { segmentNumber } from './file-names.js';
import type { SegmentEntry } from './manifest.js';
import type { SegmentInfo } from './scan-segment.js';
import { readSegment, type SegmentContent } from './segment-reader.js';

/** A segment that isn't whole, and why. */
export interface TornSegment {
  readonly file: string;
  readonly reason: string;
  /** Rows that were read from it all the same. */
  readonly rows: number;
}

/** What could be read of one table of a cell. */
export interface TableContent<T extends TableName> {
  /** Rows of all segments, in the order they were written. */
  readonly rows: RowOf<(typeof tables)[T]>[];
  readonly segments: readonly SegmentInfo[];
  readonly torn: readonly TornSegment[];
}

/** Number for the next segment of `prefix` in `folder`: one more than the highest there, from 0. */
export function nextSegment(folder: string, prefix: string): number {
  const taken = existingSegments(folder, prefix).map(({ number }) => number);
  return Math.max(-1, ...taken) + 1;
}

/** Names of the segments of `prefix` in `folder`, in order. */
export const segmentFiles = (folder: string, prefix: string): string[] =>
  existingSegments(folder, prefix).map(({ file }) => file);

/**
 * All segments of a table in `folder`, in order. `entries` say what the closed ones must hold; one that is listed but
 * not there counts as torn, and so does a file that is no segment of this table.
 */
export function readTable<T extends TableName>(
  folder: string,
  table: T,
  entries: readonly SegmentEntry[],
): TableContent<T> {
  const listed = new Map(entries.filter((e) => e.table === table).map((e) => [e.file, e]));
  const rows: RowOf<(typeof tables)[T]>[] = [];
  const segments: SegmentInfo[] = [];
  const torn: TornSegment[] = [];
  const present = segmentFiles(folder, table);
  for (const file of present) {
    const segment = readIfOurs(join(folder, file), table, listed.get(file));
    if (typeof segment === 'string') {
      torn.push({ file, reason: segment, rows: 0 });
      continue;
    }
    for (const row of segment.rows) rows.push(row);
    segments.push(segment.info);
    const { torn: reason, rows: n } = segment.info;
    if (reason !== null) torn.push({ file, reason, rows: n });
  }
  const missing = [...listed.keys()]
    .filter((file) => !present.includes(file))
    .map((file) => ({ file, reason: 'the file is missing', rows: 0 }));
  return { rows, segments, torn: [...torn, ...missing] };
}

/** A segment, or why the file is none of this table. */
function readIfOurs<T extends TableName>(
  path: string,
  table: T,
  entry: SegmentEntry | undefined,
): SegmentContent<T> | string {
  try {
    return readSegment(path, table, entry);
  } catch (error) {
    if (error instanceof PerwattError && error.code === 'RUN_INVALID') return messageOf(error);
    throw error;
  }
}

function existingSegments(folder: string, prefix: string): { file: string; number: number }[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .flatMap((file) => {
      const number = segmentNumber(prefix, file);
      return number === null ? [] : [{ file, number }];
    })
    .sort((a, b) => a.number - b.number);
}
