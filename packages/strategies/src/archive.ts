/** A program with what it is worth. */
export interface Individual {
  readonly program: string;
  /** Call that it came from. */
  readonly call_id: string;
  /** Greater is better. */
  readonly score: number;
  /** Behaviour that tells programs apart, for the grid's second axis. */
  readonly behaviour: string;
  /** Order of birth. */
  readonly born: number;
}

/** The shape of an archive. */
export interface ArchiveShape {
  readonly islands: number;
  /** Cells of each axis of an island's grid. */
  readonly bins: number;
}

/** Programs on islands, each with a grid of complexity by behaviour whose cells keep only the fittest. */
export interface Archive {
  readonly islands: readonly Map<string, Individual>[];
  readonly bins: number;
}

export const newArchive = ({ islands, bins }: ArchiveShape): Archive => ({
  islands: Array.from({ length: islands }, () => new Map<string, Individual>()),
  bins,
});

/** Characters of one bin of complexity. */
const BIN_CHARS = 40;

/** The grid cell of a program: its length in bins, and a hash of what it does. */
export function cellOf(
  { program, behaviour }: Pick<Individual, 'program' | 'behaviour'>,
  bins: number,
): string {
  const complexity = Math.min(bins - 1, Math.floor(program.length / BIN_CHARS));
  let hash = 0;
  for (const char of behaviour) hash = (Math.imul(hash, 31) + (char.codePointAt(0) ?? 0)) >>> 0;
  return `${complexity},${hash % bins}`;
}

/** Puts a program on an island when its cell is empty or holds a worse one; of equal ones the older stays. */
export function insert(archive: Archive, island: number, individual: Individual): boolean {
  const grid = archive.islands[island % archive.islands.length];
  const cell = cellOf(individual, archive.bins);
  const held = grid?.get(cell);
  if (grid === undefined || (held !== undefined && held.score >= individual.score)) return false;
  grid.set(cell, individual);
  return true;
}

/** All programs of an island, best first; of equal ones the older. */
export const ranking = (archive: Archive, island: number): Individual[] =>
  [...(archive.islands[island % archive.islands.length]?.values() ?? [])].sort(
    (a, b) => b.score - a.score || a.born - b.born,
  );

/** The best program of all islands; null when there is none. */
export const best = (archive: Archive): Individual | null =>
  archive.islands
    .flatMap((_, island) => ranking(archive, island).slice(0, 1))
    .sort((a, b) => b.score - a.score || a.born - b.born)[0] ?? null;

/** Copies the best `share` of each island, at least one program, to the next island. */
export function migrate(archive: Archive, share: number): void {
  const leaving = archive.islands.map((_, island) => {
    const all = ranking(archive, island);
    return all.slice(0, all.length === 0 ? 0 : Math.max(1, Math.floor(all.length * share)));
  });
  for (const [island, travellers] of leaving.entries())
    for (const traveller of travellers) insert(archive, island + 1, traveller);
}

/** A parent by the shares of exploitation and exploration, and programs to learn from beside it. */
export function choose(
  archive: Archive,
  island: number,
  {
    rng,
    exploit,
    top,
    diverse,
  }: { readonly rng: () => number; readonly exploit: number; readonly top: number; readonly diverse: number },
): { readonly parent: Individual; readonly inspirations: readonly Individual[] } | null {
  const all = ranking(archive, island);
  const at = rng() < exploit ? 0 : Math.floor(rng() * all.length);
  const parent = all[at];
  if (parent === undefined) return null;
  const others = all.filter((each) => each !== parent);
  const picked = others.slice(0, top);
  const rest = others.slice(top);
  for (let i = 0; i < diverse && rest.length > 0; i++)
    picked.push(...rest.splice(Math.floor(rng() * rest.length), 1));
  return { parent, inspirations: picked };
}
