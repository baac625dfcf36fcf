/** The name of `known` that `name` is most likely meant to be, or null when none is near (edit distance over a third of its length). */
export function closest(name: string, known: readonly string[]): string | null {
  const wanted = name.slice(0, 80).toLowerCase();
  let best: { readonly name: string; readonly distance: number } | null = null;
  for (const candidate of known) {
    const distance = editDistance(wanted, candidate.toLowerCase());
    if (best === null || distance < best.distance) best = { name: candidate, distance };
  }
  const limit = Math.max(1, Math.floor(Math.max(wanted.length, best?.name.length ?? 0) / 3));
  return best !== null && best.distance <= limit ? best.name : null;
}

/** `; did you mean "x"?` for the end of a message about an unknown name, or what is known when nothing is near. */
export function didYouMean(name: string, known: readonly string[]): string {
  const near = closest(name, known);
  return near === null ? `; known are ${known.join(', ')}` : `; did you mean "${near}"?`;
}

/** Insertions, deletions, replacements and swaps of neighbours. */
function editDistance(a: string, b: string): number {
  let before: readonly number[] = [];
  let row: readonly number[] = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const costs = [
        at(row, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1),
        at(row, j) + 1,
        at(next, j - 1) + 1,
        isSwap(a, b, [i, j]) ? at(before, j - 2) + 1 : Number.POSITIVE_INFINITY,
      ];
      next.push(Math.min(...costs));
    }
    before = row;
    row = next;
  }
  return at(row, b.length);
}

const at = (row: readonly number[], j: number) => row[j] ?? 0;

const isSwap = (a: string, b: string, [i, j]: readonly [number, number]) =>
  i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
