import type { Cursor } from './parse.js';

const depthChange = (text: string) =>
  text === '(' || text === '[' ? 1 : text === ')' || text === ']' ? -1 : 0;

/** The variable of the comprehension that begins at the cursor; null when its bracket closes, or has a comma, before a `for`. */
export function variableAhead({ peek }: Cursor): string | null {
  let depth = 0;
  for (let ahead = 0; peek(ahead).kind !== 'end'; ahead++) {
    const { text } = peek(ahead);
    if (depth === 0 && text === 'for') return peek(ahead + 1).text;
    if (depth === 0 && text === ',') return null;
    depth += depthChange(text);
    if (depth < 0) return null;
  }
  return null;
}
