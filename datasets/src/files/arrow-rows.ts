import { messageOf, PerwattError } from '@perwatt/core';
import { type RecordBatch, RecordBatchReader } from 'apache-arrow';
import { isRecord } from '../options.js';
import type { Row } from '../rows.js';
import { badFile, type DataFile } from './data-file.js';
import { inWords } from './limits.js';
import { plainValue } from './plain-value.js';

/** The rows of an Arrow stream or file. */
export async function* arrowRows(file: DataFile): AsyncGenerator<Row, void, undefined> {
  let number = 0;
  for await (const batch of batches(file)) {
    for (let i = 0; i < batch.numRows; i++) {
      number += 1;
      const fields = plainValue(batch.get(i));
      yield { place: `${file.path} row ${number}`, fields: isRecord(fields) ? fields : {} };
    }
  }
}

async function* batches(file: DataFile): AsyncGenerator<RecordBatch, void, undefined> {
  try {
    const reader = await RecordBatchReader.from(bounded(file));
    await reader.open();
    for await (const batch of reader) yield batch;
  } catch (cause) {
    if (cause instanceof PerwattError || (cause instanceof Error && cause.name === 'AbortError')) throw cause;
    throw badFile(
      file.path,
      `is not a whole Arrow file (${messageOf(cause)})`,
      'Fetch the file again.',
      cause,
    );
  }
}

/** A batch is held as a whole, so the file must not be larger than one may be. */
async function* bounded(file: DataFile): AsyncGenerator<Buffer, void, undefined> {
  let size = 0;
  for await (const chunk of file.chunks()) {
    size += chunk.length;
    if (size > file.limits.group_bytes)
      throw badFile(
        file.path,
        `is longer than ${inWords(file.limits.group_bytes)}`,
        'Write it as several files, or as Parquet.',
      );
    yield chunk;
  }
}
