import type { Usage } from '@perwatt/core';
import {
  type ChunkTemplate,
  type Hole,
  learnedTemplate,
  MOST_HOLES,
  type TextKind,
} from './learn-template.js';

/** What the last match found. The text lies in the bytes that were matched, from `text_start` to `text_end`. */
export interface ChunkMatch {
  kind: TextKind;
  text_start: number;
  text_end: number;
  /** The usage block of the event; null where it has none. */
  usage: Usage | null;
}

/** Forms of events that a server has been seen to send, shared by its streams. */
export interface ChunkTemplates {
  /** Of the last match; read it before the next one. */
  readonly found: ChunkMatch;
  /** Where the event that starts at `start` ends, if it is whole, in a known form and nothing but a delta of text; else -1. */
  match(bytes: Uint8Array, start: number): number;
  /** Learns the form of an event, from its data, if it is one that can be matched. */
  learn(data: string): void;
}

const MOST_TEMPLATES = 8;
const MOST_LESSONS = 64;
const LONGEST_NUMBER = 15;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const ZERO = 0x30;
const FIELD = Buffer.from('data:');

/**
 * The byte scan for the common chunk of a stream. A server's chunks are alike but for the text, the counts and an id: the
 * first one is parsed as JSON, and its bytes, with holes where those stand, are what later ones are compared with. A text with an
 * escape, another key, another order or any other difference is no match, and goes the way of the first.
 */
export function createTemplates(): ChunkTemplates {
  const known: ChunkTemplate[] = [];
  const found: ChunkMatch = { kind: 'content', text_start: 0, text_end: 0, usage: null };
  let lessons = 0;
  let last = 0;

  const matchAny = (bytes: Uint8Array, start: number): number => {
    const end = matchTemplate(known[last], bytes, { at: start, found });
    if (end >= 0) return end;
    for (let i = 0; i < known.length; i++) {
      if (i === last) continue;
      const other = matchTemplate(known[i], bytes, { at: start, found });
      if (other < 0) continue;
      last = i;
      return other;
    }
    return -1;
  };

  return {
    found,
    match(bytes, start) {
      if (known.length === 0) return -1;
      const json = afterField(bytes, start);
      if (json < 0) return -1;
      const end = matchAny(bytes, json);
      return end < 0 ? -1 : afterBlankLine(bytes, end);
    },
    learn(data) {
      if (known.length >= MOST_TEMPLATES || lessons >= MOST_LESSONS) return;
      lessons += 1;
      const template = learnedTemplate(data);
      if (template !== null && !known.some((other) => isSame(other, template)))
        last = known.push(template) - 1;
    },
  };
}

const isSame = (a: ChunkTemplate, b: ChunkTemplate): boolean =>
  a.holes.join() === b.holes.join() &&
  a.parts.every((part, i) => Buffer.compare(part, b.parts[i] ?? FIELD) === 0);

function afterField(bytes: Uint8Array, start: number): number {
  if (start + FIELD.length >= bytes.length) return -1;
  for (let i = 0; i < FIELD.length; i++) if (bytes[start + i] !== FIELD[i]) return -1;
  const at = start + FIELD.length;
  return bytes[at] === SPACE ? at + 1 : at;
}

/** After the end of line and the blank line at `at`; -1 where there is anything else. A bare CR may be half of a pair. */
function afterBlankLine(bytes: Uint8Array, at: number): number {
  if (bytes[at] === LF) return bytes[at + 1] === LF ? at + 2 : -1;
  const pairs = bytes[at] === CR && bytes[at + 1] === LF && bytes[at + 2] === CR && bytes[at + 3] === LF;
  return pairs ? at + 4 : -1;
}

/** Where the holes of the event at hand stand: the start of each, then its end. */
type Marks = Int32Array;

interface Place {
  readonly at: number;
  readonly found: ChunkMatch;
}

function matchTemplate(template: ChunkTemplate | undefined, bytes: Uint8Array, place: Place): number {
  if (template === undefined) return -1;
  const { parts, holes } = template;
  let at = afterPart(parts[0] as Uint8Array, bytes, place.at);
  for (let i = 0; at >= 0 && i < holes.length; i++) {
    const end = holeEnd(holes[i] as Hole, bytes, at);
    marks[2 * i] = at;
    marks[2 * i + 1] = end;
    at = end < 0 ? -1 : afterPart(parts[i + 1] as Uint8Array, bytes, end);
  }
  if (at >= 0) fill(place.found, template, bytes);
  return at;
}

const marks: Marks = new Int32Array(2 * MOST_HOLES);

function fill(found: ChunkMatch, { kind, holes, usage }: ChunkTemplate, bytes: Uint8Array): void {
  const text = holes.indexOf('text');
  found.kind = kind;
  found.text_start = marks[2 * text] ?? 0;
  found.text_end = marks[2 * text + 1] ?? 0;
  found.usage = usage;
  if (usage === null) return;
  const count = (hole: Hole) => {
    const i = holes.indexOf(hole);
    return countOf(bytes, marks[2 * i] ?? 0, marks[2 * i + 1] ?? 0);
  };
  found.usage = {
    ...usage,
    prompt_tokens: count('prompt_tokens'),
    completion_tokens: count('completion_tokens'),
  };
}

const holeEnd = (hole: Hole, bytes: Uint8Array, at: number): number =>
  hole === 'text' || hole === 'string' ? textEnd(bytes, at) : numberEnd(bytes, at);

function afterPart(part: Uint8Array, bytes: Uint8Array, at: number): number {
  const { length } = part;
  if (at + length > bytes.length) return -1;
  for (let i = 0; i < length; i++) if (bytes[at + i] !== part[i]) return -1;
  return at + length;
}

/** Where a plain text ends: at its quote. -1 where it has an escape, a control character or no end. */
function textEnd(bytes: Uint8Array, start: number): number {
  for (let i = start; i < bytes.length; i++) {
    const byte = bytes[i] as number;
    if (byte === QUOTE) return i;
    if (byte === BACKSLASH || byte < SPACE) return -1;
  }
  return -1;
}

/** Where a whole number ends; -1 where there is none, or one that JSON or a double would not take. */
function numberEnd(bytes: Uint8Array, start: number): number {
  let i = start;
  while (i < bytes.length && isDigit(bytes[i] as number)) i += 1;
  const length = i - start;
  if (length === 0 || length > LONGEST_NUMBER) return -1;
  return length > 1 && bytes[start] === ZERO ? -1 : i;
}

const isDigit = (byte: number): boolean => byte >= ZERO && byte <= ZERO + 9;

function countOf(bytes: Uint8Array, start: number, end: number): number {
  let value = 0;
  for (let i = start; i < end; i++) value = value * 10 + (bytes[i] as number) - ZERO;
  return value;
}
