import { equals, type Rational, round } from '../rational.js';
import type { Complex, ComplexField } from './complex.js';
import { doubleField, evaluate, type Point, preciseField } from './evaluate.js';
import { exactValue } from './exact.js';
import { type Expr, hasDecimal, product, renamed, some, variables } from './expr.js';
import { attempt } from './limits.js';
import { residue, residuesFor } from './modular.js';
import { bits } from './numbers.js';
import type { DecimalPolicy } from './policy.js';

/** How two expressions were found equal; null when they weren't. */
export type SameBy = 'exact' | 'identity' | 'numeric' | 'tolerance' | null;

/**
 * Whether two expressions have the same value: rational ones exactly, those of rational functions by a random residue,
 * others at seeded points, confirmed with 384 bits. A decimal literal loosens it as `decimals` says. Undefined is never equal.
 */
export function sameExpr(a: Expr, b: Expr, decimals: DecimalPolicy): SameBy {
  const infinite = [infinity(a), infinity(b)];
  if (infinite[0] !== 0 || infinite[1] !== 0) return infinite[0] === infinite[1] ? 'identity' : null;
  const [x, y] = [exactValue(a), exactValue(b)];
  if (x !== null && y !== null && equals(x, y)) return 'exact';
  if (isLoose(a, b, decimals) && nearConstants(a, b, decimals)) return 'tolerance';
  if (x !== null && y !== null) return null;
  return sameResidue(a, b) ?? sameAtPoints(a, b);
}

/** −1, 0 or 1: whether an expression is nothing but an infinity, and of which sign. */
export function infinity(x: Expr): -1 | 0 | 1 {
  if (x.kind === 'symbol') return x.name === 'infinity' ? 1 : 0;
  if (x.kind !== 'product' || x.factors.length !== 2) return 0;
  const [factor, other] = x.factors;
  const minusOne = factor?.kind === 'number' && factor.value.num === -1n && factor.value.den === 1n;
  return minusOne && other !== undefined && infinity(other) === 1 ? -1 : 0;
}

const isLoose = (a: Expr, b: Expr, decimals: DecimalPolicy): boolean =>
  decimals.kind === 'relative' ||
  decimals.kind === 'round' ||
  (decimals.kind === 'six' && (hasDecimal(a) || hasDecimal(b)));

/** Rounded to 6 places, a small number still must agree to three digits. */
const SMALL = 1e-3;

function nearConstants(a: Expr, b: Expr, decimals: DecimalPolicy): boolean {
  const [x, y] = [constantOf(a), constantOf(b)];
  if (x === null || y === null) return false;
  const off = difference(x, y);
  const size = Math.max(Math.hypot(number(x.re), number(x.im)), Math.hypot(number(y.re), number(y.im)));
  if (decimals.kind === 'relative') return off <= decimals.relative * size;
  const places = decimals.kind === 'round' ? decimals.places : 6;
  const near = roundsAlike(x.re, y.re, places) && roundsAlike(x.im, y.im, places);
  return near && (decimals.kind === 'round' || off <= SMALL * size);
}

const FRACTION_BITS = 384n;
const number = (fixed: bigint): number => Number(fixed >> 256n) / 2 ** 128;
const difference = (x: Complex<bigint>, y: Complex<bigint>): number =>
  Math.hypot(number(x.re - y.re), number(x.im - y.im));
const constantOf = (x: Expr): Complex<bigint> | null => attempt(() => evaluate(x, preciseField, new Map()));

function roundsAlike(a: bigint, b: bigint, places: number): boolean {
  const asRational = (n: bigint): Rational => ({ num: n, den: 1n << FRACTION_BITS });
  const snap = (n: bigint) => round(asRational(n + (n < 0n ? -TINY : TINY)), places);
  const off = a > b ? a - b : b - a;
  const half = (1n << FRACTION_BITS) / (2n * 10n ** BigInt(places));
  return equals(snap(a), snap(b)) || off <= half + TINY;
}

/** What a fixed-point value may be off by from rounding. */
const TINY = 1n << 100n;

function sameResidue(a: Expr, b: Expr): SameBy | undefined {
  const names = variables(a, b);
  for (const seed of [11n, 12n]) {
    const at = residuesFor(names, seed);
    const [x, y] = [residue(a, at), residue(b, at)];
    if (x === null || y === null) return undefined;
    if (x !== y) return null;
  }
  return 'identity';
}

const NEEDED = 4;

/** The point of one try: positive and negative fractions first, then whole numbers. */
function pointOf(names: readonly string[], attemptNumber: number): Point {
  const point = new Map<string, Rational>();
  const whole = attemptNumber >= 7;
  const negatives = attemptNumber >= (whole ? 11 : 3);
  for (const [i, name] of names.entries()) {
    const draw = hash(attemptNumber * 977 + i * 131 + 7);
    const size = whole ? 2 + (draw % 8) : 31 + (draw % 289);
    const num = BigInt(negatives && draw % 2 === 1 ? -size : size);
    point.set(name, { num, den: whole ? 1n : 101n });
  }
  return point;
}

function hash(n: number): number {
  let x = Math.imul(n ^ (n >>> 16), 0x45d9f3b);
  x = Math.imul(x ^ (x >>> 16), 0x45d9f3b);
  return (x ^ (x >>> 16)) >>> 0;
}

const TRIES = 14;

function sameAtPoints(a: Expr, b: Expr): SameBy {
  const names = variables(a, b);
  if (names.length > 64) return null;
  if (names.length === 0) return agreeAt(a, b, new Map()) === true ? 'numeric' : null;
  let agreed = 0;
  for (let i = 0; i < TRIES; i++) {
    const agrees = agreeAt(a, b, pointOf(names, i));
    if (agrees === false) return null;
    if (agrees === true) agreed += 1;
  }
  return agreed >= NEEDED ? 'numeric' : null;
}

/** Whether values agree at a point; null where one side has none. Doubles say no quickly, fixed-point numbers confirm a yes. */
function agreeAt(a: Expr, b: Expr, at: Point): boolean | null {
  if (differs(a, b, at)) return false;
  const [x, y] = [valueAt(a, preciseField, at), valueAt(b, preciseField, at)];
  if (x === null || y === null) return null;
  const most = largest(x.re, x.im, y.re, y.im);
  const off = largest(x.re - y.re, x.im - y.im);
  if (most === 0n) return true;
  if (bits(most) < 220) return tinyAgrees(a, b, off);
  return off <= (most >> 150n) + TINY;
}

const largest = (...parts: readonly bigint[]): bigint =>
  parts.map((n) => (n < 0n ? -n : n)).reduce((m, n) => (n > m ? n : m));

/** Values too small to hold many digits: zero where a difference cancels, else undecided. */
const tinyAgrees = (a: Expr, b: Expr, off: bigint): boolean | null =>
  off <= TINY && (isCancelling(a) || isCancelling(b)) ? true : null;

const isCancelling = (x: Expr): boolean =>
  some(
    x,
    (part) => part.kind === 'sum' || (part.kind === 'call' && /^(?:sin|cos|tan|cot|ln|log)/.test(part.name)),
  );

const valueAt = <T>(x: Expr, field: ComplexField<T>, at: Point): Complex<T> | null =>
  attempt(() => evaluate(x, field, at));

function differs(a: Expr, b: Expr, at: Point): boolean {
  const [x, y] = [valueAt(a, doubleField, at), valueAt(b, doubleField, at)];
  if (x === null || y === null) return false;
  const size = Math.max(Math.hypot(x.re, x.im), Math.hypot(y.re, y.im));
  return Math.hypot(x.re - y.re, x.im - y.im) > 1e-3 * size + 1e-9;
}

/**
 * Whether one expression is the other by a constant factor, for `left − right` of equations and relations.
 * @param sign whether the factor must be positive
 */
export function proportional(a: Expr, b: Expr, sign: 'positive' | 'any'): boolean {
  const names = variables(a, b);
  if (names.length === 0 || names.join() !== variables(a).join() || names.join() !== variables(b).join())
    return false;
  const other = new Map(names.map((name) => [name, `${name} `]));
  const [left, right] = [product(a, renamed(b, other)), product(renamed(a, other), b)];
  if (isZero(a) || isZero(b)) return false;
  if (sameExpr(left, right, { kind: 'exact' }) === null) return false;
  return sign === 'any' || factorSign(a, b, names) > 0;
}

export const isZero = (x: Expr): boolean =>
  sameExpr(x, { kind: 'number', value: { num: 0n, den: 1n }, decimal: false }, { kind: 'exact' }) !== null;

function factorSign(a: Expr, b: Expr, names: readonly string[]): number {
  for (let i = 0; i < TRIES; i++) {
    const at = pointOf(names, i);
    const [x, y] = [valueAt(a, doubleField, at), valueAt(b, doubleField, at)];
    if (x === null || y === null || Math.abs(x.re) < 1e-9 || Math.abs(y.re) < 1e-9) continue;
    return Math.sign(x.re) * Math.sign(y.re);
  }
  return 0;
}
