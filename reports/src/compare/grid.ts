import { csvField } from '../results-csv.js';

/** A table before it has a form: heads, and texts by row. */
export interface Grid {
  readonly columns: readonly { readonly name: string; readonly right: boolean }[];
  readonly rows: readonly (readonly string[])[];
}

/** A value by column name, for machines. */
export type GridValue = string | number | boolean | null;

/** Columns by name, `>` before those that stand on the right. */
export const gridColumns = (names: readonly string[]): Grid['columns'] =>
  names.map((name) => ({ name: name.replace(/^>/, ''), right: name.startsWith('>') }));

/** The grid without columns that are empty in every row. */
export function withoutEmpty({ columns, rows }: Grid): Grid {
  const used = columns.map((_, i) => rows.some((row) => (row[i] ?? '') !== ''));
  const keep = <T>(list: readonly T[]) => list.filter((_, i) => used[i] === true);
  return { columns: keep(columns), rows: rows.map(keep) };
}

const cellText = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Cf}]/gu, ' ')
    .replaceAll('\\', '\\\\')
    .replaceAll('|', '\\|');

/** The grid as a Markdown table. */
export function gridMarkdown({ columns, rows }: Grid): string[] {
  const line = (texts: readonly string[]) => `| ${texts.map(cellText).join(' | ')} |`;
  return [
    line(columns.map(({ name }) => name)),
    `|${columns.map(({ right }) => (right ? ' ---: ' : ' --- ')).join('|')}|`,
    ...rows.map(line),
  ];
}

/** Records as CSV lines with a head, in the order of the first record's keys. */
export function recordsCsv(records: readonly Readonly<Record<string, GridValue>>[]): string[] {
  const names = Object.keys(records[0] ?? {});
  return [
    names.map(csvField).join(','),
    ...records.map((record) => names.map((name) => csvField(record[name] ?? null)).join(',')),
  ];
}
