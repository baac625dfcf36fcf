import { type Found, releaseYear } from '@perwatt/metrics';

interface Dated {
  readonly id: string;
  readonly release_date: string | null;
}

/**
 * The year that a name's entry came out; null where the catalogue doesn't know. A name that means several entries has a
 * year where they all came out in the same.
 */
export function knownYear(found: Found<Dated> | null, entries: readonly Dated[]): number | null {
  if (found === null) return null;
  if (found.entry !== null) return releaseYear(found.entry.release_date);
  const several = /ambiguous|several/.test(found.reason ?? '');
  const meant = entries.filter(({ id }) => several && found.near.includes(id));
  const years = new Set(meant.map(({ release_date }) => releaseYear(release_date)));
  return years.size === 1 ? ([...years][0] ?? null) : null;
}
