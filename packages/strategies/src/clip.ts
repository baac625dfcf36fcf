/** The last `length` characters of a text, never half of a surrogate pair. */
export function clipLeft(text: string, length: number): string {
  if (text.length <= length) return text;
  const cut = text.slice(text.length - length);
  return /^[\uDC00-\uDFFF]/.test(cut) ? cut.slice(1) : cut;
}

const markers = [
  /<\/think(?:ing)?>/gi,
  /final answer\s*:/gi,
  /answer\s*:/gi,
  /result\s*:/gi,
  /output\s*:/gi,
  /####\s/g,
];

/** The text after the last final-answer marker of the first kind that there is; the whole text without one. */
export function afterMarker(text: string): string {
  for (const marker of markers) {
    const last = [...text.matchAll(marker)].at(-1);
    const rest = last === undefined ? '' : text.slice(last.index + last[0].length).trim();
    if (rest !== '') return rest;
  }
  return text.trim();
}
