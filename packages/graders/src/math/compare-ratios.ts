import type { Expr } from './expr.js';
import { sameExpr } from './same-expr.js';
import { type Match, when } from './same-quantity.js';
import type { Value } from './value.js';

type Ratio = Value & { readonly kind: 'ratio' };

const exact = { kind: 'exact' } as const;
const same = (a: Expr, b: Expr): boolean => sameExpr(a, b, exact) !== null;
const zero: Expr = { kind: 'number', value: { num: 0n, den: 1n }, decimal: false };
const cross = (a: Expr, b: Expr): Expr => ({ kind: 'product', factors: [a, b] });

/** Equal parts; or equal quotients of parts that can't be a time of day. */
export function sameRatio(gold: Ratio, found: Ratio): Match | null {
  if (gold.text === found.text) return when(true, 'math.ratio');
  if (gold.parts.length !== found.parts.length || isTime(gold) || isTime(found)) return null;
  const [a, b] = [gold.parts[0], found.parts[0]];
  if (a === undefined || b === undefined || same(a, zero) || same(b, zero)) return null;
  const crossed = gold.parts.every((part, i) => {
    const other = found.parts[i];
    return other !== undefined && same(cross(part, b), cross(other, a));
  });
  return when(crossed, 'math.ratio');
}

/** A number as a ratio of two parts. */
export function ratioAgainst(a: Value, b: Value): Match | null {
  if (a.kind !== 'quantity' || b.kind !== 'ratio' || b.parts.length !== 2 || isTime(b)) return null;
  const [top, bottom] = b.parts;
  if (top === undefined || bottom === undefined || a.units.length > 0 || a.percent) return null;
  return when(same(a.expr, { kind: 'quotient', top, bottom }), 'math.ratio');
}

const isTime = ({ parts }: Ratio): boolean => {
  const [hour, minute] = parts.map((part) => (part.kind === 'number' ? Number(part.value.num) : 99));
  return parts.length === 2 && (hour ?? 99) <= 24 && (minute ?? 99) >= 10 && (minute ?? 99) < 60;
};
