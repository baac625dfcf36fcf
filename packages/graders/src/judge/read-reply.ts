import { findReasoning } from '../reasoning.js';

/** The text of a reply behind its reasoning; null where the reasoning never ends. */
function spoken(reply: string): string | null {
  const { removed, unclosed } = findReasoning(reply);
  if (unclosed) return null;
  let text = '';
  let at = 0;
  for (const [start, end] of removed) {
    text += reply.slice(at, start);
    at = end;
  }
  return (text + reply.slice(at)).trim();
}

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

/** Marks that may stand around a word. */
const OPEN = '[\\s*_`"\'“(\\[]{0,8}';
const CLOSE = '[\\s*_`"\'”)\\].,;!]{0,8}';
const ANCHORS: Readonly<Record<'verdict' | 'score', string>> = {
  verdict: 'verdict|grade|judge?ment|rating',
  score: 'score|probability',
};

/** A token as it ends: no letter, digit or sign of a longer word may follow. */
const END = '(?![\\p{L}\\p{N}_])(?![<>=])';

/**
 * The last token that stands behind "verdict", "grade", "judgement" or "rating" and a colon, "is" or an equals sign; or the token that is all of a
 * reply. Whole words only, whatever their case. Null for anything else: the reply can't be read.
 */
export function readToken(reply: string, tokens: readonly string[]): string | null {
  const text = spoken(reply);
  if (text === null) return null;
  const longestFirst = tokens.toSorted((a, b) => b.length - a.length);
  const names = longestFirst.map(escaped).join('|');
  const anchored = new RegExp(
    `(?<![\\p{L}\\p{N}_])(?:${ANCHORS.verdict})${CLOSE}(?:\\s{0,4}(?::|=|\\bis\\b))${OPEN}(${names})${END}`,
    'giu',
  );
  const alone = new RegExp(`^${OPEN}(${names})${CLOSE}$`, 'iu');
  const found = [...text.matchAll(anchored)].at(-1)?.[1] ?? alone.exec(text)?.[1];
  if (found === undefined) return null;
  return tokens.find((token) => token.toLowerCase() === found.toLowerCase()) ?? null;
}

/** The number from 0 to 1 behind the last "score" or "probability", or that is all of a reply; null when there is none. */
export function readScore(reply: string): number | null {
  const text = spoken(reply);
  if (text === null) return null;
  const number = '([01](?:\\.[0-9]{1,12})?|\\.[0-9]{1,12})';
  const end = '(?![\\p{L}\\p{N}_.%/])|(?=\\.(?:\\s|$))';
  const anchored = new RegExp(
    `(?<![\\p{L}\\p{N}_])(?:${ANCHORS.score})${CLOSE}(?:\\s{0,4}(?::|=|\\bis\\b))${OPEN}${number}(?:${end})`,
    'giu',
  );
  const alone = new RegExp(`^${OPEN}${number}${CLOSE}$`, 'u');
  const found = [...text.matchAll(anchored)].at(-1)?.[1] ?? alone.exec(text)?.[1];
  const value = Number(found ?? Number.NaN);
  return value >= 0 && value <= 1 ? value : null;
}

/** Whether each of `count` criteria was met, from lines "CRITERION n: MET" or "UNMET", the last of each; null unless all are there. */
export function readCriteria(reply: string, count: number): readonly boolean[] | null {
  const text = spoken(reply);
  if (text === null) return null;
  const met = new Map<number, boolean>();
  const line =
    /^[\s*_`#-]{0,8}criterion[ \t]{1,4}([0-9]{1,3})[\s*_`]{0,4}[:=][\s*_`]{0,4}(met|unmet)(?![\p{L}\p{N}_])/gimu;
  for (const [, number, said] of text.matchAll(line)) met.set(Number(number), said?.toLowerCase() === 'met');
  const all = Array.from({ length: count }, (_, i) => met.get(i + 1));
  return all.every((each) => each !== undefined) ? all : null;
}
