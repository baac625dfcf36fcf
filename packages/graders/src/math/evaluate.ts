import type { Rational } from '../rational.js';
import { type Complex, type ComplexField, complexField } from './complex.js';
import { exactValue } from './exact.js';
import type { Expr } from './expr.js';
import { notMath } from './limits.js';
import { doubles, precise } from './real.js';

export const doubleField = complexField(doubles);
export const preciseField = complexField(precise);

/** Values for variables. */
export type Point = ReadonlyMap<string, Rational>;

/** The value of an expression at a point. Throws `NotMath` where there is none, or none that can be held. */
export function evaluate<T>(x: Expr, f: ComplexField<T>, at: Point): Complex<T> {
  switch (x.kind) {
    case 'number':
      return f.real(f.reals.of(x.value));
    case 'symbol':
      return symbolValue(x.name, f, at);
    case 'sum':
      return x.terms.map((term) => evaluate(term, f, at)).reduce(f.add);
    case 'product':
      return x.factors.map((factor) => evaluate(factor, f, at)).reduce(f.mul);
    case 'quotient':
      return f.div(evaluate(x.top, f, at), evaluate(x.bottom, f, at));
    case 'power':
      return powerValue(x.base, x.exponent, f, at);
    case 'call':
      return callValue(x.name, x.args, f, at);
  }
}

function symbolValue<T>(name: string, f: ComplexField<T>, at: Point): Complex<T> {
  const value = at.get(name);
  if (value !== undefined) return f.real(f.reals.of(value));
  if (name === 'pi') return f.real(f.reals.pi);
  if (name === 'e') return f.exp(f.whole(1));
  return name === 'i' ? f.i : notMath(`${name} has no value`);
}

const at0: Point = new Map();

function powerValue<T>(base: Expr, exponent: Expr, f: ComplexField<T>, at: Point): Complex<T> {
  const exact = exactValue(exponent);
  const value = evaluate(base, f, at);
  if (exact !== null) return rationalPower(value, exact, f);
  const raised = evaluate(exponent, f, at);
  if (base.kind === 'symbol' && base.name === 'e') return f.exp(raised);
  if (f.isZero(value)) return f.reals.sign(raised.re) > 0 ? value : notMath('0 to no positive power');
  return f.exp(f.mul(raised, f.ln(value)));
}

function rationalPower<T>(base: Complex<T>, exponent: Rational, f: ComplexField<T>): Complex<T> {
  if (exponent.den === 1n) return wholePower(base, exponent.num, f);
  if (exponent.den === 2n) return wholePower(f.sqrt(base), exponent.num, f);
  if (f.isZero(base)) return exponent.num > 0n ? base : notMath('0 to a negative power');
  const negative = f.isReal(base) && f.reals.sign(base.re) < 0 && exponent.den % 2n === 1n;
  const positive = negative ? f.sub(f.whole(0), base) : base;
  const raised = f.exp(f.mul(f.real(f.reals.of(exponent)), f.ln(positive)));
  return negative && exponent.num % 2n !== 0n ? f.sub(f.whole(0), raised) : raised;
}

function wholePower<T>(base: Complex<T>, exponent: bigint, f: ComplexField<T>): Complex<T> {
  const size = exponent < 0n ? -exponent : exponent;
  if (size > 1_000_000n) notMath('the power is too large');
  let [result, square, left] = [f.whole(1), base, Number(size)];
  while (left > 0) {
    if (left % 2 === 1) result = f.mul(result, square);
    left = Math.floor(left / 2);
    if (left > 0) square = f.mul(square, square);
  }
  return exponent < 0n ? f.div(f.whole(1), result) : result;
}

function callValue<T>(name: string, args: readonly Expr[], f: ComplexField<T>, at: Point): Complex<T> {
  const [first, second] = args;
  const simple = functions(f)[name];
  if (first === undefined) return notMath(`${name} of nothing`);
  if (simple !== undefined && args.length === 1) return simple(evaluate(first, f, at));
  if (name === 'factorial') return factorialValue(evaluate(first, f, at), f);
  if (second === undefined || args.length !== 2) return notMath(`${name} is not known`);
  if (name === 'root') return rootValue(evaluate(first, f, at), exactValue(second), f);
  if (name === 'log') return f.div(f.ln(evaluate(first, f, at)), f.ln(evaluate(second, f, at)));
  if (name !== 'min' && name !== 'max') return notMath(`${name} is not known`);
  const [a, b] = [evaluate(first, f, at), evaluate(second, f, at)];
  const order = f.reals.sign(realOf(f.sub(a, b), f));
  return (name === 'min') === order < 0 ? a : b;
}

const realOf = <T>(value: Complex<T>, f: ComplexField<T>): T =>
  f.isReal(value) ? value.re : notMath('no real number');

function rootValue<T>(value: Complex<T>, index: Rational | null, f: ComplexField<T>): Complex<T> {
  if (index === null || index.num <= 0n || index.den !== 1n) return notMath('no whole index of a root');
  return rationalPower(value, { num: 1n, den: index.num }, f);
}

function factorialValue<T>(value: Complex<T>, f: ComplexField<T>): Complex<T> {
  const n = f.reals.toNumber(realOf(value, f));
  if (!Number.isInteger(n) || n < 0 || n > 170) return notMath('no factorial');
  let result = f.whole(1);
  for (let i = 2; i <= n; i++) result = f.mul(result, f.whole(i));
  return result;
}

type Simple<T> = Readonly<Record<string, (z: Complex<T>) => Complex<T>>>;
const tables = new WeakMap<object, unknown>();

/** The functions of one argument, all by exp, ln and roots. */
function functions<T>(f: ComplexField<T>): Simple<T> {
  const cached = tables.get(f);
  if (cached !== undefined) return cached as Simple<T>;
  const made = makeFunctions(f);
  tables.set(f, made);
  return made;
}

function makeFunctions<T>(f: ComplexField<T>): Simple<T> {
  const [one, two] = [f.whole(1), f.whole(2)];
  const negative = (z: Complex<T>) => f.sub(f.whole(0), z);
  const inverse = (z: Complex<T>) => f.div(one, z);
  const square = (z: Complex<T>) => f.mul(z, z);
  const sinh = (z: Complex<T>) => f.div(f.sub(f.exp(z), f.exp(negative(z))), two);
  const cosh = (z: Complex<T>) => f.div(f.add(f.exp(z), f.exp(negative(z))), two);
  const sin = (z: Complex<T>) => (f.isReal(z) ? f.real(f.reals.sin(z.re)) : f.div(sinh(f.mul(f.i, z)), f.i));
  const cos = (z: Complex<T>) => (f.isReal(z) ? f.real(f.reals.cos(z.re)) : cosh(f.mul(f.i, z)));
  const arcsin = (z: Complex<T>) =>
    negative(f.mul(f.i, f.ln(f.add(f.mul(f.i, z), f.sqrt(f.sub(one, square(z)))))));
  const arctan = (z: Complex<T>) =>
    f.isReal(z)
      ? f.real(f.reals.atan2(z.re, one.re))
      : f.div(f.ln(f.div(f.add(one, f.mul(f.i, z)), f.sub(one, f.mul(f.i, z)))), f.mul(two, f.i));
  const arccos = (z: Complex<T>) => f.sub(f.div(f.real(f.reals.pi), two), arcsin(z));
  const floor = (z: Complex<T>) => f.real(f.reals.floor(realOf(z, f)));
  const tanh = (z: Complex<T>) => f.div(sinh(z), cosh(z));
  const tan = (z: Complex<T>) => f.div(sin(z), cos(z));
  return {
    sin,
    cos,
    tan,
    cot: (z) => f.div(cos(z), sin(z)),
    sec: (z) => inverse(cos(z)),
    csc: (z) => inverse(sin(z)),
    sinh,
    cosh,
    tanh,
    coth: (z) => inverse(tanh(z)),
    sech: (z) => inverse(cosh(z)),
    csch: (z) => inverse(sinh(z)),
    arcsin,
    arccos,
    arctan,
    arccot: (z) => f.sub(f.div(f.real(f.reals.pi), two), arctan(z)),
    arcsec: (z) => arccos(inverse(z)),
    arccsc: (z) => arcsin(inverse(z)),
    ln: f.ln,
    sqrt: f.sqrt,
    degrees: (z) => z,
    abs: (z) => f.real(f.size(z)),
    floor,
    ceil: (z) => negative(floor(negative(z))),
  };
}

/** The value of an expression without variables as doubles, or a `NotMath`. */
export const constantValue = (x: Expr): Complex<number> => evaluate(x, doubleField, at0);
