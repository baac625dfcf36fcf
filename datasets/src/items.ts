import type { Item } from '@perwatt/core';
import { type Row, rowError } from './rows.js';

/** Turns rows into items until there are `limit`. Ids must be fit for file names and tables, and unique. */
export function collect(
  rows: Iterable<Row>,
  limit: number | undefined,
  itemOf: (row: Row, index: number) => Item,
): Item[] {
  const items: Item[] = [];
  const places = new Map<string, string>();
  for (const row of rows) {
    const item = itemOf(row, items.length);
    checkId(item.id, row.place);
    const earlier = places.get(item.id);
    if (earlier !== undefined) throw rowError(row.place, `id "${item.id}" is already that of ${earlier}`);
    places.set(item.id, row.place);
    items.push(item);
    if (items.length === limit) break;
  }
  return items;
}

const MAX_ID = 200;

function checkId(id: string, place: string): void {
  if (/\p{C}/u.test(id))
    throw rowError(place, `id ${JSON.stringify(id)} has control or invisible characters`);
  if (id.length > MAX_ID)
    throw rowError(place, `id "${id.slice(0, 40)}…" has ${id.length} characters, over ${MAX_ID}`);
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
