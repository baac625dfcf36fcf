import type { Rational } from '../rational.js';

/** An expression. Trees are bounded by `limits.nodes` and `limits.depth`. */
export type Expr =
  | { readonly kind: 'number'; readonly value: Rational; readonly decimal: boolean }
  | { readonly kind: 'symbol'; readonly name: string }
  | { readonly kind: 'sum'; readonly terms: readonly Expr[] }
  | { readonly kind: 'product'; readonly factors: readonly Expr[] }
  | { readonly kind: 'quotient'; readonly top: Expr; readonly bottom: Expr }
  | { readonly kind: 'power'; readonly base: Expr; readonly exponent: Expr }
  | { readonly kind: 'call'; readonly name: string; readonly args: readonly Expr[] };

/** Names that are constants and no variables. */
export const constants: ReadonlySet<string> = new Set(['pi', 'e', 'i', 'infinity']);

export const integer = (value: bigint | number): Expr => ({
  kind: 'number',
  value: { num: BigInt(value), den: 1n },
  decimal: false,
});

export const symbol = (name: string): Expr => ({ kind: 'symbol', name });

export const sum = (...terms: readonly Expr[]): Expr =>
  terms.length === 1 && terms[0] !== undefined ? terms[0] : { kind: 'sum', terms };

export const product = (...factors: readonly Expr[]): Expr =>
  factors.length === 1 && factors[0] !== undefined ? factors[0] : { kind: 'product', factors };

export const quotient = (top: Expr, bottom: Expr): Expr => ({ kind: 'quotient', top, bottom });

export const power = (base: Expr, exponent: Expr): Expr => ({ kind: 'power', base, exponent });

export const call = (name: string, ...args: readonly Expr[]): Expr => ({ kind: 'call', name, args });

/** `-x`; a number takes the sign itself. */
export const minus = (x: Expr): Expr =>
  x.kind === 'number' ? { ...x, value: { num: -x.value.num, den: x.value.den } } : product(integer(-1), x);

/** The expressions directly below one. */
export function children(x: Expr): readonly Expr[] {
  switch (x.kind) {
    case 'number':
    case 'symbol':
      return [];
    case 'sum':
      return x.terms;
    case 'product':
      return x.factors;
    case 'quotient':
      return [x.top, x.bottom];
    case 'power':
      return [x.base, x.exponent];
    case 'call':
      return x.args;
  }
}

/** Whether any part of `x`, itself included, is as asked. */
export const some = (x: Expr, test: (part: Expr) => boolean): boolean =>
  test(x) || children(x).some((part) => some(part, test));

/** Variables of an expression, sorted. */
export function variables(...all: readonly Expr[]): readonly string[] {
  const names = new Set<string>();
  const visit = (x: Expr): void => {
    if (x.kind === 'symbol' && !constants.has(x.name)) names.add(x.name);
    for (const part of children(x)) visit(part);
  };
  for (const x of all) visit(x);
  return [...names].sort();
}

/** Whether a decimal literal stands anywhere in it. */
export const hasDecimal = (x: Expr): boolean => some(x, (part) => part.kind === 'number' && part.decimal);

/** The same tree with other names, for those that `names` holds. */
export function renamed(x: Expr, names: ReadonlyMap<string, string>): Expr {
  const down = (part: Expr) => renamed(part, names);
  switch (x.kind) {
    case 'number':
      return x;
    case 'symbol':
      return symbol(names.get(x.name) ?? x.name);
    case 'sum':
      return { kind: 'sum', terms: x.terms.map(down) };
    case 'product':
      return { kind: 'product', factors: x.factors.map(down) };
    case 'quotient':
      return quotient(down(x.top), down(x.bottom));
    case 'power':
      return power(down(x.base), down(x.exponent));
    case 'call':
      return call(x.name, ...x.args.map(down));
  }
}

/** A text that is the same for the same tree, whatever the order of terms and factors. */
export function exprText(x: Expr): string {
  switch (x.kind) {
    case 'number':
      return `${x.value.num}/${x.value.den}`;
    case 'symbol':
      return x.name;
    case 'sum':
      return `(+ ${x.terms.map(exprText).sort().join(' ')})`;
    case 'product':
      return `(* ${x.factors.map(exprText).sort().join(' ')})`;
    default:
      return `(${x.kind === 'call' ? x.name : x.kind} ${children(x).map(exprText).join(' ')})`;
  }
}
