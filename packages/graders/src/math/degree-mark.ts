import { call, type Expr, integer, product, quotient, symbol } from './expr.js';
import { isOp, type Parser, take } from './parser-state.js';

/** Steps over a degree mark, in braces or not; whether one stood there. */
export const takeDegree = (p: Parser): boolean => {
  if (take(p, 'op', 'deg')) return true;
  const [open, mark, close] = p.tokens.slice(p.at, p.at + 3);
  const braced = open?.text === '{' && isOp(mark, 'deg') && close?.text === '}';
  if (braced) p.at += 3;
  return braced;
};

/** A value in degrees: inside the argument of a function as radians. */
export const degrees = (p: Parser, value: Expr): Expr =>
  p.angles > 0 ? product(value, symbol('pi'), quotient(integer(1), integer(180))) : call('degrees', value);
