import { basename, resolve } from 'node:path';
import type { Dataset, DatasetFile, DatasetSpec } from '@perwatt/core';
import { type CatalogueEntry, digestOf, guessRate, type LoadContext, type Loader } from './dataset.js';
import { csvRows } from './files/csv-rows.js';
import { type DataFile, openData } from './files/data-file.js';
import { jsonRows } from './files/json-rows.js';
import { pinned } from './files/pinned.js';
import { type Collected, collect } from './items.js';
import { mappingOptions, mapRow, readMapping, readTemplate } from './mapping.js';
import { type OptionReader, readOptions } from './options.js';
import { type Row, rowError } from './rows.js';

const entry = (id: string, summary: string): CatalogueEntry => ({
  id,
  kind: 'file',
  grader: 'by option',
  licence: 'by option',
  summary,
  options: mappingOptions,
});

/** One JSON object a line, with a declared field mapping. */
export const jsonl: Loader = {
  entry: entry('jsonl', 'a file of one JSON object a line'),
  load: (spec, context) =>
    load('jsonl', spec, { context, rowsOf: (file) => ({ rows: jsonRows(file), columns: null }) }),
};

/** Comma-separated values with a header line, with a declared field mapping. */
export const csv: Loader = {
  entry: entry('csv', 'a file of comma-separated values with a header line'),
  load: (spec, context) => load('csv', spec, { context, rowsOf: csvRows }),
};

interface Rows {
  readonly rows: AsyncGenerator<Row, void, undefined>;
  /** Names of the fields where all rows have the same, known once there is a row; null where each has its own. */
  readonly columns: (() => readonly string[]) | null;
}

async function load(
  id: string,
  spec: DatasetSpec,
  { context, rowsOf }: { readonly context: LoadContext; readonly rowsOf: (file: DataFile) => Rows },
): Promise<Dataset> {
  const reader = readOptions(id, spec.options, mappingOptions);
  const path = reader.required('path');
  const file = await openData(path, resolve(context.root, path), context);
  const sha256 = await pinned(file, reader.text('sha256'), spec.limit === undefined);
  const { rows, columns } = rowsOf(file);
  const { all, first } = await peek(rows);
  const known = columns?.() ?? Object.keys(first?.fields ?? {});
  const fields = readMapping(id, reader, known);
  if (columns !== null && first !== null) checkColumns(path, known, fields);
  const grader = reader.text('grader') ?? (fields.options === undefined ? 'exact' : 'choice');
  const mapping = { fields, template: readTemplate(id, reader, grader) };
  const collected = await collect(all(), {
    limit: spec.limit,
    itemOf: (row, index) => mapRow(row, index, mapping),
    ...(context.limits?.text_units && { textUnits: context.limits.text_units }),
  });
  if (collected.items.length === 0) throw rowError(path, 'the file has no rows');
  const files = [{ path, bytes: file.bytes, sha256 }];
  return fileDataset(`${id}:${basename(path)}`, collected, { grader, reader, files });
}

/** The first row, and all rows still to be read one by one. */
async function peek(rows: AsyncGenerator<Row, void, undefined>) {
  const head = await rows.next();
  const first = head.done === true ? null : head.value;
  async function* all() {
    if (first === null) return;
    yield first;
    yield* rows;
  }
  return { all, first };
}

function checkColumns(
  path: string,
  columns: readonly string[],
  fields: ReturnType<typeof readMapping>,
): void {
  for (const field of Object.values(fields).flat())
    if (!columns.includes(field))
      throw rowError(
        `${path} line 1`,
        `there is no column "${field}", only ${columns.map((c) => `"${c}"`).join(', ')}`,
      );
}

interface FileFacts {
  readonly grader: string;
  readonly reader: OptionReader;
  readonly files: readonly DatasetFile[];
}

/** A data set of a file's items, with what the options say of it. */
function fileDataset(
  id: string,
  { items, left_out }: Collected,
  { grader, reader, files }: FileFacts,
): Dataset {
  return {
    id,
    version: 1,
    kind: 'file',
    grader,
    guess_rate: guessRate(items),
    answer_tokens: reader.whole('answer_tokens', { min: 1, max: 1_000_000 }) ?? 512,
    licence: reader.text('licence') ?? 'not stated',
    digest: digestOf(items),
    items,
    files,
    ...(left_out > 0 && { left_out }),
  };
}
