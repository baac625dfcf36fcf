import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { RowOf, TableName, tables } from '@perwatt/core';
import { segmentNumber } from './file-names.js';
import type { SegmentEntry } from './manifest.js';
import type { SegmentInfo } from './scan-segment.js';
import { readSegment } from './segment-reader.js';

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

/**
 * All segments of a table in `folder`, in order. `entries` say what the closed ones must hold; one that is listed but
 * not there counts as torn.
 */
export function readTable<T extends TableName>(
  folder: string,
  table: T,
  entries: readonly SegmentEntry[],
): TableContent<T> {
  const listed = new Map(entries.filter((e) => e.table === table).map((e) => [e.file, e]));
  const rows: RowOf<(typeof tables)[T]>[] = [];
  const segments: SegmentInfo[] = [];
  const present = existingSegments(folder, table).map(({ file }) => file);
  for (const file of present) {
    const segment = readSegment(join(folder, file), table, listed.get(file));
    for (const row of segment.rows) rows.push(row);
    segments.push(segment.info);
  }
  const torn = segments.flatMap(({ file, torn: reason, rows: n }) =>
    reason === null ? [] : [{ file, reason, rows: n }],
  );
  const missing = [...listed.keys()]
    .filter((file) => !present.includes(file))
    .map((file) => ({ file, reason: 'the file is missing', rows: 0 }));
  return { rows, segments, torn: [...torn, ...missing] };
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
