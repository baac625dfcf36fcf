import { csvField } from '../results-csv.js';

/** A table before it has a form: heads, and texts by row. */
export interface Grid {
  readonly columns: readonly {
    readonly name: string;
    /** Stands on the right and is never cut. */
    readonly right: boolean;
    /** Leaves a narrow terminal, the last of these first. */
    readonly leaves: boolean;
  }[];
  readonly rows: readonly (readonly string[])[];
}

/** A value by column name, for machines. */
export type GridValue = string | number | boolean | null;

/** Columns by name: `>` before those that stand on the right, `-` before those that may leave. */
export const gridColumns = (names: readonly string[]): Grid['columns'] =>
  names.map((name) => ({
    name: name.replace(/^-?>?/, ''),
    right: /^-?>/.test(name),
    leaves: name.startsWith('-'),
  }));

/** Least width of a text column: shorter names tell nothing. */
const NARROWEST = 12;
const GAP = 2;

/** Width that a grid takes with its texts cut as far as they may be. */
function leastWidth({ columns, rows }: Grid): number {
  const widths = columns.map(({ name, right }, i) => {
    const natural = rows.reduce((most, row) => Math.max(most, (row[i] ?? '').length), name.length);
    return right ? natural : Math.min(natural, NARROWEST);
  });
  return widths.reduce((sum, width) => sum + width, 0) + GAP * (columns.length - 1);
}

/** The grid without as many of its less important columns as `width` needs, and their names. */
export function fittedGrid(
  grid: Grid,
  width: number,
): { readonly grid: Grid; readonly dropped: readonly string[] } {
  let fitted = grid;
  const dropped: string[] = [];
  while (leastWidth(fitted) > width) {
    const at = fitted.columns.findLastIndex(({ leaves }) => leaves);
    const column = fitted.columns[at];
    if (column === undefined) break;
    dropped.push(column.name);
    fitted = {
      columns: fitted.columns.filter((_, i) => i !== at),
      rows: fitted.rows.map((row) => row.filter((_, i) => i !== at)),
    };
  }
  return { grid: fitted, dropped };
}

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
