import type { Dataset, DatasetSpec, Item } from '@perwatt/core';
import { CsvError, parse } from 'csv-parse/sync';
import { type CatalogueEntry, digestOf, guessRate, type LoadContext, type Loader } from './dataset.js';
import { collect } from './items.js';
import { mappingOptions, mapRow, readMapping, readTemplate } from './mapping.js';
import { isRecord, type OptionReader, readOptions } from './options.js';
import { jsonlRows, type Row, rowError } from './rows.js';
import { readText, type TextFile } from './text-file.js';

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
    load('jsonl', spec, { context, rowsOf: (file) => ({ rows: jsonlRows(file), columns: null }) }),
};

/** Comma-separated values with a header line, with a declared field mapping. */
export const csv: Loader = {
  entry: entry('csv', 'a file of comma-separated values with a header line'),
  load: (spec, context) => load('csv', spec, { context, rowsOf: csvRows }),
};

interface Rows {
  readonly rows: Iterable<Row>;
  /** Names of the fields where all rows have the same; null where each has its own. */
  readonly columns: readonly string[] | null;
}

async function load(
  id: string,
  spec: DatasetSpec,
  { context, rowsOf }: { readonly context: LoadContext; readonly rowsOf: (file: TextFile) => Rows },
): Promise<Dataset> {
  const reader = readOptions(id, spec.options, mappingOptions);
  const path = reader.required('path');
  const { rows, columns } = rowsOf(await readText(path, context, reader.text('sha256')));
  const all = columns === null ? peek(rows) : { rows, known: columns };
  const fields = readMapping(id, reader, all.known);
  if (columns !== null) checkColumns(path, columns, fields);
  const grader = reader.text('grader') ?? (fields.options === undefined ? 'exact' : 'choice');
  const mapping = { fields, template: readTemplate(id, reader, grader) };
  const items = collect(all.rows, spec.limit, (row, index) => mapRow(row, index, mapping));
  if (items.length === 0) throw rowError(path, 'the file has no rows');
  return fileDataset(`${id}:${path.split('/').at(-1)}`, items, { grader, reader });
}

/** The first row's field names, and all rows still to be read one by one. */
function peek(rows: Iterable<Row>): { readonly rows: Iterable<Row>; readonly known: readonly string[] } {
  const iterator = rows[Symbol.iterator]();
  const first = iterator.next();
  if (first.done === true) return { rows: [], known: [] };
  const head = first.value;
  function* all() {
    yield head;
    for (let next = iterator.next(); next.done !== true; next = iterator.next()) yield next.value;
  }
  return { rows: all(), known: Object.keys(first.value.fields) };
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

/** A data set of a file's items, with what the options say of it. */
export function fileDataset(
  id: string,
  items: readonly Item[],
  { grader, reader }: { readonly grader: string; readonly reader: OptionReader },
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
  };
}

function csvRows({ path, text }: TextFile): Rows {
  let columns: readonly string[] = [];
  let at = 1;
  const rows: Row[] = [];
  try {
    const records: unknown = parse(text, {
      columns: (header: string[]) => {
        columns = header;
        return header;
      },
      info: true,
      skip_empty_lines: true,
    });
    for (const record of Array.isArray(records) ? records : []) {
      rows.push({ place: `${path} line ${lineOf(record)}`, fields: fieldsOf(record) });
      at += 1;
    }
  } catch (cause) {
    if (!(cause instanceof CsvError)) throw cause;
    throw rowError(`${path} line ${numberOr(cause['lines'], at)}`, cause.message.toLowerCase(), cause);
  }
  return { rows, columns };
}

const fieldsOf = (record: unknown) =>
  isRecord(record) && isRecord(record['record']) ? record['record'] : {};

const lineOf = (record: unknown) =>
  isRecord(record) && isRecord(record['info']) ? numberOr(record['info']['lines'], 0) : 0;

const numberOr = (value: unknown, otherwise: number) => (typeof value === 'number' ? value : otherwise);
