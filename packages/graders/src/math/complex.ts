import { notMath } from './limits.js';
import type { Reals } from './real.js';

/** A complex number over some reals. */
export interface Complex<T> {
  readonly re: T;
  readonly im: T;
}

/** Complex arithmetic over given reals, principal values; built once for each kind of reals. */
export interface ComplexField<T> {
  readonly reals: Reals<T>;
  readonly real: (value: T) => Complex<T>;
  readonly whole: (value: number) => Complex<T>;
  readonly add: (a: Complex<T>, b: Complex<T>) => Complex<T>;
  readonly sub: (a: Complex<T>, b: Complex<T>) => Complex<T>;
  readonly mul: (a: Complex<T>, b: Complex<T>) => Complex<T>;
  readonly div: (a: Complex<T>, b: Complex<T>) => Complex<T>;
  readonly sqrt: (a: Complex<T>) => Complex<T>;
  readonly exp: (a: Complex<T>) => Complex<T>;
  readonly ln: (a: Complex<T>) => Complex<T>;
  readonly size: (a: Complex<T>) => T;
  readonly isReal: (a: Complex<T>) => boolean;
  readonly isZero: (a: Complex<T>) => boolean;
  readonly i: Complex<T>;
}

export function complexField<T>(reals: Reals<T>): ComplexField<T> {
  const zero = reals.of({ num: 0n, den: 1n });
  const half = reals.of({ num: 1n, den: 2n });
  const one = reals.of({ num: 1n, den: 1n });
  const { add, sub, mul } = reals;
  const isReal = (a: Complex<T>) => reals.sign(a.im) === 0;
  const size = (a: Complex<T>) => {
    if (isReal(a)) return reals.sign(a.re) < 0 ? sub(zero, a.re) : a.re;
    return reals.sqrt(add(mul(a.re, a.re), mul(a.im, a.im)));
  };
  const times = (a: Complex<T>, b: Complex<T>): Complex<T> =>
    isReal(a) && isReal(b)
      ? { re: mul(a.re, b.re), im: zero }
      : { re: sub(mul(a.re, b.re), mul(a.im, b.im)), im: add(mul(a.re, b.im), mul(a.im, b.re)) };
  const div = (a: Complex<T>, b: Complex<T>): Complex<T> => {
    if (isReal(b)) return { re: reals.div(a.re, b.re), im: isReal(a) ? zero : reals.div(a.im, b.re) };
    const under = add(mul(b.re, b.re), mul(b.im, b.im));
    const over = times(a, { re: b.re, im: sub(zero, b.im) });
    return { re: reals.div(over.re, under), im: reals.div(over.im, under) };
  };
  const sqrt = (a: Complex<T>): Complex<T> => {
    if (isReal(a) && reals.sign(a.re) >= 0) return { re: reals.sqrt(a.re), im: zero };
    if (isReal(a)) return { re: zero, im: reals.sqrt(sub(zero, a.re)) };
    const r = size(a);
    const im = reals.sqrt(mul(half, sub(r, a.re)));
    return { re: reals.sqrt(mul(half, add(r, a.re))), im: reals.sign(a.im) < 0 ? sub(zero, im) : im };
  };
  const exp = (a: Complex<T>): Complex<T> => {
    const scale = reals.exp(a.re);
    if (isReal(a)) return { re: scale, im: zero };
    return { re: mul(scale, reals.cos(a.im)), im: mul(scale, reals.sin(a.im)) };
  };
  const ln = (a: Complex<T>): Complex<T> => {
    if (reals.sign(a.re) === 0 && isReal(a)) return notMath('a logarithm of zero');
    if (isReal(a) && reals.sign(a.re) > 0) return { re: reals.ln(a.re), im: zero };
    return { re: reals.ln(size(a)), im: reals.atan2(a.im, a.re) };
  };
  return {
    reals,
    real: (value) => ({ re: value, im: zero }),
    whole: (value) => ({ re: reals.of({ num: BigInt(value), den: 1n }), im: zero }),
    add: (a, b) => ({ re: add(a.re, b.re), im: add(a.im, b.im) }),
    sub: (a, b) => ({ re: sub(a.re, b.re), im: sub(a.im, b.im) }),
    mul: times,
    div,
    sqrt,
    exp,
    ln,
    size,
    isReal,
    isZero: (a) => isReal(a) && reals.sign(a.re) === 0,
    i: { re: zero, im: one },
  };
}
