import type { FeedValue } from '../feed-recorder.js';
import { fileStampNs, type TimeFormat } from './civil-time.js';
import { pointerParts, valueAt } from './json-pointer.js';
import { type MeterUnit, quantityOf } from './quantity.js';

/** How rows are written. */
export interface RowFormat {
  readonly format: 'csv' | 'jsonl';
  /** Column of the stamp and of the number: a name of the header line or a number counted from 0; for JSON lines a key or a pointer. */
  readonly time: string | number;
  readonly value: string | number;
  readonly time_format: TimeFormat;
  readonly unit: MeterUnit;
  /** What separates columns; default a comma. */
  readonly separator?: string;
}

export interface Row {
  /** Stamp of the row, ns since 1970. */
  readonly wall_ns: bigint;
  readonly value: FeedValue;
}

/** Reads rows one after the other; a CSV's first line may be its header. */
export interface RowReader {
  /** The row of a line; `header` for the line that names the columns; null for what is no row, or has no usable stamp or number. Never throws. */
  take(line: string): Row | 'header' | null;
}

export const rowReader = (format: RowFormat): RowReader =>
  format.format === 'csv' ? csvReader(format) : jsonReader(format);

function csvReader({ time, value, time_format, unit, separator = ',' }: RowFormat): RowReader {
  const named = typeof time === 'string' || typeof value === 'string';
  let columns: { readonly time: number; readonly value: number } | null = named
    ? null
    : { time: Number(time), value: Number(value) };
  const indexIn = (header: readonly string[], column: string | number) =>
    typeof column === 'number' ? column : header.findIndex((name) => name.trim() === column);
  return {
    take(line) {
      const cells = csvCells(line, separator);
      if (cells === null) return null;
      if (columns === null) {
        const found = { time: indexIn(cells, time), value: indexIn(cells, value) };
        if (found.time < 0 || found.value < 0) return null;
        columns = found;
        return 'header';
      }
      return rowOf(cells[columns.time], cells[columns.value], { time_format, unit });
    },
  };
}

function jsonReader({ time, value, time_format, unit }: RowFormat): RowReader {
  const parts = (place: string | number) => {
    const text = String(place);
    return text.startsWith('/') ? pointerParts(text) : [text];
  };
  const [timeParts, valueParts] = [parts(time), parts(value)];
  const textOf = (found: unknown) =>
    typeof found === 'number' || typeof found === 'string' ? String(found) : undefined;
  return {
    take(line) {
      let row: unknown;
      try {
        row = JSON.parse(line);
      } catch {
        return null;
      }
      return rowOf(textOf(valueAt(row, timeParts)), textOf(valueAt(row, valueParts)), { time_format, unit });
    },
  };
}

function rowOf(
  time: string | undefined,
  value: string | undefined,
  { time_format, unit }: Pick<RowFormat, 'time_format' | 'unit'>,
): Row | null {
  if (time === undefined || value === undefined) return null;
  const wall_ns = fileStampNs(time, time_format);
  const number = quantityOf(value, unit);
  return wall_ns === null || 'missing' in number ? null : { wall_ns, value: number };
}

/** The cells of one CSV line, quotes removed; null when a quote never closes or text follows it. */
export function csvCells(line: string, separator: string): string[] | null {
  const cells: string[] = [];
  for (let at = 0; ; at += separator.length) {
    const cell = line[at] === '"' ? quotedCell(line, at) : plainCell(line, at, separator);
    if (cell === null) return null;
    cells.push(cell.text);
    at = cell.end;
    if (at >= line.length) return cells;
    if (!line.startsWith(separator, at)) return null;
  }
}

interface Cell {
  readonly text: string;
  /** Where the line goes on behind it. */
  readonly end: number;
}

function plainCell(line: string, start: number, separator: string): Cell {
  const found = line.indexOf(separator, start);
  const end = found < 0 ? line.length : found;
  return { text: line.slice(start, end), end };
}

function quotedCell(line: string, start: number): Cell | null {
  let text = '';
  let from = start + 1;
  for (;;) {
    const quote = line.indexOf('"', from);
    if (quote < 0) return null;
    text += line.slice(from, quote);
    if (line[quote + 1] !== '"') return { text, end: quote + 1 };
    text += '"';
    from = quote + 2;
  }
}
