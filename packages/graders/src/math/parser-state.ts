import { limits, notMath } from './limits.js';
import type { Token } from './tokens.js';

/** Where a parser stands in its tokens, and what it has used of the limits. */
export interface Parser {
  readonly tokens: Token[];
  at: number;
  nodes: number;
  depth: number;
  /** Open `|…|`. */
  bars: number;
  /** Inside the argument of a function, where a degree mark is π/180. */
  angles: number;
}

/** The next token. */
export const peek = (p: Parser): Token | undefined => p.tokens[p.at];
/** Whether a token is one of these operators. */
export const isOp = (token: Token | undefined, ...names: readonly string[]): boolean =>
  token?.kind === 'op' && names.includes(token.text);

/** Steps over the next token where it is this one. */
export function take(p: Parser, kind: Token['kind'], text: string): boolean {
  const token = peek(p);
  if (token?.kind !== kind || token.text !== text) return false;
  p.at += 1;
  return true;
}

/** Steps over this token. Throws `NotMath` where another one stands. */
export function expect(p: Parser, kind: Token['kind'], text: string): void {
  if (!take(p, kind, text)) notMath(`no ${text}`);
}

/** Counts a part of the expression against the limit. */
export function count(p: Parser): void {
  p.nodes += 1;
  if (p.nodes > limits.nodes) notMath('the expression has too many parts');
}

/** Does work one level deeper, within the limit. */
export function deeper<T>(p: Parser, work: () => T): T {
  p.depth += 1;
  if (p.depth > limits.depth) notMath('the expression is nested too deep');
  const result = work();
  p.depth -= 1;
  return result;
}

const FACTORS: ReadonlySet<Token['kind']> = new Set(['num', 'sym', 'fn', 'cmd', 'open', 'text']);

/** Whether a token can begin a factor that stands behind another one. */
export const startsFactor = (p: Parser, token: Token | undefined): boolean =>
  token !== undefined && (FACTORS.has(token.kind) || (isOp(token, '|') && p.bars === 0));
