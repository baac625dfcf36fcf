import type { Range } from '../reasoning.js';

/** Mathematics between delimiters: with them, and without. */
export interface Environment {
  readonly outer: Range;
  readonly inner: Range;
}

const DELIMITER = /\\[\\$]|\$\$|\$|\\[[\]()]/g;
const CLOSING: Readonly<Record<string, string>> = { $$: '$$', $: '$', '\\[': '\\]', '\\(': '\\)' };

/**
 * All of `$…$` (on one line), `$$…$$`, `\(…\)`, `\[…\]`, in order. A dollar sign before a number that has no partner on its line
 * is money. Linear.
 */
export function findEnvironments(text: string): readonly Environment[] {
  const found: Environment[] = [];
  let open: { readonly mark: string; readonly at: number } | null = null;
  for (const match of text.matchAll(DELIMITER)) {
    const mark = match[0];
    const end = match.index + mark.length;
    if (open === null || (open.mark === '$' && text.slice(open.at, match.index).includes('\n'))) {
      open = CLOSING[mark] === undefined ? null : { mark, at: match.index };
    } else if (mark === CLOSING[open.mark]) {
      const start = open.at + open.mark.length;
      if (match.index > start && !isMoney(text, open, match.index))
        found.push({ outer: [open.at, end], inner: [start, match.index] });
      else if (isMoney(text, open, match.index)) {
        open = { mark, at: match.index };
        continue;
      }
      open = null;
    }
  }
  return found;
}

/** `$5 and $6`: a closing sign glued to a number, with a blank before it. */
function isMoney(text: string, open: { readonly mark: string; readonly at: number }, close: number): boolean {
  if (open.mark !== '$') return false;
  const between = text.slice(open.at + 1, close);
  return /^[0-9.,]+ /.test(between) && / $/.test(between) && /[0-9]/.test(text.charAt(close + 1));
}
