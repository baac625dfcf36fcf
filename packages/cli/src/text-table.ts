/** A column of a table on a terminal. */
export interface TextColumn {
  readonly name: string;
  /** Numbers stand on the right, and are never cut. */
  readonly right: boolean;
}

const GAP = 2;
const NARROWEST = 8;

/**
 * Lines of a table at most `width` characters wide. Where it is wider, the widest texts are cut and end in `…`; where that
 * isn't enough, every row becomes a block of one line a column. Blanks and line ends within a value become one blank, and so
 * does a character that would steer the terminal.
 */
export function textTable(
  named: readonly TextColumn[],
  rows: readonly (readonly string[])[],
  width: number,
): string[] {
  const columns = named.map((column) => ({ ...column, name: plain(column.name) }));
  const flat = rows.map((row) => row.map(plain));
  const natural = columns.map(({ name }, i) =>
    flat.reduce((most, row) => Math.max(most, row[i]?.length ?? 0), name.length),
  );
  const room = width - GAP * (columns.length - 1);
  const limit = limitFor(columns, natural, room);
  if (limit === null) return flat.flatMap((row, i) => block(columns, row, { number: i + 1, width }));
  const widths = columns.map(({ right }, i) => widthOf(natural[i] ?? 0, { right, limit }));
  const line = (row: readonly string[]) =>
    row
      .map((cell, i) => padded(cut(cell, widths[i] ?? 0), widths[i] ?? 0, columns[i]?.right === true))
      .join(' '.repeat(GAP))
      .trimEnd();
  const rule = widths.map((w) => '─'.repeat(w)).join(' '.repeat(GAP));
  return [line(columns.map(({ name }) => name)), rule, ...flat.map(line)];
}

const plain = (text: string): string => text.replaceAll(/[\s\p{Cc}\p{Bidi_Control}]+/gu, ' ');

const widthOf = (natural: number, { right, limit }: { readonly right: boolean; readonly limit: number }) =>
  right ? natural : Math.min(natural, limit);

/** The most characters of a text column with which everything fits; null when nothing does. */
function limitFor(columns: readonly TextColumn[], natural: readonly number[], room: number): number | null {
  const total = (limit: number) =>
    columns.reduce((sum, { right }, i) => sum + widthOf(natural[i] ?? 0, { right, limit }), 0);
  for (let limit = Math.max(NARROWEST, ...natural); limit >= NARROWEST; limit--) {
    if (total(limit) <= room) return limit;
  }
  return null;
}

interface BlockOptions {
  readonly number: number;
  readonly width: number;
}

function block(
  columns: readonly TextColumn[],
  row: readonly string[],
  { number, width }: BlockOptions,
): string[] {
  const widest = Math.max(...columns.map(({ name }) => name.length));
  const lines = columns.map(
    ({ name }, i) => `${name.padEnd(widest)}${' '.repeat(GAP)}${cut(row[i] ?? '', width - widest - GAP)}`,
  );
  return [`── row ${number} `.padEnd(Math.min(width, widest + 20), '─'), ...lines];
}

const cut = (text: string, width: number): string =>
  text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`;

const padded = (text: string, width: number, right: boolean): string =>
  right ? text.padStart(width) : text.padEnd(width);
