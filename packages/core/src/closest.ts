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

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
