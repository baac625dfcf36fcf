import { open } from 'node:fs/promises';
import { messageOf } from '@perwatt/core';
import { type AsyncBuffer, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { unreadable } from '../files/file-bytes.js';
import { isRecord } from '../options.js';
import { badFile } from './trace-errors.js';
import type { TraceFile } from './trace-file.js';

/** One row of a Parquet file as a plain object; stamps are ns since 1970 as bigint. */
export interface ParquetRow {
  /** Counted from 1. */
  readonly row: number;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** The names of a Parquet file's columns. */
export const parquetColumns = (file: TraceFile): Promise<readonly string[]> =>
  withFile(file, async (buffer) => {
    const { schema } = await parquetMetadataAsync(buffer);
    return topLevel(schema);
  });

function topLevel(schema: readonly { readonly name: string; readonly num_children?: number }[]): string[] {
  const names: string[] = [];
  let inside = 0;
  for (const { name, num_children = 0 } of schema.slice(1)) {
    if (inside === 0) names.push(name);
    inside = Math.max(0, inside - 1) + num_children;
  }
  return names;
}

/** All rows, one row group after another, with the named columns only. */
export async function* parquetBatches(
  file: TraceFile,
  columns: readonly string[],
): AsyncGenerator<ParquetRow[], void, undefined> {
  const handle = await open(file.absolute).catch((cause: unknown) => {
    throw unreadable(file.path, cause);
  });
  try {
    const buffer = bufferOf(handle, file.bytes);
    const metadata = await parquetMetadataAsync(buffer).catch((cause: unknown) => {
      throw notWhole(file.path, cause);
    });
    const known = new Set(topLevel(metadata.schema));
    let rowStart = 0;
    for (const group of metadata.row_groups) {
      const rowEnd = rowStart + Number(group.num_rows);
      const rows = await parquetReadObjects({
        file: buffer,
        metadata,
        rowStart,
        rowEnd,
        columns: columns.filter((name) => known.has(name)),
        compressors,
        parsers: stampParsers,
      }).catch((cause: unknown) => {
        throw notWhole(file.path, cause);
      });
      const first = rowStart + 1;
      yield rows.map((fields, i) => ({ row: first + i, fields: isRecord(fields) ? fields : {} }));
      rowStart = rowEnd;
    }
  } finally {
    await handle.close();
  }
}

const stampParsers = {
  timestampFromMilliseconds: (value: bigint) => value * 1_000_000n,
  timestampFromMicroseconds: (value: bigint) => value * 1000n,
  timestampFromNanoseconds: (value: bigint) => value,
};

async function withFile<T>(file: TraceFile, use: (buffer: AsyncBuffer) => Promise<T>): Promise<T> {
  const handle = await open(file.absolute).catch((cause: unknown) => {
    throw unreadable(file.path, cause);
  });
  try {
    return await use(bufferOf(handle, file.bytes));
  } catch (cause) {
    throw notWhole(file.path, cause);
  } finally {
    await handle.close();
  }
}

const bufferOf = (handle: Awaited<ReturnType<typeof open>>, byteLength: number): AsyncBuffer => ({
  byteLength,
  slice: async (start, end = byteLength) => {
    const bytes = new Uint8Array(end - start);
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, start);
    return bytes.buffer.slice(0, bytesRead);
  },
});

const notWhole = (path: string, cause: unknown) =>
  badFile(path, `not a whole Parquet file (${messageOf(cause)})`, 'Fetch the file again.');
