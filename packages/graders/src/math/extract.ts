import { clauseEnd, findAnchors, isDenied } from '../anchors.js';
import type { Found } from '../decide.js';
import { scanNumbers } from '../numbers.js';
import type { Range } from '../reasoning.js';
import { findAnswerTags, findBoxes, lastLine } from '../wrappers.js';
import { findEnvironments } from './environments.js';
import { limits } from './limits.js';
import { parseAnswer } from './parse-value.js';
import type { Answer } from './value.js';

/** An answer as found: its text without delimiters, and where that stands. */
export interface Candidate {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** Candidates looked at from the end; before them everything is noise. */
const MAX_PLACES = 64;

/**
 * The answer of a prepared completion, best rule first: an `<answer>` element, a JSON field or a `####` line; the last boxes that
 * belong together; what the last anchor announces; the last mathematics between delimiters; the last line, or last number.
 */
export function findMath(text: string): Found<Candidate> {
  const rules: readonly (readonly [string, () => Candidate | null])[] = [
    ['math.format', () => inFormat(text)],
    ['math.boxed', () => inBoxes(text)],
    ['math.anchor', () => anchored(text)],
    ['math.delimited', () => delimited(text)],
    ['math.line', () => ofLastLine(text)],
    ['math.last_number', () => lastNumber(text)],
  ];
  for (const [rule, find] of rules) {
    const found = find();
    if (found === null) continue;
    const flags = rule === 'math.boxed' && findBoxes(text).length > 1 ? ['multiple-candidates'] : [];
    return { status: 'found', value: found, start: found.start, end: found.end, rule, flags };
  }
  return { status: 'none', reason: 'no mathematics in the answer', flags: [] };
}

/** End of the first thing in a text that could be an answer; null when there is none. */
export function firstMathEnd(text: string): number | null {
  const ends = [findBoxes(text)[0]?.[1], scanNumbers(text, 1)[0]?.end].filter((end) => end !== undefined);
  if (ends.length > 0) return Math.min(...ends);
  return text.trim() === '' ? null : text.length - text.trimStart().length + 1;
}

const cut = (text: string, [from, to]: Range): Candidate | null => {
  const start = from + leading(text.slice(from, Math.min(to, from + 64)));
  const tail = text.slice(Math.max(start, to - 64), to);
  const end = to - (/[\s*`"”_]*$/.exec(tail)?.[0].length ?? 0);
  return end > start ? { text: text.slice(start, end), start, end } : null;
};

const leading = (head: string): number => /^[\s*`"“_]*/.exec(head)?.[0].length ?? 0;

/** A candidate without the delimiters around all of it, and of a box its content. */
function bare(text: string, range: Range): Candidate | null {
  const candidate = cut(text, range);
  if (candidate === null) return null;
  const inner = text.slice(
    candidate.start,
    Math.min(candidate.end, candidate.start + limits.candidate_chars),
  );
  const [environment, ...others] = findEnvironments(inner);
  const whole =
    environment !== undefined &&
    others.length === 0 &&
    inner.slice(0, environment.outer[0]).trim() === '' &&
    /^[\s.,;:!*]*$/.test(inner.slice(environment.outer[1]));
  if (!whole) return candidate;
  const start = candidate.start + environment.inner[0];
  return cut(text, [start, candidate.start + environment.inner[1]]);
}

function inFormat(text: string): Candidate | null {
  const tag = findAnswerTags(text).at(-1);
  const marks = [...text.matchAll(/^[ \t]{0,8}####[ \t]{0,8}/gm)].at(-1);
  const places: Range[] = [];
  if (tag !== undefined) places.push(tag);
  if (marks !== undefined) {
    const start = marks.index + marks[0].length;
    const end = text.indexOf('\n', start);
    places.push([start, end < 0 ? text.length : end]);
  }
  const json = jsonAnswer(text);
  if (json !== null) places.push(json);
  const last = places.sort((a, b) => a[0] - b[0]).at(-1);
  if (last === undefined) return null;
  const found = boxIn(text, last) ?? bare(text, last);
  return found !== null && last === json ? { ...found, text: found.text.replaceAll('\\\\', '\\') } : found;
}

function boxIn(text: string, [start, end]: Range): Candidate | null {
  const box = findBoxes(text.slice(start, Math.min(end, start + limits.candidate_chars))).at(-1);
  return box === undefined ? null : cut(text, [start + box[0], start + box[1]]);
}

const FIELD =
  /"(?:final_?answer|answer|result|solution)"\s{0,20}:\s{0,20}(?:"(?<text>(?:[^"\\\n]|\\[^\n]){1,4096})"|(?<number>-?[0-9][0-9.eE+-]{0,300}))/gi;

/** The value of the last answer field of a JSON object. */
function jsonAnswer(text: string): Range | null {
  const from = text.lastIndexOf('{');
  const open = Math.max(0, from - 20_000);
  if (from < 0 || !text.includes('"', open)) return null;
  const match = [...text.slice(open).matchAll(FIELD)].at(-1);
  const value = match?.groups?.['text'] ?? match?.groups?.['number'];
  if (match === undefined || value === undefined) return null;
  const end = open + match.index + match[0].length - (match.groups?.['text'] === undefined ? 0 : 1);
  return [end - value.length, end];
}

const GLUE = /^(?:[\s.,;:$&]|\\[()[\]]|\\q?quad|\\text\{ ?(?:and|or) ?\}|\\[,; ]|\b(?:and|or)\b|\*\*){0,24}$/;
const PERCENT = /^[}$\s]{0,4}(?:\\?%|percent\b)/i;

/** The last box, joined with those before it that only commas, and, or divide from it. */
function inBoxes(text: string): Candidate | null {
  const boxes = findBoxes(text);
  let at = boxes.length - 1;
  while (at > 0 && isGlued(text, boxes[at - 1], boxes[at])) at -= 1;
  const joined = boxes.slice(at);
  const [first, last] = [joined[0], joined.at(-1)];
  if (first === undefined || last === undefined) return null;
  const parts = joined.flatMap((box) => {
    const part = bare(text, box);
    return part === null ? [] : [part.text];
  });
  const only = joined.length === 1 ? bare(text, last) : null;
  const start = only?.start ?? first[0];
  const end = only?.end ?? last[1];
  if (parts.length === 0) return null;
  const percent = joined.length === 1 && PERCENT.test(text.slice(last[1] + 1, last[1] + 16));
  return { text: `${parts.join(' , ')}${percent ? '\\%' : ''}`, start, end };
}

/** Only the command of the second box may stand between a separator and it. */
function isGlued(text: string, before: Range | undefined, after: Range | undefined): boolean {
  if (before === undefined || after === undefined || after[0] - before[1] > 60) return false;
  const between = text.slice(before[1] + 1, after[0]).replace(/\\?(?:begin)?(?:boxed|fbox|oxed) ?\{$/, '');
  return GLUE.test(between) && /[,;]|and|or/.test(between);
}

/** What the last anchor announces: mathematics in delimiters, else what can be read before the clause ends. */
function anchored(text: string): Candidate | null {
  for (const anchor of findAnchors(text, 'answers').slice(-MAX_PLACES).reverse()) {
    const found = announced(text, anchor.end);
    if (found !== null && !isDenied(text, anchor, found)) return found;
  }
  return null;
}

function announced(text: string, at: number): Candidate | null {
  const start = at + leading(text.slice(at, at + 64));
  const stop = clauseEnd(text, start);
  const near = text.slice(start, Math.max(stop, Math.min(text.length, start + 4)));
  const window = text.slice(start, start + 2000);
  const [first, ...others] = findEnvironments(window);
  const leads =
    first !== undefined &&
    first.outer[0] <= Math.min(24, near.length) &&
    !/[0-9]/.test(window.slice(0, first.outer[0]));
  if (first !== undefined && leads) return joinEnvironments(text, start, [first, ...others]);
  return plainMath(text, [start, stop]);
}

type Environments = ReturnType<typeof findEnvironments>;

/** The first of several, with those behind it that only commas, and, or divide from it. */
function joinEnvironments(text: string, offset: number, all: Environments): Candidate | null {
  const [first] = all;
  if (first === undefined) return null;
  let [parts, end] = [[text.slice(offset + first.inner[0], offset + first.inner[1])], first.inner[1]];
  let outer = first.outer[1];
  for (const next of all.slice(1)) {
    const between = text.slice(offset + outer, offset + next.outer[0]);
    if (!/^[\s,;]*(?:and|or|,|;)[\s,;]*$/.test(between)) break;
    parts = [
      ...parts,
      /or/.test(between) ? 'or' : ',',
      text.slice(offset + next.inner[0], offset + next.inner[1]),
    ];
    [end, outer] = [next.inner[1], next.outer[1]];
  }
  const percent = PERCENT.test(text.slice(offset + outer, offset + outer + 16)) ? '\\%' : '';
  const unit = /^ (?<unit>[A-Za-z]{2,12}(?:\^?[23²³])?)\b/.exec(
    text.slice(offset + outer, offset + outer + 20),
  );
  const joined = `${parts.join(' ')}${percent}`;
  const measured = unit === null ? joined : withUnit(joined, unit[0]);
  return { text: measured, start: offset + first.inner[0], end: offset + end };
}

/** `$5$ cm`: words behind the delimiters count where they are a unit. */
function withUnit(math: string, unit: string): string {
  const { value } = parseAnswer(`${math}${unit}`);
  return value.kind === 'quantity' && value.units.length > 0 ? `${math}${unit}` : math;
}

const PROSE_BREAK =
  /[,;]?\s(?:because|since|so|which|where|when|for|by|that|with|if|is|are|was|the|as|from|using|after|per|based|given|but|thus|hence|then|therefore|while|we|this|it|there)\b|\s[-–—]\s(?=[A-Za-z])|\s\((?=[A-Za-z]{3})/i;

/** Mathematics without delimiters: the clause, shortened until it can be read. */
function plainMath(text: string, [start, stop]: Range): Candidate | null {
  const clause = text.slice(start, stop);
  const prose = PROSE_BREAK.exec(clause);
  const ends = [clause.length, ...(prose === null ? [] : [prose.index])];
  for (const end of ends) {
    const candidate = bare(text, [start, start + end]);
    if (candidate !== null && isReadable(candidate.text)) return candidate;
  }
  const number = scanNumbers(clause, 1)[0];
  if (number !== undefined) return cut(text, [start + number.start, start + number.end]);
  return bare(text, [start, start + (prose?.index ?? clause.length)]);
}

const isMath = (answer: Answer): boolean => answer.value.kind !== 'raw';

/** Whether a text is mathematics, or a word or three. */
function isReadable(text: string): boolean {
  if (text.length > 400) return false;
  const answer = parseAnswer(text);
  return isMath(answer) && (answer.value.kind !== 'text' || text.split(/\s+/).length <= 3);
}

/** The last mathematics in delimiters, with what and, or, commas join before it. */
function delimited(text: string): Candidate | null {
  const from = Math.max(0, text.length - 20_000);
  const all = findEnvironments(text.slice(from)).slice(-MAX_PLACES);
  let at = all.length - 1;
  while (at > 0 && isJoined(text, from, all[at - 1], all[at])) at -= 1;
  return joinEnvironments(text, from, all.slice(Math.max(0, at)));
}

function isJoined(
  text: string,
  from: number,
  a: Environments[number] | undefined,
  b: Environments[number] | undefined,
): boolean {
  if (a === undefined || b === undefined || b.outer[0] - a.outer[1] > 12) return false;
  return /^[\s,;]*(?:and|or|,|;)[\s,;]*$/.test(text.slice(from + a.outer[1], from + b.outer[0]));
}

/** The last line, or the last part of it that follows a colon or equals sign, where it is mathematics. */
function ofLastLine(text: string): Candidate | null {
  const line = lastLine(text);
  if (line === null || line[1] - line[0] > 400) return null;
  const whole = bare(text, line);
  const colon = text.lastIndexOf(': ', line[1]);
  const behind = colon > line[0] ? bare(text, [colon + 2, line[1]]) : null;
  const found = [behind, whole].find((c) => c !== null && isReadable(c.text));
  if (found == null) return null;
  const wordy = parseAnswer(found.text).value.kind === 'text';
  return wordy && found.text.length < text.trim().length - 2 ? null : found;
}

function lastNumber(text: string): Candidate | null {
  const from = Math.max(0, text.length - 20_000);
  const last = scanNumbers(text.slice(from)).at(-1);
  return last === undefined ? null : cut(text, [from + last.start, from + last.end]);
}
