/** An exact number: `num / den`, `den` positive. Not reduced; compare with the functions here. */
export interface Rational {
  readonly num: bigint;
  readonly den: bigint;
}

export const rational = (num: bigint, den: bigint): Rational =>
  den < 0n ? { num: -num, den: -den } : { num, den };

export const equals = (a: Rational, b: Rational) => a.num * b.den === b.num * a.den;

export const negate = (a: Rational): Rational => ({ num: -a.num, den: a.den });

export const add = (a: Rational, b: Rational): Rational => ({
  num: a.num * b.den + b.num * a.den,
  den: a.den * b.den,
});

/** `a × 10^exponent`. */
export const scale = (a: Rational, exponent: number): Rational =>
  exponent >= 0
    ? { num: a.num * 10n ** BigInt(exponent), den: a.den }
    : { num: a.num, den: a.den * 10n ** BigInt(-exponent) };

/** Rounded to `decimals` places, halves away from zero. */
export function round(a: Rational, decimals: number): Rational {
  const { num, den } = scale(a, decimals);
  const magnitude = num < 0n ? -num : num;
  const rounded = (2n * magnitude + den) / (2n * den);
  return scale({ num: num < 0n ? -rounded : rounded, den: 1n }, -decimals);
}

/** Whether |a − b| ≤ tolerance × |b|. */
export function within(a: Rational, b: Rational, tolerance: Rational): boolean {
  const off = add(a, negate(b));
  const size = (n: bigint) => (n < 0n ? -n : n);
  return size(off.num) * b.den * tolerance.den <= tolerance.num * size(b.num) * off.den;
}

/** Canonical text in lowest terms: `7`, `-1/2`. */
export function toText(a: Rational): string {
  const divisor = gcd(a.num < 0n ? -a.num : a.num, a.den);
  const [num, den] = [a.num / divisor, a.den / divisor];
  return den === 1n ? `${num}` : `${num}/${den}`;
}

function gcd(a: bigint, b: bigint): bigint {
  let [x, y] = [a, b];
  while (y !== 0n) [x, y] = [y, x % y];
  return x === 0n ? 1n : x;
}
