import { add, type Rational } from '../rational.js';
import type { Expr } from './expr.js';
import { limits } from './limits.js';
import { bits, gcd, reduced } from './numbers.js';

/** The exact value of an expression that is a rational number within the limits; null otherwise. */
export function exactValue(x: Expr): Rational | null {
  switch (x.kind) {
    case 'number':
      return x.value;
    case 'symbol':
      return null;
    case 'sum':
      return fold(x.terms, add);
    case 'product':
      return fold(x.factors, (a, b) => ({ num: a.num * b.num, den: a.den * b.den }));
    case 'quotient':
      return exactQuotient(exactValue(x.top), exactValue(x.bottom));
    case 'power':
      return exactPower(exactValue(x.base), exactValue(x.exponent));
    case 'call':
      return exactCall(x.name, x.args.map(exactValue));
  }
}

const small = (r: Rational): Rational | null => {
  const lowest = reduced(r.num, r.den);
  return bits(lowest.num) > limits.integer_bits || bits(lowest.den) > limits.integer_bits ? null : lowest;
};

function fold(parts: readonly Expr[], join: (a: Rational, b: Rational) => Rational): Rational | null {
  let result: Rational | null = null;
  for (const part of parts) {
    const value = exactValue(part);
    if (value === null) return null;
    result = result === null ? value : small(join(result, value));
    if (result === null) return null;
  }
  return result;
}

function exactQuotient(top: Rational | null, bottom: Rational | null): Rational | null {
  if (top === null || bottom === null || bottom.num === 0n) return null;
  const sign = bottom.num < 0n ? -1n : 1n;
  return small({ num: sign * top.num * bottom.den, den: sign * bottom.num * top.den });
}

function exactPower(base: Rational | null, exponent: Rational | null): Rational | null {
  if (base === null || exponent === null) return null;
  if (exponent.den !== 1n) return exactRoot(base, exponent);
  if (base.num === 0n) return exponent.num > 0n ? base : null;
  const size = magnitude(exponent.num);
  if (base.den === 1n && magnitude(base.num) === 1n)
    return { num: size % 2n === 0n ? 1n : base.num, den: 1n };
  if (isBeyond(base, size)) return null;
  const raised = { num: base.num ** size, den: base.den ** size };
  return exponent.num < 0n ? exactQuotient({ num: 1n, den: 1n }, raised) : small(raised);
}

const magnitude = (n: bigint): bigint => (n < 0n ? -n : n);

/** Whether a power would be longer than numbers may be. */
const isBeyond = (base: Rational, exponent: bigint): boolean =>
  exponent > BigInt(limits.exponent) ||
  Math.max(bits(base.num), bits(base.den)) * Number(exponent) > limits.integer_bits + 4 * Number(exponent);

/** `a^(p/q)` where the root comes out; negative bases under odd roots are real. */
function exactRoot(base: Rational, exponent: Rational): Rational | null {
  if (exponent.den > 64n || (base.num < 0n && exponent.den % 2n === 0n)) return null;
  const degree = Number(exponent.den);
  const negative = base.num < 0n;
  const num = integerRoot(negative ? -base.num : base.num, degree);
  const den = integerRoot(base.den, degree);
  if (num === null || den === null) return null;
  return exactPower({ num: negative ? -num : num, den }, { num: exponent.num, den: 1n });
}

/** The whole `degree`-th root of `n` ≥ 0, or null when there is none. Newton's steps fall strictly. */
export function integerRoot(n: bigint, degree: number): bigint | null {
  if (n < 2n) return n;
  const d = BigInt(degree);
  let x = 1n << BigInt(Math.ceil(bits(n) / degree) + 1);
  for (;;) {
    const next = ((d - 1n) * x + n / x ** (d - 1n)) / d;
    if (next >= x) break;
    x = next;
  }
  return x ** d === n ? x : null;
}

type Values = readonly (Rational | null)[];

function exactCall(name: string, args: Values): Rational | null {
  const [a, b] = args;
  if (a == null) return null;
  switch (name) {
    case 'abs':
      return { num: a.num < 0n ? -a.num : a.num, den: a.den };
    case 'degrees':
      return a;
    case 'sqrt':
      return exactPower(a, { num: 1n, den: 2n });
    case 'root':
      return b == null || b.num <= 0n || b.den !== 1n ? null : exactPower(a, { num: 1n, den: b.num });
    case 'floor':
      return { num: floor(a), den: 1n };
    case 'ceil':
      return { num: -floor({ num: -a.num, den: a.den }), den: 1n };
    case 'factorial':
      return exactFactorial(a);
    case 'binom':
      return b == null ? null : exactBinomial(a, b);
    default:
      return exactOfMany(name, args);
  }
}

const floor = (r: Rational): bigint => {
  const whole = r.num / r.den;
  return r.num % r.den < 0n ? whole - 1n : whole;
};

function exactFactorial(a: Rational): Rational | null {
  if (a.den !== 1n || a.num < 0n || a.num > 500n) return null;
  let product = 1n;
  for (let i = 2n; i <= a.num; i++) product *= i;
  return small({ num: product, den: 1n });
}

function exactBinomial(n: Rational, k: Rational): Rational | null {
  if (n.den !== 1n || k.den !== 1n || k.num < 0n || n.num < k.num || n.num > BigInt(limits.factorial))
    return null;
  const steps = k.num * 2n > n.num ? n.num - k.num : k.num;
  if (steps > 2000n) return null;
  let result = 1n;
  for (let i = 1n; i <= steps; i++) result = (result * (n.num - steps + i)) / i;
  return small({ num: result, den: 1n });
}

function exactOfMany(name: string, args: Values): Rational | null {
  const values = args.filter((v) => v !== null);
  if (values.length < args.length) return null;
  const less = (a: Rational, b: Rational) => a.num * b.den < b.num * a.den;
  const whole = values.every((v) => v.den === 1n);
  if (name === 'min') return values.reduce((a, b) => (less(b, a) ? b : a));
  if (name === 'max') return values.reduce((a, b) => (less(a, b) ? b : a));
  if (name === 'gcd' && whole) return values.reduce((a, b) => ({ num: gcd(a.num, b.num), den: 1n }));
  return null;
}
