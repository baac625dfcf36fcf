import type { Usage } from '@perwatt/core';
import { asArray, asObject, asText, type JsonObject, parseJson } from './json.js';
import { usageOf } from './usage.js';

/** What the text of a template's events is. */
export type TextKind = 'content' | 'reasoning';

/** What stands between two fixed parts of an event: the text, a count, or something that nobody reads. */
export type Hole = 'text' | 'string' | 'number' | 'prompt_tokens' | 'completion_tokens';

/** The form of an event: fixed bytes with holes between them, one more part than holes. */
export interface ChunkTemplate {
  readonly kind: TextKind;
  readonly parts: readonly Uint8Array[];
  readonly holes: readonly Hole[];
  /** The usage block of the event it was learned from, whose two counts are holes; null where events have none. */
  readonly usage: Usage | null;
}

/** A form with more holes than this is not matched. */
export const MOST_HOLES = 16;

/** A string or number of a JSON text: the keys that lead to it, and where it stands, quotes not included. */
interface Scalar {
  readonly path: string;
  readonly type: 'string' | 'number';
  readonly start: number;
  readonly end: number;
}

/** Each key behind a line feed, which no key holds, so that two paths are never taken for one. */
const pathOf = (...keys: readonly (string | number)[]): string => keys.map((key) => `\n${key}`).join('');
const COUNT = /^(0|[1-9]\d{0,14})$/;
/** Keys of a payload that something depends on; any other scalar beside them is read by nobody. */
const read = new Set(['choices', 'usage', 'error', 'object'].map((key) => pathOf(key)));
const TOTAL = pathOf('usage', 'total_tokens');
const LONGEST_EVENT = 4096;

/**
 * The form of the events that are like this one, or null. Only for a delta that is nothing but one text, in the one choice, of
 * an object without a key that stands twice or is spelled with escapes: then a change within a hole can't change what
 * the rest means.
 *
 * @param data the data of one event; any text
 */
export function learnedTemplate(data: string): ChunkTemplate | null {
  if (data.length > LONGEST_EVENT || data.includes('\n')) return null;
  const payload = asObject(parseJson(data));
  const text = payload === null ? null : textOf(payload);
  const scalars = text === null ? null : scalarsOf(data);
  if (payload === null || text === null || scalars === null) return null;
  const usage = usageOf(payload['usage']);
  const found = holesOf(data, { scalars, text, usage });
  const needed = usage === null ? ['text'] : ['text', 'prompt_tokens', 'completion_tokens'];
  if (found.length > MOST_HOLES || !needed.every((name) => found.some(({ hole }) => hole === name)))
    return null;
  const edges = found.flatMap(({ scalar }) => [scalar.start, scalar.end]);
  const starts = [0, ...edges.filter((_, i) => i % 2 === 1)];
  const ends = [...edges.filter((_, i) => i % 2 === 0), data.length];
  return {
    kind: text.kind,
    parts: starts.map((start, i) => Buffer.from(data.slice(start, ends[i]))),
    holes: found.map(({ hole }) => hole),
    usage,
  };
}

interface Text {
  readonly kind: TextKind;
  readonly path: string;
}

/** The one text of a payload that is nothing else. */
function textOf(payload: JsonObject): Text | null {
  const choices = asArray(payload['choices']);
  const choice = asObject(choices[0]);
  if (choices.length !== 1 || choice === null || (choice['index'] ?? 0) !== 0) return null;
  if (asText(choice['finish_reason']) !== '' || (choice['message'] ?? null) !== null) return null;
  const delta = asObject(choice['delta']);
  if (delta !== null) return deltaText(delta, choice);
  const plain = (choice['delta'] ?? null) === null && asText(choice['text']) !== '';
  return plain ? { kind: 'content', path: pathOf('choices', 0, 'text') } : null;
}

function deltaText(delta: JsonObject, choice: JsonObject): Text | null {
  if (asArray(delta['tool_calls']).length > 0 || Object.hasOwn(choice, 'text')) return null;
  const names = ['content', 'reasoning_content', 'reasoning'].filter((name) => (delta[name] ?? '') !== '');
  const [name = ''] = names;
  if (names.length !== 1 || typeof delta[name] !== 'string') return null;
  return { kind: name === 'content' ? 'content' : 'reasoning', path: pathOf('choices', 0, 'delta', name) };
}

interface Known {
  readonly scalars: readonly Scalar[];
  readonly text: Text;
  readonly usage: Usage | null;
}

function holesOf(data: string, { scalars, text, usage }: Known) {
  const named = new Map<string, Hole | null>([...read].map((path) => [path, null]));
  named.set(text.path, 'text');
  if (usage !== null) {
    named.set(pathOf('usage', 'prompt_tokens'), 'prompt_tokens');
    named.set(pathOf('usage', 'completion_tokens'), 'completion_tokens');
  }
  const holeOf = ({ path, type, start, end }: Scalar): Hole | null => {
    if (type === 'number' && !COUNT.test(data.slice(start, end))) return null;
    const unread = path === TOTAL || path.lastIndexOf('\n') === 0;
    return named.get(path) ?? (unread && !named.has(path) ? type : null);
  };
  return scalars.flatMap((scalar) => {
    const hole = holeOf(scalar);
    return hole === null ? [] : [{ scalar, hole }];
  });
}

/** The scalars of a JSON text known to be whole; null when a key stands twice in an object or has an escape. */
function scalarsOf(text: string): readonly Scalar[] | null {
  const scalars: Scalar[] = [];
  let at = 0;
  let plain = true;

  const skip = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    const [found = ''] = pattern.exec(text) ?? [];
    at += found.length;
    return found;
  };
  const takeKey = (seen: Set<string>): string => {
    const key = skip(STRING).slice(1, -1);
    if (key.includes('\\') || seen.has(key)) plain = false;
    seen.add(key);
    skip(COLON);
    return key;
  };
  const takeItems = (path: string, close: string, keyOf: (i: number) => string | number): void => {
    at += 1;
    skip(GAP);
    for (let i = 0; text[at] !== close; i++) {
      takeValue(path + pathOf(keyOf(i)));
      skip(COMMA);
    }
    at += 1;
  };
  const takeValue = (path: string): void => {
    skip(GAP);
    const first = text[at];
    if (first === '{') {
      const seen = new Set<string>();
      takeItems(path, '}', () => takeKey(seen));
    } else if (first === '[') takeItems(path, ']', (i) => i);
    else if (first === '"') {
      const start = at + 1;
      const { length } = skip(STRING);
      scalars.push({ path, type: 'string', start, end: start + length - 2 });
    } else {
      const start = at;
      skip(WORD);
      if (first !== undefined && /[-\d]/.test(first)) scalars.push({ path, type: 'number', start, end: at });
    }
    skip(GAP);
  };
  takeValue('');
  return plain ? scalars : null;
}

const GAP = /[ \t\r\n]*/y;
const COLON = /[ \t\r\n]*:[ \t\r\n]*/y;
const COMMA = /[ \t\r\n]*,?[ \t\r\n]*/y;
const STRING = /"(?:[^"\\]|\\.)*"/y;
const WORD = /[^,\]}\s]+/y;
