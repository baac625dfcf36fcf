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
  let open: Delimiter | null = null;
  for (const match of text.matchAll(DELIMITER)) {
    const next = { mark: match[0], at: match.index };
    if (open === null || isBroken(text, open, next.at)) open = opening(next);
    else if (next.mark === CLOSING[open.mark]) {
      const money = isMoney(text, open, next.at);
      if (!money) found.push(...between(open, next));
      open = money ? next : null;
    }
  }
  return found;
}

const opening = (next: Delimiter): Delimiter | null => (CLOSING[next.mark] === undefined ? null : next);

function between(open: Delimiter, close: Delimiter): readonly Environment[] {
  const start = open.at + open.mark.length;
  return start < close.at
    ? [{ outer: [open.at, close.at + close.mark.length], inner: [start, close.at] }]
    : [];
}

interface Delimiter {
  readonly mark: string;
  readonly at: number;
}

/** A single dollar sign does not reach beyond its line. */
const isBroken = (text: string, open: Delimiter, close: number): boolean =>
  open.mark === '$' && text.slice(open.at, close).includes('\n');

/** `$5 and $6`: a closing sign glued to a number, with a blank before it. */
function isMoney(text: string, open: Delimiter, close: number): boolean {
  if (open.mark !== '$') return false;
  const between = text.slice(open.at + 1, close);
  return /^[0-9.,]+ /.test(between) && / $/.test(between) && /[0-9]/.test(text.charAt(close + 1));
}
