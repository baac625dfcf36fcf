import { constantValue } from './evaluate.js';
import { type Expr, minus, symbol, variables } from './expr.js';
import { attempt } from './limits.js';
import { infinity } from './same-expr.js';
import type { Interval, List, Operator, Relation, Value } from './value.js';

const INFINITY = symbol('infinity');

const ray = (operator: Operator, bound: Expr): Interval =>
  operator === '<' || operator === '<='
    ? { kind: 'interval', low: minus(INFINITY), high: bound, lowClosed: false, highClosed: operator === '<=' }
    : { kind: 'interval', low: bound, high: INFINITY, lowClosed: operator === '>=', highClosed: false };

const FLIPPED: Readonly<Record<Operator, Operator>> = {
  '<': '>',
  '>': '<',
  '<=': '>=',
  '>=': '<=',
  '!=': '!=',
};

export const flip = (operator: Operator): Operator => FLIPPED[operator];

const isConstant = (x: Expr): boolean => variables(x).length === 0;
const isVariable = (x: Expr | undefined): x is Expr & { readonly kind: 'symbol' } =>
  x?.kind === 'symbol' && !isConstant(x);

/** The intervals that a relation of one variable to constants describes; null for others. */
export function intervalsOf(relation: Relation): readonly Interval[] | null {
  const [first, second, third] = relation.members;
  const [op1, op2] = relation.operators;
  if (first === undefined || second === undefined || op1 === undefined) return null;
  if (third !== undefined) return op2 === undefined ? null : between([first, second, third], [op1, op2]);
  if (!isConstant(second)) return isConstant(first) ? oneSided(second, flip(op1), first) : null;
  return oneSided(first, op1, second);
}

function oneSided(left: Expr, operator: Operator, bound: Expr): readonly Interval[] | null {
  if (isVariable(left)) return operator === '!=' ? bothSides(bound, bound, false) : [ray(operator, bound)];
  const inner = left.kind === 'call' && left.name === 'abs' ? left.args[0] : undefined;
  if (!isVariable(inner) || operator === '!=' || !(sizeOf(bound) > 0)) return null;
  const closed = operator.endsWith('=');
  if (operator.startsWith('>')) return bothSides(minus(bound), bound, closed);
  return [{ kind: 'interval', low: minus(bound), high: bound, lowClosed: closed, highClosed: closed }];
}

const bothSides = (low: Expr, high: Expr, closed: boolean): readonly Interval[] => [
  ray(closed ? '<=' : '<', low),
  ray(closed ? '>=' : '>', high),
];

function between(
  [first, middle, last]: readonly [Expr, Expr, Expr],
  [op1, op2]: readonly [Operator, Operator],
): readonly Interval[] | null {
  if (!isVariable(middle) || !isConstant(first) || !isConstant(last)) return null;
  const rising = op1.startsWith('<') && op2.startsWith('<');
  const falling = op1.startsWith('>') && op2.startsWith('>');
  if (!rising && !falling) return null;
  const [low, high, lowOp, highOp] = rising ? [first, last, op1, op2] : [last, first, op2, op1];
  return [{ kind: 'interval', low, high, lowClosed: lowOp.endsWith('='), highClosed: highOp.endsWith('=') }];
}

/** A real number for a constant bound, infinities included; NaN when there is none. */
export function sizeOf(bound: Expr): number {
  const infinite = infinity(bound);
  if (infinite !== 0) return infinite * Number.POSITIVE_INFINITY;
  const value = attempt(() => constantValue(bound));
  return value === null || value.im !== 0 ? Number.NaN : value.re;
}

/** The variable that all relations of a value are about; null when there is none, or more. */
export function variableOf(value: Value): string | null {
  const relations = value.kind === 'list' ? value.items : [value];
  const names = new Set(
    relations.flatMap((r) => (r.kind === 'relation' ? variables(...r.members) : ['', ' '])),
  );
  return names.size === 1 ? ([...names][0] ?? null) : null;
}

/**
 * The set of numbers that a relation, several of them, or an interval describes, as a value of intervals: `x < 1 or x > 3` is
 * a union, `x > 1 and x < 3` an intersection. Null when it describes none that can be told.
 */
export function asIntervals(value: Value): readonly Value[] | null {
  if (value.kind === 'interval') return [value];
  if (value.kind === 'union') return value.parts.flatMap((part) => asIntervals(part) ?? [part]);
  if (value.kind === 'relation') return intervalsOf(value);
  if (value.kind === 'quantity' && value.expr.kind === 'symbol' && value.expr.name === 'reals')
    return [{ kind: 'interval', low: minus(INFINITY), high: INFINITY, lowClosed: false, highClosed: false }];
  return value.kind === 'list' ? ofList(value) : null;
}

function ofList(list: List): readonly Value[] | null {
  if (variableOf(list) === null) return null;
  const parts = list.items.map((item) => (item.kind === 'relation' ? intervalsOf(item) : null));
  if (parts.some((part) => part === null)) return null;
  const intervals = parts.flatMap((part) => part ?? []);
  if (list.joint === 'or') return intervals;
  if (list.joint !== 'and' || intervals.length !== 2 || parts.length !== 2) return null;
  const [a, b] = intervals;
  return a === undefined || b === undefined ? null : intersection(a, b);
}

function intersection(a: Interval, b: Interval): readonly Interval[] | null {
  const [rayUp, rayDown] = infinity(a.high) === 1 ? [a, b] : [b, a];
  const opposed = infinity(rayUp.high) === 1 && infinity(rayDown.low) === -1;
  if (!opposed || !(sizeOf(rayUp.low) < sizeOf(rayDown.high))) return null;
  return [{ ...rayUp, high: rayDown.high, highClosed: rayDown.highClosed }];
}
