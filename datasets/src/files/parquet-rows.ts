import { open } from 'node:fs/promises';
import { messageOf, PerwattError } from '@perwatt/core';
import { type AsyncBuffer, type FileMetaData, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { isRecord } from '../options.js';
import type { Row } from '../rows.js';
import { badFile, type DataFile } from './data-file.js';
import { inWords } from './limits.js';
import { plainValue } from './plain-value.js';

const ROWS_AT_ONCE = 4096;

/** The rows of a Parquet file, read by parts of its row groups. */
export async function* parquetRows(file: DataFile): AsyncGenerator<Row, void, undefined> {
  const handle = await open(file.absolute);
  try {
    const buffer = bufferOf(handle, file.bytes);
    const metadata = await parquetMetadataAsync(buffer).catch(notWhole(file));
    checkGroups(file, metadata);
    let start = 0;
    for (const group of metadata.row_groups) {
      const end = start + Number(group.num_rows);
      for (let rowStart = start; rowStart < end; rowStart += ROWS_AT_ONCE) {
        const rows = await parquetReadObjects({
          file: buffer,
          metadata,
          rowStart,
          rowEnd: Math.min(end, rowStart + ROWS_AT_ONCE),
          compressors,
        }).catch(notWhole(file));
        for (const [i, fields] of rows.entries()) yield rowOf(file, rowStart + i + 1, fields);
      }
      start = end;
    }
  } finally {
    await handle.close();
  }
}

function rowOf({ path }: DataFile, number: number, value: unknown): Row {
  const fields = plainValue(value);
  return { place: `${path} row ${number}`, fields: isRecord(fields) ? fields : {} };
}

function checkGroups(file: DataFile, { row_groups }: FileMetaData): void {
  for (const group of row_groups) {
    const size = Number(group.total_byte_size);
    if (size > file.limits.group_bytes)
      throw badFile(
        file.path,
        `has a row group of ${inWords(size)} unpacked, over ${inWords(file.limits.group_bytes)}`,
        'Write it again with smaller row groups.',
      );
  }
}

const notWhole =
  ({ path }: DataFile) =>
  (cause: unknown): never => {
    if (cause instanceof PerwattError) throw cause;
    throw badFile(path, `is not a whole Parquet file (${messageOf(cause)})`, 'Fetch the file again.', cause);
  };

const bufferOf = (handle: Awaited<ReturnType<typeof open>>, byteLength: number): AsyncBuffer => ({
  byteLength,
  slice: async (start, end = byteLength) => {
    const bytes = new Uint8Array(end - start);
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, start);
    return bytes.buffer.slice(0, bytesRead);
  },
});
