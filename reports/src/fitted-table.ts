import type { CellResult } from './results-types.js';

/** A column of a table of cells on a terminal. */
export interface TableColumn {
  readonly head: string;
  readonly align: 'left' | 'right';
  /** Order in which columns leave a narrow terminal; null stays. */
  readonly leaves: number | null;
  readonly text: (cell: CellResult) => string;
}

const GAP = '  ';
/** Shortest that names become while columns can still leave, and after. */
const SHORT = 14;
const SHORTEST = 6;
const widthOf = (lengths: readonly number[]): number =>
  lengths.reduce((sum, length) => sum + length, 0) + GAP.length * Math.max(lengths.length - 1, 0);

interface Laid {
  readonly columns: readonly TableColumn[];
  readonly lengths: readonly number[];
  readonly dropped: readonly string[];
}

const lengthsOf = (columns: readonly TableColumn[], cells: readonly CellResult[]): number[] =>
  columns.map((column) =>
    Math.max(column.head.length, ...cells.map((cell) => [...column.text(cell)].length)),
  );

/** Takes from the widest names what is too much, one sign at a time, never below `shortest`. */
function squeezed({ columns, lengths, dropped }: Laid, width: number, shortest: number): Laid {
  const narrow = [...lengths];
  while (widthOf(narrow) > width) {
    const widest = narrow.reduce<number>((best, length, i) => {
      const shrinks = columns[i]?.align === 'left' && columns[i]?.head !== 'verdict' && length > shortest;
      return shrinks && length > (narrow[best] ?? 0) ? i : best;
    }, -1);
    if (widest < 0) break;
    narrow[widest] = (narrow[widest] ?? 0) - 1;
  }
  return { columns, lengths: narrow, dropped };
}

/** Columns that fit: names are shortened first, then columns leave in their order. */
function fitted(laid: Laid, cells: readonly CellResult[], width: number): Laid {
  const leaving = laid.columns
    .filter(({ leaves }) => leaves !== null)
    .sort((a, b) => (a.leaves ?? 0) - (b.leaves ?? 0))[0];
  const tight = squeezed(laid, width, leaving === undefined ? SHORTEST : SHORT);
  if (widthOf(tight.lengths) <= width || leaving === undefined) return tight;
  const columns = laid.columns.filter((column) => column !== leaving);
  const dropped = [...laid.dropped, leaving.head];
  return fitted({ columns, lengths: lengthsOf(columns, cells), dropped }, cells, width);
}

function padded(text: string, length: number, align: 'left' | 'right'): string {
  const signs = [...text];
  const short = signs.length > length ? `${signs.slice(0, length - 1).join('')}…` : text;
  const fill = ' '.repeat(Math.max(length - [...short].length, 0));
  return align === 'left' ? `${short}${fill}` : `${fill}${short}`;
}

/** What a table came to: its lines, head first, and the heads of columns that had to leave. */
export interface FittedTable {
  readonly lines: readonly string[];
  readonly dropped: readonly string[];
}

/** A table of cells at most `width` wide, plain aligned text without trailing blanks. */
export function fittedTable(
  all: readonly TableColumn[],
  cells: readonly CellResult[],
  width: number,
): FittedTable {
  const { columns, lengths, dropped } = fitted(
    { columns: all, lengths: lengthsOf(all, cells), dropped: [] },
    cells,
    width,
  );
  const line = (texts: readonly string[]) =>
    texts
      .map((text, i) => padded(text, lengths[i] ?? 0, columns[i]?.align ?? 'left'))
      .join(GAP)
      .trimEnd();
  const rows = cells.map((cell) => line(columns.map((column) => column.text(cell))));
  return { lines: [line(columns.map(({ head }) => head)), ...rows], dropped };
}
