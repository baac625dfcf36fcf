import { call, type Expr, integer, power, symbol } from './expr.js';
import { notMath } from './limits.js';

/** The name of a function's inverse. Throws `NotMath` where there is none. */
export const inverseOf = (name: string): string =>
  /^(?:sin|cos|tan|cot|sec|csc)$/.test(name) ? `arc${name}` : notMath(`no inverse of ${name}`);

/** A function of its arguments, with the base that stands below its name. Throws `NotMath` for a base that it can't have. */
export function applyFunction(name: string, base: Expr | null, args: readonly Expr[]): Expr {
  const [first, second] = args;
  if (name === 'log' && first !== undefined && (base !== null || second === undefined))
    return call('log', first, base ?? integer(10));
  if (name === 'lg' && first !== undefined) return call('log', first, integer(10));
  if (base !== null) notMath(`${name} has no base`);
  if (name === 'exp' && first !== undefined) return power(symbol('e'), first);
  return call(name, ...args);
}
