import type { DatasetFile } from '@perwatt/core';
import type { LoadContext } from '../dataset.js';
import { openData } from '../files/data-file.js';
import { fileRows } from '../files/file-rows.js';
import { pinned } from '../files/pinned.js';
import type { Row } from '../rows.js';
import type { DatasetCard } from './card.js';
import type { ItemParts } from './item-parts.js';
import { checkSchema } from './schema-check.js';
import type { SetFile } from './set-files.js';

/** What of a set its rows depend on. */
export interface RowSource {
  readonly card: DatasetCard;
  /** The records inside a row, where a row isn't one. */
  readonly expand?: (row: Row) => Iterable<Row>;
}

export interface RowOptions {
  readonly context: LoadContext;
  readonly onFile: (file: DatasetFile) => void;
  /** Whether files without a pin are hashed too. */
  readonly hash: boolean;
}

/** The records of files, one after another, each file checked against its pin and its first record against the schema. */
export async function* allRows(
  source: RowSource,
  files: readonly SetFile[],
  { context, onFile, hash }: RowOptions,
): AsyncGenerator<Row> {
  for (const { path, absolute, inside, sha256 } of files) {
    const file = await openData(path, absolute, context);
    onFile({ path, bytes: file.bytes, sha256: await pinned(file, sha256, hash) });
    let first = true;
    for await (const row of records(fileRows(file), source)) {
      if (first) checkSchema(source.card, row);
      first = false;
      yield inside === undefined ? row : { ...row, file: inside };
    }
  }
}

async function* records(rows: AsyncIterable<Row>, { expand }: RowSource): AsyncGenerator<Row> {
  for await (const row of rows) {
    if (expand === undefined) yield row;
    else yield* expand(row);
  }
}

/** What rows say, without those that are left out. */
export async function* partsOf(
  rows: AsyncIterable<Row>,
  read: (row: Row, index: number) => ItemParts | null,
): AsyncGenerator<{ readonly parts: ItemParts; readonly place: string }> {
  let index = 0;
  for await (const row of rows) {
    const parts = read(row, index);
    index += 1;
    if (parts !== null) yield { parts, place: row.place };
  }
}
