import type { Range } from './reasoning.js';

const BOX = /(?:\\?(?:begin)?boxed|\\?fbox|oxed) ?\{/g;

/**
 * Contents of all boxes in order, the outermost only. Boxes whose command lost its backslash or first letter count; a
 * command without a brace is prose; a last box that is never closed reaches to the end of the text.
 */
export function findBoxes(text: string): Range[] {
  const boxes: Range[] = [];
  const pattern = new RegExp(BOX);
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const start = match.index + match[0].length;
    const end = closingBrace(text, start);
    boxes.push([start, end]);
    pattern.lastIndex = end;
  }
  return boxes;
}

/** Offset of the brace that closes the group whose content starts at `at`; the text's end when none does. */
function closingBrace(text: string, at: number): number {
  let depth = 1;
  for (let i = at; i < text.length; i++) {
    const char = text.charAt(i);
    if (char === '\\') i += 1;
    else if (char === '{') depth += 1;
    else if (char === '}') depth -= 1;
    if (depth === 0) return i;
  }
  return text.length;
}

const WRAPPER =
  /(?:[\s*_`"'“”‘’«»「『【《$({[]|\\[([]|\\(?:boxed|fbox|text|textbf|mathbf|mathrm|mathsf|mbox) ?\{|(?:boxed|oxed)\{|\\[,;! ]|<answer>|\b(?:option|choice|answer)\b(?=[\s:(*])|选项)/iy;
const MAX_WRAPPERS = 48;

/** Skips what may stand around an answer: blanks, emphasis, quotes, brackets, math delimiters, text commands. */
export function skipWrappers(text: string, at: number): number {
  return skip(WRAPPER, text, at);
}

const CLOSER = /[\s*_`"'“”‘’«»」』】》$)}\].,;:!。，、]|\\[)\]]|\\[,;! ]|<\/answer>/iy;

/** Skips closing wrappers and punctuation behind an answer, at most 48 of them. */
export function skipClosers(text: string, at: number): number {
  return skip(CLOSER, text, at);
}

function skip(sticky: RegExp, text: string, at: number): number {
  let end = at;
  for (let count = 0; count < MAX_WRAPPERS; count++) {
    sticky.lastIndex = end;
    if (!sticky.test(text)) return end;
    end = sticky.lastIndex;
  }
  return end;
}

/** Contents of all `<answer>…</answer>` elements in order; an unclosed last one reaches to the end. */
export function findAnswerTags(text: string): Range[] {
  const tags: Range[] = [];
  let start: number | null = null;
  for (const tag of text.matchAll(/<(?<close>\/?)answer>/gi)) {
    if (tag.groups?.['close'] === '') start = tag.index + tag[0].length;
    else if (start !== null) {
      tags.push([start, tag.index]);
      start = null;
    }
  }
  if (start !== null) tags.push([start, text.length]);
  return tags;
}

/** What stands behind `Answer:` on lines that begin with it, in order. */
export function findAnswerLines(text: string): Range[] {
  const lines = text.matchAll(
    /^[ \t]{0,8}[*_#]{0,4}(?:final )?answer[*_]{0,3}:[*_]{0,3}(?<answer>[^\n]*)$/gim,
  );
  return [...lines].map((match) => {
    const end = match.index + match[0].length;
    return [end - (match.groups?.['answer'] ?? '').length, end];
  });
}

/** The last line that is not blank, without the blanks at its ends; null when there is none. */
export function lastLine(text: string): Range | null {
  const end = text.trimEnd().length;
  if (end === 0) return null;
  const from = text.lastIndexOf('\n', end - 1) + 1;
  return [from + leadingBlanks(text.slice(from, end)), end];
}

/** The first line that is not blank, without the blanks at its ends; null when there is none. */
export function firstLine(text: string): Range | null {
  const start = leadingBlanks(text);
  if (start === text.length) return null;
  const newline = text.indexOf('\n', start);
  const line = text.slice(start, newline === -1 ? text.length : newline);
  return [start, start + line.trimEnd().length];
}

const leadingBlanks = (text: string) => text.length - text.trimStart().length;
