import { findReasoning, type Range, type TagPair } from './reasoning.js';

/** A completion made ready for extraction, with the way back to its raw offsets. */
export interface Prepared {
  /** Without reasoning; characters that stand for ASCII ones folded. */
  readonly text: string;
  /** A reasoning block was opened and never closed. `text` then holds the block's content, for what it would have given. */
  readonly unclosed: boolean;
  /** The raw range of a range of `text`. */
  readonly rawSpan: (start: number, end: number) => Range;
}

/** Makes `raw` ready: drops reasoning, folds Unicode lightly. Every kept character stays one UTF-16 unit. */
export function prepare(raw: string, tags?: readonly TagPair[]): Prepared {
  const { removed, unclosed } = findReasoning(raw, tags);
  const units: string[] = [];
  const offsets = new Uint32Array(raw.length);
  let length = 0;
  let at = 0;
  for (const [start, end] of [...removed, [raw.length, raw.length] as const]) {
    for (; at < start; at++) {
      const unit = fold(raw, at);
      if (unit === '') continue;
      units.push(unit);
      offsets[length++] = at;
    }
    at = Math.max(at, end);
  }
  return {
    text: units.join(''),
    unclosed,
    rawSpan: (start, end) =>
      end > start
        ? [offsets[start] ?? 0, (offsets[end - 1] ?? 0) + 1]
        : [offsets[start] ?? 0, offsets[start] ?? 0],
  };
}

const DASHES = /[\u2010-\u2013\uFE63]/;
const BLANKS = /[\u00A0\u2000-\u200A\u202F\u205F\u3000]/;
const INVISIBLE = /[\u200B-\u200F\u202A-\u202E\u2060-\u2064\u2066-\u2069\uFEFF]/;

/** The unit that stands for `raw[at]`: itself, its ASCII form, or nothing. Not NFKC, which would turn x² into x2. */
function fold(raw: string, at: number): string {
  const code = raw.charCodeAt(at);
  const unit = raw.charAt(at);
  if (code < 0x80) return unit;
  if (code >= 0xff01 && code <= 0xff5e) return String.fromCharCode(code - 0xfee0);
  if (code === 0x2212) return '-';
  if (BLANKS.test(unit)) return ' ';
  if (INVISIBLE.test(unit)) return '';
  return DASHES.test(unit) && isNumberStart(raw, at + 1) ? '-' : unit;
}

const isNumberStart = (raw: string, at: number) =>
  /^[$€£¥]?\.?[0-9\uFF10-\uFF19]/.test(raw.slice(at, at + 3));

const NEXT_QUESTION =
  /^[ \t]{0,8}[*_#> ]{0,8}(?:(?:Question|Q|Problem)[ \t]?[0-9]{0,4}[*_]{0,3}:|### {1,4}Problem\b)/gm;

/**
 * `text` up to where a new question begins after an answer, as base models run on to the next one.
 * @param firstAnswerEnd end of the first thing that could be an answer, or null when there is none
 */
export function cutNextQuestion(text: string, firstAnswerEnd: number | null): string {
  if (firstAnswerEnd === null) return text;
  for (const marker of text.matchAll(NEXT_QUESTION)) {
    if (marker.index >= firstAnswerEnd && marker.index > 0) return text.slice(0, marker.index);
  }
  return text;
}
