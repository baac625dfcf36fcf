import type { Item } from '@perwatt/core';
import { defaultLimits, inWords } from './files/limits.js';
import { type Row, rowError } from './rows.js';

/** What rows gave. */
export interface Collected {
  readonly items: readonly Item[];
  /** Rows that are no items. */
  readonly left_out: number;
}

export interface CollectOptions {
  readonly limit: number | undefined;
  /** The item of a row, or null when it is none; `index` counts rows from 0. */
  readonly itemOf: (row: Row, index: number) => Item | null;
  /** Most UTF-16 code units of all items together. */
  readonly textUnits?: number;
}

/** Turns rows into items until there are `limit`. Ids must be fit for file names and tables, and unique. */
export async function collect(
  rows: Iterable<Row> | AsyncIterable<Row>,
  { limit, itemOf, textUnits = defaultLimits.text_units }: CollectOptions,
): Promise<Collected> {
  const items: Item[] = [];
  const places = new Map<string, string>();
  let [index, left_out, size] = [0, 0, 0];
  for await (const row of rows) {
    const item = itemOf(row, index);
    index += 1;
    if (item === null) {
      left_out += 1;
      continue;
    }
    checkId(item.id, row.place);
    const earlier = places.get(item.id);
    if (earlier !== undefined) throw rowError(row.place, `id "${item.id}" is already that of ${earlier}`);
    places.set(item.id, row.place);
    size += sizeOf(item);
    if (size > textUnits)
      throw rowError(
        row.place,
        `the questions up to here hold more than ${inWords(textUnits)} of text; set a limit`,
      );
    items.push(item);
    if (items.length === limit) break;
  }
  return { items, left_out };
}

const sizeOf = ({ prompt, gold, options, data }: Item): number =>
  prompt.length +
  gold.length +
  (options ?? []).reduce((sum, option) => sum + option.length, 0) +
  (data === undefined ? 0 : JSON.stringify(data).length);

const MAX_ID = 200;

function checkId(id: string, place: string): void {
  if (/\p{C}/u.test(id))
    throw rowError(place, `id ${JSON.stringify(id)} has control or invisible characters`);
  if (id.length > MAX_ID)
    throw rowError(place, `id "${id.slice(0, 40)}…" has ${id.length} characters, over ${MAX_ID}`);
  if (/^[\\/]|(?:^|[\\/])\.\.?(?:[\\/]|$)/.test(id))
    throw rowError(place, `id "${id}" reads like a path that leaves its folder`);
}

/** The label of a gold given as a label (any case) or as the text of exactly one option. */
export function goldLabel(
  gold: string,
  options: readonly string[],
  labelOf: (index: number) => string,
): string | null {
  const wanted = gold.trim();
  const labels = options.map((_, index) => labelOf(index));
  const label = labels.find((l) => l === wanted.toUpperCase());
  if (label !== undefined) return label;
  const matches = labels.filter((_, index) => options[index]?.trim() === wanted);
  return matches.length === 1 ? (matches[0] ?? null) : null;
}
