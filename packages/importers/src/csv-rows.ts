import { messageOf } from '@perwatt/core';
import { type CsvError, parse } from 'csv-parse';
import { foreignError } from './foreign-error.js';
import type { ForeignFile } from './importer.js';

/** One line of a CSV file: its cells by column, where they stand, and readers that name that place in an error. */
export interface CsvRow {
  /** Record number from 1. */
  readonly row: number;
  /** `file:line` for messages. */
  readonly place: string;
  /** `repeated_key` when the very same line stands further up in the file; else empty. */
  readonly repeated: readonly 'repeated_key'[];
  /** Text of a column; throws when it is empty. */
  readonly text: (column: string) => string;
  /** Text of a column; null when it is empty. */
  readonly optionalText: (column: string) => string | null;
  /** A finite number. */
  readonly number: (column: string) => number;
  /** A finite number above 0. */
  readonly positive: (column: string) => number;
  /** A finite number above 0; null when the cell is empty. */
  readonly optionalPositive: (column: string) => number | null;
  /** A whole number of at least 1. */
  readonly count: (column: string) => number;
}

/** Layout of a file: the lines above the records, and the columns they must name. */
export interface CsvLayout {
  /** Exactly these columns, in any order. */
  readonly columns: readonly string[];
  /** Lines of the header; names of the second are joined to the first with `_`. Default 1. */
  readonly header_lines?: number;
}

/** The records of a file without its header, each with the line it ends on. */
export async function* csvLines(
  file: ForeignFile,
): AsyncGenerator<{ readonly line: number; readonly cells: readonly string[] }, void, undefined> {
  const parser = parse({ bom: true, info: true, skip_empty_lines: true, relax_column_count: true });
  const feeding = feed(file, parser);
  let line = 0;
  try {
    for await (const { record, info } of parser as AsyncIterable<{
      record: string[];
      info: { lines: number };
    }>) {
      line = info.lines;
      yield { line, cells: record };
    }
  } catch (error) {
    if (!isCsvError(error)) throw error;
    throw foreignError(`${file.path}:${error['lines'] ?? line + 1}`, error.message.toLowerCase(), error);
  } finally {
    parser.destroy();
    await feeding;
  }
}

async function feed(file: ForeignFile, parser: ReturnType<typeof parse>): Promise<void> {
  try {
    for await (const chunk of file.chunks()) {
      if (parser.destroyed) return;
      if (!parser.write(chunk)) await drained(parser);
    }
    if (!parser.destroyed) parser.end();
  } catch (error) {
    parser.destroy(error instanceof Error ? error : new Error(messageOf(error)));
  }
}

const drained = (parser: ReturnType<typeof parse>) =>
  new Promise<void>((resolve) => {
    parser.once('drain', resolve).once('close', resolve);
  });

const isCsvError = (error: unknown): error is CsvError =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('CSV_');

/** The names of a file's columns, from its first line. Throws when it has none. */
export async function csvHeader(file: ForeignFile): Promise<readonly string[]> {
  for await (const { cells } of csvLines(file)) return cells;
  throw foreignError(`${file.path}:1`, 'the file is empty');
}

/** The records of a file of the given layout. Throws at the first line that does not fit it. */
export async function* csvRows(
  file: ForeignFile,
  { columns, header_lines: headerLines = 1 }: CsvLayout,
): AsyncGenerator<CsvRow, void, undefined> {
  const header: (readonly string[])[] = [];
  let names: readonly string[] = [];
  const seen = new Set<string>();
  let row = 0;
  for await (const { line, cells } of csvLines(file)) {
    const place = `${file.path}:${line}`;
    if (header.length < headerLines) {
      header.push(cells);
      if (header.length === headerLines) names = checkedNames(place, header, columns);
      continue;
    }
    if (cells.length !== names.length) {
      throw foreignError(place, `${cells.length} cells where the header has ${names.length} columns`);
    }
    row += 1;
    const key = JSON.stringify(cells);
    const repeated = seen.has(key) ? (['repeated_key'] as const) : [];
    seen.add(key);
    yield {
      row,
      place,
      repeated,
      ...readersOf(new Map(names.map((name, i) => [name, cells[i] ?? ''])), place),
    };
  }
  if (header.length < headerLines) throw foreignError(`${file.path}:1`, 'the file has no header');
  if (row === 0) throw foreignError(file.path, 'the file has no records');
}

function checkedNames(place: string, header: readonly (readonly string[])[], columns: readonly string[]) {
  const names = joinedNames(header);
  const missing = columns.filter((column) => !names.includes(column));
  const unknown = names.filter((name) => !columns.includes(name));
  const twice = names.filter((name, i) => names.indexOf(name) !== i);
  if (missing.length + unknown.length + twice.length === 0) return names;
  const parts = [
    ...(missing.length > 0 ? [`${quoted(missing)} missing`] : []),
    ...(unknown.length > 0 ? [`${quoted(unknown)} not known`] : []),
    ...(twice.length > 0 ? [`${quoted(twice)} given twice`] : []),
  ];
  throw foreignError(place, `columns have changed: ${parts.join(', ')}; expected ${quoted(columns)}`);
}

/** Of a header of several lines: the first names the quantity, the second its statistic; of a third, the first column's name. */
function joinedNames([quantities = [], statistics = [], index = []]: readonly (readonly string[])[]) {
  return quantities.map((name, i) => {
    const statistic = statistics[i] ?? '';
    const joined = statistic === '' ? name : `${name}_${statistic}`;
    return joined === '' ? (index[i] ?? '') : joined;
  });
}

const quoted = (names: readonly string[]) => names.map((name) => `"${name}"`).join(', ');

const decimal = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

function readersOf(
  cells: ReadonlyMap<string, string>,
  place: string,
): Omit<CsvRow, 'row' | 'place' | 'repeated'> {
  const optionalText = (column: string) => {
    const cell = cells.get(column)?.trim() ?? '';
    if (/\p{Cc}/u.test(cell))
      throw foreignError(place, `${column} is ${JSON.stringify(cell)}, with a control character`);
    return cell === '' ? null : cell;
  };
  const text = (column: string) => {
    const cell = optionalText(column);
    if (cell === null) throw foreignError(place, `${column} is empty`);
    return cell;
  };
  const number = (column: string) => {
    const cell = text(column);
    const value = Number(cell);
    if (!(decimal.test(cell) && Number.isFinite(value)))
      throw foreignError(place, `${column} is "${cell}", not a number`);
    return value;
  };
  const positive = (column: string) => {
    const value = number(column);
    if (value > 0) return value;
    throw foreignError(place, `${column} is ${value}, but must be above 0`);
  };
  const count = (column: string) => {
    const value = positive(column);
    if (Number.isInteger(value)) return value;
    throw foreignError(place, `${column} is ${value}, not a whole number`);
  };
  const optionalPositive = (column: string) => (optionalText(column) === null ? null : positive(column));
  return { text, optionalText, number, positive, optionalPositive, count };
}
