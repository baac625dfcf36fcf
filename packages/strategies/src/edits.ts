/** One replacement in a program. */
interface Edit {
  readonly search: string;
  readonly replace: string;
}

const block = /<{3,}\s*SEARCH\s*\n([\s\S]*?)\n?={3,}\s*\n([\s\S]*?)\n?>{3,}\s*REPLACE/g;

const editsIn = (text: string): Edit[] =>
  [...text.matchAll(block)].map((found) => ({ search: found[1] ?? '', replace: found[2] ?? '' }));

/**
 * A program after the SEARCH/REPLACE blocks of an answer. Each searched text must stand in the program as it is by then; its first
 * place counts. Says why when there is no block or one does not apply; then nothing is changed.
 */
export function applyEdits(
  program: string,
  text: string,
): { readonly ok: true; readonly program: string } | { readonly ok: false; readonly reason: string } {
  const edits = editsIn(text);
  if (edits.length === 0) return { ok: false, reason: 'no SEARCH/REPLACE block' };
  let changed = program;
  for (const { search, replace } of edits) {
    const at = search === '' ? -1 : changed.indexOf(search);
    if (at < 0) return { ok: false, reason: 'a searched text is not in the program' };
    changed = changed.slice(0, at) + replace + changed.slice(at + search.length);
  }
  return { ok: true, program: changed };
}
