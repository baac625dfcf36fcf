import type { Rational } from '../rational.js';
import { notMath } from './limits.js';

/** Real numbers of some precision. Operations that have no value throw `NotMath`. */
export interface Reals<T> {
  readonly of: (value: Rational) => T;
  readonly add: (a: T, b: T) => T;
  readonly sub: (a: T, b: T) => T;
  readonly mul: (a: T, b: T) => T;
  readonly div: (a: T, b: T) => T;
  /** Of a number ≥ 0. */
  readonly sqrt: (a: T) => T;
  readonly exp: (a: T) => T;
  /** Of a number > 0. */
  readonly ln: (a: T) => T;
  readonly sin: (a: T) => T;
  readonly cos: (a: T) => T;
  readonly atan2: (y: T, x: T) => T;
  readonly floor: (a: T) => T;
  readonly pi: T;
  readonly sign: (a: T) => number;
  readonly toNumber: (a: T) => number;
}

const finite = (value: number): number => (Number.isFinite(value) ? value : notMath('no finite value'));

/** A ratio of large integers as a double. */
export function toDouble(value: Rational): number {
  const direct = Number(value.num) / Number(value.den);
  if (Number.isFinite(direct) && (direct !== 0 || value.num === 0n)) return direct;
  return finite(Number((value.num << 1100n) / value.den) / 2 ** 550 / 2 ** 550);
}

/** Doubles. */
export const doubles: Reals<number> = {
  of: toDouble,
  add: (a, b) => finite(a + b),
  sub: (a, b) => finite(a - b),
  mul: (a, b) => finite(a * b),
  div: (a, b) => (b === 0 ? notMath('division by zero') : finite(a / b)),
  sqrt: Math.sqrt,
  exp: (a) => finite(Math.exp(a)),
  ln: Math.log,
  sin: Math.sin,
  cos: Math.cos,
  atan2: Math.atan2,
  floor: Math.floor,
  pi: Math.PI,
  sign: Math.sign,
  toNumber: (a) => a,
};

const BITS = 384n;
const ONE = 1n << BITS;
const MOST = 1n << (BITS + 1100n);

const bounded = (n: bigint): bigint => (n < MOST && n > -MOST ? n : notMath('no bounded value'));
const mul = (a: bigint, b: bigint): bigint => bounded((a * b) >> BITS);
const div = (a: bigint, b: bigint): bigint =>
  b === 0n ? notMath('division by zero') : bounded((a << BITS) / b);

function squareRoot(n: bigint): bigint {
  if (n <= 0n) return 0n;
  let x = 1n << BigInt((n.toString(16).length * 4) / 2 + 1);
  for (;;) {
    const next = (x + n / x) >> 1n;
    if (next >= x) return x;
    x = next;
  }
}

/** Sum of terms each of which is made of the one before; ends when a term is 0, or after 1,000. */
function series(first: bigint, next: (term: bigint, index: bigint) => bigint): bigint {
  let [total, term] = [first, first];
  for (let index = 1n; index < 1000n && term !== 0n; index++) {
    term = next(term, index);
    total += term;
  }
  return total;
}

/** atanh or atan of |x| well below 1, by the power series. */
function arctangent(x: bigint, sign: 1n | -1n): bigint {
  const square = (x * x) >> BITS;
  let [total, power] = [x, x];
  for (let k = 3n; k < 3000n && power !== 0n && power !== -1n; k += 2n) {
    power = sign * ((power * square) >> BITS);
    total += power / k;
  }
  return total;
}

const PI = 16n * arctangent(ONE / 5n, -1n) - 4n * arctangent(ONE / 239n, -1n);
const LN2 = 2n * arctangent(ONE / 3n, 1n);

function exponential(a: bigint): bigint {
  const twos = a / LN2;
  if (twos > 1100n || twos < -500n) notMath('an exponential beyond bounds');
  const rest = (a - twos * LN2) >> 8n;
  let result = series(ONE, (term, k) => ((term * rest) >> BITS) / k);
  for (let i = 0; i < 8; i++) result = (result * result) >> BITS;
  return twos >= 0n ? bounded(result << twos) : result >> -twos;
}

function logarithm(a: bigint): bigint {
  const twos = BigInt(a.toString(2).length) - BITS;
  let mantissa = twos >= 0n ? a >> twos : a << -twos;
  for (let i = 0; i < 4; i++) mantissa = squareRoot(mantissa << BITS);
  const part = 16n * 2n * arctangent(div(mantissa - ONE, mantissa + ONE), 1n);
  return part + twos * LN2;
}

function sine(a: bigint): bigint {
  const turn = 2n * PI;
  const rest = a - (a / turn) * turn;
  const square = (rest * rest) >> BITS;
  return series(rest, (term, k) => -(((term * square) >> BITS) / (2n * k * (2n * k + 1n))));
}

function angle(y: bigint, x: bigint): bigint {
  if (x === 0n && y === 0n) return 0n;
  const size = squareRoot(x * x + y * y);
  if (x < 0n && (y < 0n ? -y : y) * 8n < -x) {
    const rest = arctangentOf(div(y, x));
    return y < 0n ? rest - PI : rest + PI;
  }
  return 2n * arctangentOf(div(y, size + x));
}

/** atan of |x| ≤ 16: halved until the series converges fast. */
function arctangentOf(x: bigint): bigint {
  let value = x;
  for (let i = 0; i < 6; i++) value = div(value, ONE + squareRoot((ONE << BITS) + value * value));
  return arctangent(value, -1n) << 6n;
}

/** Fixed-point numbers of 384 fractional bits: enough to tell apart what doubles call equal. */
export const precise: Reals<bigint> = {
  of: (value) => bounded((value.num << BITS) / value.den),
  add: (a, b) => bounded(a + b),
  sub: (a, b) => bounded(a - b),
  mul,
  div,
  sqrt: (a) => squareRoot(a << BITS),
  exp: exponential,
  ln: (a) => (a <= 0n ? notMath('a logarithm of nothing') : logarithm(a)),
  sin: sine,
  cos: (a) => sine(a + PI / 2n),
  atan2: angle,
  floor: (a) => (a >> BITS) << BITS,
  pi: PI,
  sign: (a) => (a > 0n ? 1 : a < 0n ? -1 : 0),
  toNumber: (a) => Number(a >> 320n) / 2 ** 64,
};
