import { notMath } from './limits.js';
import type { Token } from './tokens.js';

const NESTING: { readonly [K in Token['kind']]?: number } = { open: 1, begin: 1, close: -1, end: -1 };

/** Parts of `tokens` between those outside all brackets and environments that `isMark` picks, and those marks. */
export function splitTop(
  tokens: readonly Token[],
  isMark: (token: Token) => boolean,
): { readonly parts: readonly (readonly Token[])[]; readonly marks: readonly Token[] } {
  const parts: Token[][] = [[]];
  const marks: Token[] = [];
  let depth = 0;
  for (const token of tokens) {
    depth += NESTING[token.kind] ?? 0;
    if (depth < 0) notMath('brackets do not match');
    if (depth === 0 && isMark(token)) {
      marks.push(token);
      parts.push([]);
    } else parts.at(-1)?.push(token);
  }
  if (depth !== 0) notMath('brackets do not match');
  return { parts, marks };
}

/** Whether the bracket that opens `tokens` closes with its last one. */
export function isEnclosed(tokens: readonly Token[]): boolean {
  const first = tokens[0];
  if (first?.kind !== 'open' || tokens.at(-1)?.kind !== 'close') return false;
  let depth = 0;
  for (const [i, token] of tokens.entries()) {
    if (token.kind === 'open') depth += 1;
    else if (token.kind === 'close') depth -= 1;
    if (depth === 0) return i === tokens.length - 1;
  }
  return false;
}

export const isOp = (token: Token | undefined, ...names: readonly string[]): boolean =>
  token?.kind === 'op' && names.includes(token.text);
