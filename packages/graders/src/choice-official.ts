import type { Found } from './decide.js';

const BLANK = '[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]';

/**
 * MMLU-Pro's three-step cascade: the first "answer is X"; the last "answer: X" of the first line that has one; the last
 * lone capital A…J. Where the original then draws an option at random, nothing is found.
 */
export function findOfficial(text: string): Found<string> {
  return (
    first(text) ??
    ofLine(text) ??
    lone(text) ?? { status: 'none', reason: 'none of the three official patterns matches', flags: [] }
  );
}

function found(letter: string, start: number, rule: string): Found<string> {
  return { status: 'found', value: letter, start, end: start + 1, rule, flags: [] };
}

function first(text: string): Found<string> | null {
  const match = /answer is \(?(?<letter>[A-J])\)?/d.exec(text);
  const at = match?.indices?.groups?.['letter']?.[0];
  return at === undefined ? null : found(text.charAt(at), at, 'mmlu_pro.answer_is');
}

const PATTERN = new RegExp(`[aA]nswer:${BLANK}*(?<letter>[A-J])`, 'dg');

/** The original's greedy pattern takes the last match of the first line with one; written without its backtracking. */
function ofLine(text: string): Found<string> | null {
  let best = null as { readonly lineEnd: number; readonly at: number } | null;
  for (const match of text.matchAll(PATTERN)) {
    const at = match.indices?.groups?.['letter']?.[0];
    if (at === undefined) continue;
    if (best !== null && match.index > best.lineEnd) break;
    best = { lineEnd: best?.lineEnd ?? endOfLine(text, match.index), at };
  }
  return best === null ? null : found(text.charAt(best.at), best.at, 'mmlu_pro.answer_colon');
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end;
}

function lone(text: string): Found<string> | null {
  let last: RegExpExecArray | undefined;
  for (const match of text.matchAll(/(?<![\p{L}\p{N}_])[A-J](?![\p{L}\p{N}_])/gu)) last = match;
  return last === undefined ? null : found(last[0], last.index, 'mmlu_pro.last_letter');
}
