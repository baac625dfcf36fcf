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

/** The original's greedy pattern takes the last match of the first line with one; written without its backtracking. */
function ofLine(text: string): Found<string> | null {
  let best: { readonly line: number; readonly at: number } | null = null;
  for (const match of text.matchAll(new RegExp(`[aA]nswer:${BLANK}*(?<letter>[A-J])`, 'dg'))) {
    const at = match.indices?.groups?.['letter']?.[0];
    if (at === undefined) continue;
    const line = text.lastIndexOf('\n', match.index);
    if (best !== null && line !== best.line) break;
    best = { line, at };
  }
  return best === null ? null : found(text.charAt(best.at), best.at, 'mmlu_pro.answer_colon');
}

function lone(text: string): Found<string> | null {
  const last = [...text.matchAll(/(?<![\p{L}\p{N}_])[A-J](?![\p{L}\p{N}_])/gu)].at(-1);
  return last === undefined ? null : found(last[0], last.index, 'mmlu_pro.last_letter');
}
