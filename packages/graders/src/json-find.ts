import type { Range } from './reasoning.js';

/** A JSON object that stands in a text. */
export interface FoundObject {
  readonly value: Readonly<Record<string, unknown>>;
  readonly range: Range;
}

/** Openings looked at from the end of a text; more of them is no answer but noise. */
const MAX_OBJECTS = 100;
const MAX_LENGTH = 200_000;

/**
 * The complete JSON objects of a text in order, outermost only, at most the last 100. Braces in quoted strings don't count;
 * comments and trailing commas are borne with. What looks like an object and can't be read is left out.
 */
export function findObjects(text: string): FoundObject[] {
  const from = Math.max(0, text.length - MAX_LENGTH);
  const found: FoundObject[] = [];
  const opens: number[] = [];
  for (let at = text.indexOf('{', from); at !== -1; at = text.indexOf('{', at + 1)) opens.push(at);
  let done = from;
  for (const start of opens.slice(-MAX_OBJECTS)) {
    if (start < done) continue;
    const end = objectEnd(text, start);
    if (end === null) continue;
    const value = readObject(text.slice(start, end));
    if (value === null) continue;
    found.push({ value, range: [start, end] });
    done = end;
  }
  return found;
}

const MARK = /"(?:[^"\\]|\\[\s\S])*"|["{}]/g;

/** Just behind the brace that closes the object opened at `start`; null when none does, or a string is never closed. */
function objectEnd(text: string, start: number): number | null {
  const mark = new RegExp(MARK);
  mark.lastIndex = start;
  let depth = 0;
  for (let match = mark.exec(text); match !== null; match = mark.exec(text)) {
    if (match[0] === '"') return null;
    if (match[0] === '{') depth += 1;
    else if (match[0] === '}') depth -= 1;
    if (depth === 0) return mark.lastIndex;
  }
  return null;
}

function readObject(text: string): Readonly<Record<string, unknown>> | null {
  for (const attempt of [text, cleaned(text)]) {
    try {
      const value: unknown = JSON.parse(attempt);
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
    } catch {
      // the next attempt is more lenient
    }
  }
  return null;
}

/** Without comments and trailing commas; line breaks in strings escaped. */
function cleaned(text: string): string {
  return text
    .replaceAll(/"(?:[^"\\]|\\[\s\S])*"|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (part) =>
      part.startsWith('"') ? part.replaceAll('\n', '\\n').replaceAll('\t', '\\t') : '',
    )
    .replaceAll(/"(?:[^"\\]|\\[\s\S])*"|,(?=\s*[}\]])/g, (part) => (part === ',' ? '' : part));
}
