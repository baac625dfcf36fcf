import { isObject } from './data-fields.js';
import { findObjects } from './json-find.js';
import type { Range } from './reasoning.js';

/** An answer to a grid puzzle: folded house number → folded attribute → what was written. */
export interface ReadGrid {
  readonly cells: ReadonlyMap<string, ReadonlyMap<string, readonly unknown[]>>;
  readonly range: Range;
  readonly rule: string;
}

/** Case, blanks, underscores and hyphens don't tell attributes apart. */
export const foldName = (name: string): string => name.toLowerCase().replaceAll(/[\s_*`-]+/g, '');

const houseOf = (key: string): string | null =>
  /^(?:house)?#?(?<number>\d{1,3})$/.exec(foldName(key))?.groups?.['number'] ?? null;

/**
 * The grid a reply gives, best first: the last JSON object with a `solution`, the last one whose keys are houses, a Markdown
 * table with a column of houses, or lines "House 1: …". Null when there is none.
 */
export const readGrid = (text: string): ReadGrid | null =>
  fromObjects(text, true) ?? fromObjects(text, false) ?? fromTable(text) ?? fromLines(text);

/** Only a JSON object with a `solution`. */
export const readGridOfficially = (text: string): ReadGrid | null => fromObjects(text, true);

function fromObjects(text: string, demanded: boolean): ReadGrid | null {
  for (const { value, range } of findObjects(text).reverse()) {
    const grid = demanded ? value['solution'] : value;
    const cells = isObject(grid) ? cellsOf(grid) : null;
    if (cells !== null) return { cells, range, rule: demanded ? 'puzzle.solution' : 'puzzle.houses' };
  }
  return null;
}

function cellsOf(grid: Readonly<Record<string, unknown>>): Map<string, Map<string, unknown[]>> | null {
  const cells = createCells();
  for (const [key, row] of Object.entries(grid)) {
    const house = houseOf(key);
    if (house === null || !isObject(row)) continue;
    for (const [name, value] of Object.entries(row)) cells.put(house, name, value);
  }
  return cells.all.size === 0 ? null : cells.all;
}

function createCells() {
  const all = new Map<string, Map<string, unknown[]>>();
  const put = (house: string, name: string, value: unknown) => {
    const row = all.get(house) ?? new Map<string, unknown[]>();
    const values = row.get(foldName(name)) ?? [];
    row.set(foldName(name), [...values, value]);
    all.set(house, row);
  };
  return { all, put };
}

interface Line {
  readonly text: string;
  readonly start: number;
}

function linesOf(text: string): Line[] {
  let start = 0;
  return text.split('\n').map((line) => {
    const at = start;
    start += line.length + 1;
    return { text: line, start: at };
  });
}

const columnsOf = (line: string) =>
  line
    .trim()
    .replace(/^\|/, '')
    .replace(/\|$/, '')
    .split('|')
    .map((cell) => cell.trim());

/** The last table whose first column is the house. */
function fromTable(text: string): ReadGrid | null {
  const lines = linesOf(text);
  const header = lines.findLastIndex(({ text: line }) => /^\s*\|?\s*\**houses?\b[^|]*\|/i.test(line));
  if (header === -1) return null;
  const names = columnsOf(lines[header]?.text ?? '');
  const below = lines.slice(header + 1);
  const after = below.findIndex(({ text: line }) => !line.includes('|'));
  const cells = createCells();
  let end = 0;
  for (const { text: line, start } of after === -1 ? below : below.slice(0, after)) {
    const [first = '', ...values] = columnsOf(line);
    const house = houseOf(first);
    if (house === null) continue;
    for (const [i, value] of values.entries()) cells.put(house, names[i + 1] ?? '', value);
    end = start + line.length;
  }
  const from = lines[header]?.start ?? 0;
  return cells.all.size === 0 ? null : { cells: cells.all, range: [from, end], rule: 'puzzle.table' };
}

const HOUSE_LINE = /^[\s*#>-]{0,12}house\s*#?(?<number>\d{1,3})\s*\**\s*[:,-]?\s*(?<rest>.*)$/i;
const PAIR = /(?<name>[A-Za-z][A-Za-z _-]{0,40}?)\s*\**\s*[:=]\s*\**\s*(?<value>[^,;|\n]+)/g;

/** `House 1: Name: Ann, Pet: cat`, or the pairs on lines of their own below a line `House 1`. The last such house counts. */
function fromLines(text: string): ReadGrid | null {
  const cells = createCells();
  let house: string | null = null;
  const used: Line[] = [];
  for (const line of linesOf(text)) {
    const { opened, pairs, ends } = houseLine(line.text);
    if (opened !== null) cells.all.delete(opened);
    house = opened ?? (ends ? null : house);
    if (house === null || pairs.length === 0) continue;
    for (const [name, value] of pairs) cells.put(house, name, value);
    used.push(line);
  }
  return used.length === 0 ? null : { cells: cells.all, range: rangeOf(used), rule: 'puzzle.lines' };
}

function rangeOf(lines: readonly Line[]): Range {
  const last = lines.at(-1);
  return [lines[0]?.start ?? 0, (last?.start ?? 0) + (last?.text.length ?? 0)];
}

/** The house a line opens, if any, the pairs on it, and whether it ends the house before: a line of anything else. */
function houseLine(line: string) {
  const match = HOUSE_LINE.exec(line)?.groups;
  const rest = (match?.['rest'] ?? line).slice(0, 2000);
  const pairs = [...rest.matchAll(PAIR)].map(
    ({ groups }) => [groups?.['name'] ?? '', groups?.['value'] ?? ''] as const,
  );
  const ends = match === undefined && pairs.length === 0 && line.trim() !== '';
  return { opened: match?.['number'] ?? null, pairs, ends };
}
