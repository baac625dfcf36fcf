import { skipWrappers } from './wrappers.js';

/** How the options of a question are named: letters A…Z and then 1, 2, …; or 1, 2, … alone. */
export interface Labels {
  readonly scheme: 'letters' | 'numbers';
  readonly count: number;
}

/** A label as it stands in a text. */
export interface Label {
  /** 0-based option. At or above the option count: out of range. */
  readonly index: number;
  readonly start: number;
  readonly end: number;
}

const LETTERS = 26;

/** Labels for `count` options; the gold says whether they are numbers. */
export const labelsFor = (count: number, gold: string | null): Labels => ({
  scheme: gold !== null && /^[0-9]+$/.test(gold.trim()) && count <= LETTERS ? 'numbers' : 'letters',
  count,
});

/** The label of an option: 0 is `A`, 26 is `1`. */
export function labelName({ scheme }: Labels, index: number): string {
  if (scheme === 'numbers') return `${index + 1}`;
  return index < LETTERS ? String.fromCharCode(65 + index) : `${index - LETTERS + 1}`;
}

/** Letters of other scripts that stand for A, B, C, D. */
const OTHER_SCRIPTS = ['أبجد', 'অবডঢ'] as const;

/** Words that can follow the label A, but not the article. */
const AFTER_LABEL =
  /^ +(?:because|since|as|and|or|but|which|for|if|so|due|from|by|is|in|with|on|that)(?![\w-])/;
const AFTER_PRONOUN_TWIN = /^ +(?:because|since|is)(?![\w-])/;

/** The label behind wrappers at `at`, or null when something else stands there. */
export function readLabel(text: string, at: number, labels: Labels): Label | null {
  const start = skipWrappers(text, at);
  const wrapped = start > at && /[({[*$`_"'“‘]$/.test(text.slice(at, start));
  const token = /^(?:[A-Za-z]|[0-9]{1,3}|[أبجدঅবডঢ])/.exec(text.slice(start, start + 3))?.[0];
  if (token === undefined) return null;
  const index = labelIndex(token, labels);
  const end = start + token.length;
  if (index === null || !isBoundary(text, end) || (!wrapped && isWord(text, token, end))) return null;
  return { index, start, end };
}

function labelIndex(token: string, { scheme, count }: Labels): number | null {
  if (/[0-9]/.test(token)) {
    if (scheme === 'numbers') return Number(token) - 1;
    return count > LETTERS && Number(token) > 0 ? LETTERS + Number(token) - 1 : null;
  }
  if (scheme === 'numbers') return null;
  for (const script of OTHER_SCRIPTS) if (script.includes(token)) return script.indexOf(token);
  return token.toUpperCase().charCodeAt(0) - 65;
}

/** No letter (of a script that joins words), digit, apostrophe or hyphenated or dotted continuation follows. */
function isBoundary(text: string, end: number): boolean {
  const after = text.slice(end, end + 3);
  if (/^[\p{N}'’\p{M}]/u.test(after)) return false;
  if (/^(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}])\p{L}/u.test(after))
    return false;
  return !/^(?:[-.][\p{L}\p{N}]|_[\p{L}\p{N}]|[+#])/u.test(after);
}

/** Whether a bare letter in running text is an article, a pronoun or a small variable rather than a label. */
function isWord(text: string, token: string, end: number): boolean {
  const after = text.slice(end, end + 24);
  if (!/^ +\p{L}/u.test(after)) return false;
  if (token === 'A') return /^ +\p{Ll}/u.test(after) && !AFTER_LABEL.test(after);
  if (token === 'I') return !AFTER_PRONOUN_TWIN.test(after);
  return /[a-z]/.test(token) && (/[ai]/.test(token) || !AFTER_LABEL.test(after));
}

const JOINT = /^[*_`"')\]}$]{0,6} ?(?:(?<mark>[,;/&])|(?:and|or|und|oder|和|或)(?![a-z])) ?/;

/** Further labels joined to `first` by a comma, slash, "and" or "or": then one answer names several options. */
export function joinedLabels(text: string, first: Label, labels: Labels): Label[] {
  const all = [first];
  let at = first.end;
  while (all.length < 64) {
    const joint = JOINT.exec(text.slice(at, at + 16));
    const next = joint === null ? null : readLabel(text, at + joint[0].length, labels);
    if (next === null || next.start - at > 16 || !endsList(text, next.end)) return all;
    all.push(next);
    at = next.end;
  }
  return all;
}

/** A listed label is followed by a mark, the line's end, or what shows that the list was the subject. */
const endsList = (text: string, end: number) =>
  /^[*_`"')\]}$]{0,6} ?(?:$|[.,;:!?/&)\n]|(?:and|or|are|both|和|或|都)(?![a-z]))/.test(
    text.slice(end, end + 16),
  );
