import { notMath } from './limits.js';
import { expect, type Parser, peek } from './parser-state.js';
import type { Token } from './tokens.js';

/** A subscript as text: `_1`, `_{12}`, `_{\text{max}}`. */
export function subscriptText(tokens: readonly Token[]): string {
  return tokens.map((token) => token.text).join('');
}

/** Steps over a subscript; its text. */
export function subscript(p: Parser): string {
  expect(p, 'op', '_');
  const token = peek(p) ?? notMath('a subscript is missing');
  p.at += 1;
  if (token.text !== '{') return token.text;
  const start = p.at;
  for (let depth = 1; depth > 0; p.at++) {
    const next = peek(p) ?? notMath('a subscript has no end');
    if (next.text === '{') depth += 1;
    else if (next.text === '}') depth -= 1;
  }
  return subscriptText(p.tokens.slice(start, p.at - 1));
}

/** The letters behind `\angle` and the like, as one name. Throws `NotMath` when there are none. */
export function letterName(p: Parser, command: string): string {
  let letters = '';
  for (let token = peek(p); token?.kind === 'sym'; token = peek(p)) {
    letters += token.text;
    p.at += 1;
  }
  return letters === '' ? notMath(`\\${command} of nothing`) : letters;
}
