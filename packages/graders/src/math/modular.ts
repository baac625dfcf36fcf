import type { Expr } from './expr.js';
import { limits } from './limits.js';

/** A prime far above the degrees and factorials that are allowed. */
const PRIME = 2n ** 61n - 1n;

const positive = (n: bigint): bigint => {
  const rest = n % PRIME;
  return rest < 0n ? rest + PRIME : rest;
};

function raise(base: bigint, exponent: bigint): bigint {
  let [result, square, left] = [1n, positive(base), exponent];
  while (left > 0n) {
    if (left & 1n) result = (result * square) % PRIME;
    square = (square * square) % PRIME;
    left >>= 1n;
  }
  return result;
}

const inverse = (n: bigint): bigint | null => (n === 0n ? null : raise(n, PRIME - 2n));

/**
 * The value of a rational expression modulo a prime of 61 bits, its variables drawn at random: two expressions with the
 * same value there are the same rational function but for a chance of about degree / 2⁶¹. Null where the expression isn't
 * rational, or is undefined there.
 */
export function residue(x: Expr, at: ReadonlyMap<string, bigint>): bigint | null {
  switch (x.kind) {
    case 'number': {
      const den = inverse(positive(x.value.den));
      return den === null ? null : positive(x.value.num * den);
    }
    case 'symbol':
      return at.get(x.name) ?? null;
    case 'sum':
      return fold(x.terms, at, (a, b) => a + b);
    case 'product':
      return fold(x.factors, at, (a, b) => a * b);
    case 'quotient': {
      const [top, bottom] = [residue(x.top, at), residue(x.bottom, at)];
      const under = bottom === null ? null : inverse(bottom);
      return top === null || under === null ? null : positive(top * under);
    }
    case 'power':
      return powerResidue(x.base, x.exponent, at);
    case 'call':
      return callResidue(x.name, x.args, at);
  }
}

function fold(
  parts: readonly Expr[],
  at: ReadonlyMap<string, bigint>,
  join: (a: bigint, b: bigint) => bigint,
): bigint | null {
  let result: bigint | null = null;
  for (const part of parts) {
    const value = residue(part, at);
    if (value === null) return null;
    result = result === null ? value : positive(join(result, value));
  }
  return result;
}

/** A whole exponent, also one that is a power or factorial itself, as far as it can be written out. */
function wholeNumber(x: Expr): bigint | null {
  if (x.kind === 'number') return x.value.den === 1n ? x.value.num : null;
  if (x.kind === 'sum') return joined(x.terms, (a, b) => a + b);
  if (x.kind === 'product') return joined(x.factors, (a, b) => a * b);
  return x.kind === 'power' ? wholePower(x) : null;
}

function joined(parts: readonly Expr[], join: (a: bigint, b: bigint) => bigint): bigint | null {
  const values = parts.map(wholeNumber);
  return values.reduce((a, b) => (a === null || b === null ? null : join(a, b)));
}

function wholePower(x: Expr & { readonly kind: 'power' }): bigint | null {
  const [base, exponent] = [wholeNumber(x.base), wholeNumber(x.exponent)];
  if (base === null || exponent === null || exponent < 0n || exponent > 512n) return null;
  return base.toString(2).length * Number(exponent) > limits.integer_bits ? null : base ** exponent;
}

function powerResidue(base: Expr, exponent: Expr, at: ReadonlyMap<string, bigint>): bigint | null {
  const whole = wholeNumber(exponent);
  const value = whole === null ? null : residue(base, at);
  if (whole === null || value === null || value === 0n) return whole !== null && whole > 0n ? value : null;
  if (whole.toString(2).length > limits.integer_bits) return null;
  const raised = raise(value, whole < 0n ? -whole : whole);
  return whole < 0n ? inverse(raised) : raised;
}

function callResidue(name: string, args: readonly Expr[], at: ReadonlyMap<string, bigint>): bigint | null {
  const [first, second] = args;
  if (name === 'degrees' && first !== undefined) return residue(first, at);
  if (first?.kind !== 'number' || first.value.den !== 1n) return null;
  if (name === 'factorial') return factorial(first.value.num);
  if (name !== 'binom' || second?.kind !== 'number' || second.value.den !== 1n) return null;
  const [n, k] = [first.value.num, second.value.num];
  const [over, left, right] = [factorial(n), factorial(k), factorial(n - k)];
  const under = left === null || right === null ? null : inverse(positive(left * right));
  return over === null || under === null ? null : positive(over * under);
}

function factorial(n: bigint): bigint | null {
  if (n < 0n || n > BigInt(limits.factorial)) return null;
  let result = 1n;
  for (let i = 2n; i <= n; i++) result = (result * i) % PRIME;
  return result;
}

/** Residues for variables, the same for the same names in the same order. */
export function residuesFor(names: readonly string[], seed: bigint): ReadonlyMap<string, bigint> {
  const at = new Map<string, bigint>();
  let state = positive(seed * 6364136223846793005n + 1442695040888963407n);
  for (const name of names) {
    state = positive(state * 6364136223846793005n + 1442695040888963407n);
    at.set(name, state);
  }
  return at;
}
