import { type Rational, rational } from '../rational.js';
import { type Expr, integer, power, product } from './expr.js';
import { limits, notMath } from './limits.js';

export const bits = (n: bigint): number => {
  const hex = (n < 0n ? -n : n).toString(16).length;
  return hex * 4;
};

export function gcd(a: bigint, b: bigint): bigint {
  let [x, y] = [a < 0n ? -a : a, b < 0n ? -b : b];
  while (y !== 0n) [x, y] = [y, x % y];
  return x === 0n ? 1n : x;
}

/** In lowest terms, denominator positive. */
export function reduced(num: bigint, den: bigint): Rational {
  if (den === 1n) return { num, den };
  const divisor = gcd(num, den);
  return rational(num / divisor, den / divisor);
}

/** The expression of a number literal of `readDigits`. */
export function numberOf(literal: string): Expr {
  const [mantissa = '', exponent] = literal.split('e');
  const value = mantissa.endsWith(')') ? repeating(mantissa) : decimal(mantissa);
  if (exponent === undefined) return value;
  const size = Number(exponent);
  if (Math.abs(size) > limits.exponent) notMath('the exponent is too large');
  return product(value, power(integer(10), integer(size)));
}

function decimal(text: string): Expr {
  const [whole = '', places = ''] = text.split('.');
  const value = reduced(BigInt(`0${whole}${places}`), 10n ** BigInt(places.length));
  return { kind: 'number', value, decimal: text.includes('.') };
}

/** `0.1(6)` is 1/6. */
function repeating(text: string): Expr {
  const [whole = '', rest = ''] = text.split('.');
  const [fixed = '', repeat = ''] = rest.replace(')', '').split('(');
  const all = BigInt(`0${whole}${fixed}${repeat}`) - BigInt(`0${whole}${fixed}`);
  const den = (10n ** BigInt(repeat.length) - 1n) * 10n ** BigInt(fixed.length);
  return { kind: 'number', value: reduced(all, den), decimal: false };
}
