import { type Expr, minus, sum } from './expr.js';
import { asIntervals, flip, variableOf } from './intervals.js';
import { foldText } from './parse-value.js';
import type { MathPolicy } from './policy.js';
import { proportional, sameExpr } from './same-expr.js';
import { isDecimal, type Match, sameQuantity } from './same-quantity.js';
import { type Answer, type Assignment, quantity, type Relation, type Value } from './value.js';

const by = (rule: string, ...flags: readonly string[]): Match => ({ rule, flags });
const when = (holds: boolean, rule: string): Match | null => (holds ? by(rule) : null);

/** Whether a found answer is the gold one under a policy, and by what rule; null when it isn't. */
export function compareAnswers(gold: Answer, found: Answer, policy: MathPolicy): Match | null {
  const exempt =
    policy.fractions === 'reduced-only' && gold.value.kind === 'quantity' && gold.value.unreduced;
  if (gold.canonical !== '' && gold.canonical === found.canonical && !exempt) return by('math.text');
  return compareValues(gold.value, found.value, policy);
}

type Kind = Value['kind'];
type Pair = `${Kind}:${Kind}`;

/** Gold against found. What isn't told apart by its kinds alone is tried in turn. */
export function compareValues(gold: Value, found: Value, policy: MathPolicy): Match | null {
  if (gold.kind === 'raw' || found.kind === 'raw') return null;
  return (
    sameKind(gold, found, policy) ??
    unwrapped(gold, found, policy) ??
    collections(gold, found, policy) ??
    asSets(gold, found, policy) ??
    special(gold, found, policy)
  );
}

function sameKind(gold: Value, found: Value, policy: MathPolicy): Match | null {
  if (gold.kind === 'quantity' && found.kind === 'quantity') return sameQuantity(gold, found, policy);
  if (gold.kind === 'text' && found.kind === 'text')
    return when(gold.text === found.text && gold.text !== '', 'math.word');
  if (gold.kind === 'assignment' && found.kind === 'assignment') return sameAssignment(gold, found, policy);
  if (gold.kind === 'relation' && found.kind === 'relation') return sameRelation(gold, found);
  if (gold.kind === 'matrix' && found.kind === 'matrix') return sameMatrix(gold, found, policy);
  if (gold.kind === 'based' && found.kind === 'based')
    return when(gold.base === found.base && digitsOf(gold.digits) === digitsOf(found.digits), 'math.base');
  if (gold.kind === 'ratio' && found.kind === 'ratio') return sameRatio(gold, found);
  if (gold.kind === 'equation' && found.kind === 'equation')
    return when(
      proportional(differenceOf(gold.left, gold.right), differenceOf(found.left, found.right), 'any'),
      'math.equation',
    );
  return null;
}

const digitsOf = (digits: string): string => digits.replace(/^0+(?=.)/, '');
const differenceOf = (left: Expr, right: Expr): Expr => sum(left, minus(right));

/** `left − right` of an assignment or equation whose sides are expressions. */
function differenceIn(value: Value): Expr | null {
  if (value.kind === 'equation') return differenceOf(value.left, value.right);
  if (value.kind !== 'assignment' || value.left === null || value.value.kind !== 'quantity') return null;
  return differenceOf(value.left, value.value.expr);
}

function sameAssignment(gold: Assignment, found: Assignment, policy: MathPolicy): Match | null {
  if (gold.head === found.head || foldText(gold.head) === foldText(found.head))
    return compareValues(gold.value, found.value, policy);
  return sameEquation(gold, found);
}

function sameEquation(gold: Value, found: Value): Match | null {
  const [a, b] = [differenceIn(gold), differenceIn(found)];
  return a !== null && b !== null ? when(proportional(a, b, 'any'), 'math.equation') : null;
}

function sameRelation(gold: Relation, found: Relation): Match | null {
  if (gold.operators.length !== found.operators.length) return null;
  const reversed: Relation = {
    kind: 'relation',
    members: found.members.toReversed(),
    operators: found.operators.map(flip).toReversed(),
  };
  const same = [found, reversed].some((other) => gold.operators.every((_, i) => samePart(gold, other, i)));
  return when(same, 'math.relation');
}

/** Whether the i-th parts say the same: `left − right` up to a positive factor, or the other way round. */
function samePart(a: Relation, b: Relation, i: number): boolean {
  const [x, y] = [partOf(a, i), partOf(b, i)];
  if (x === null || y === null || x.operator !== y.operator) return false;
  return proportional(x.difference, y.difference, x.operator === '!=' ? 'any' : 'positive');
}

function partOf(relation: Relation, i: number) {
  const [left, right, operator] = [relation.members[i], relation.members[i + 1], relation.operators[i]];
  if (left === undefined || right === undefined || operator === undefined) return null;
  return operator.startsWith('<')
    ? { difference: differenceOf(right, left), operator: flip(operator) }
    : { difference: differenceOf(left, right), operator };
}

type Matrix = Value & { readonly kind: 'matrix' };

function sameMatrix(gold: Matrix, found: Matrix, policy: MathPolicy): Match | null {
  if (gold.fence !== found.fence || gold.rows.length !== found.rows.length) return null;
  const same = gold.rows.every((row, i) => inOrder(row, found.rows[i] ?? [], policy));
  return when(same, 'math.matrix');
}

type Ratio = Value & { readonly kind: 'ratio' };

/** Equal parts; or equal quotients of two parts that can't be a time of day. */
function sameRatio(gold: Ratio, found: Ratio): Match | null {
  if (gold.text === found.text) return by('math.ratio');
  if (gold.parts.length !== found.parts.length || isTime(gold) || isTime(found)) return null;
  const [a, b] = [gold.parts[0], found.parts[0]];
  if (a === undefined || b === undefined) return null;
  const exact = { kind: 'exact' } as const;
  const crossed = gold.parts.every((part, i) => {
    const other = found.parts[i];
    return other !== undefined && sameExpr(cross(part, b), cross(other, a), exact) !== null;
  });
  return when(
    crossed && sameExpr(a, zero, exact) === null && sameExpr(b, zero, exact) === null,
    'math.ratio',
  );
}

const zero: Expr = { kind: 'number', value: { num: 0n, den: 1n }, decimal: false };
const cross = (a: Expr, b: Expr): Expr => ({ kind: 'product', factors: [a, b] });
const isTime = ({ parts }: Ratio): boolean => {
  const [hour, minute] = parts.map((part) => (part.kind === 'number' ? Number(part.value.num) : 99));
  return parts.length === 2 && (hour ?? 99) <= 24 && (minute ?? 99) >= 10 && (minute ?? 99) < 60;
};

/** An assignment of a name is its value, one element of a list or set is that element. */
function unwrapped(gold: Value, found: Value, policy: MathPolicy): Match | null {
  const [a, b] = [single(gold), single(found)];
  if (a !== null || b !== null) return compareValues(a ?? gold, b ?? found, policy);
  if (gold.kind === 'assignment' && found.kind === 'equation') return sameEquation(gold, found);
  if (gold.kind === 'equation' && found.kind === 'assignment') return sameEquation(gold, found);
  if (policy.equationVsValue === 'never') return null;
  if (gold.kind === 'assignment' && found.kind !== 'assignment' && isNoHead(found))
    return compareValues(gold.value, found, policy);
  if (found.kind === 'assignment' && gold.kind !== 'assignment' && isNoHead(gold))
    return compareValues(gold, found.value, policy);
  return null;
}

/** Lists may hold assignments of their own, which `collections` looks at. */
const isNoHead = (value: Value): boolean =>
  value.kind !== 'list' || !value.items.some((item) => item.kind === 'assignment');

const single = (value: Value): Value | null =>
  (value.kind === 'list' || value.kind === 'set') && value.items.length === 1
    ? (value.items[0] ?? null)
    : null;

type Items = readonly Value[];

function collections(gold: Value, found: Value, policy: MathPolicy): Match | null {
  const [a, b] = [itemsOf(gold), itemsOf(found)];
  if (a === null || b === null) return tupleAgainst(gold, found, policy);
  const [left, right] = [headless(a, b, gold), headless(b, a, found)];
  const ordered = gold.kind === 'tuple' || found.kind === 'tuple' || left.ordered || right.ordered;
  if (ordered && policy.order === 'typed') {
    if (gold.kind !== 'tuple' && found.kind === 'tuple' && !left.ordered) return null;
    if (gold.kind === 'set' || found.kind === 'set') return null;
    return when(inOrder(left.items, right.items, policy), 'math.ordered');
  }
  return when(sameMembers(left.items, right.items, policy), 'math.unordered');
}

const itemsOf = (value: Value): Items | null =>
  value.kind === 'list' || value.kind === 'set' || value.kind === 'tuple' ? value.items : null;

/**
 * Items for a comparison. Where one side alone consists of assignments, they stand for their values: of one name any order,
 * of several in the alphabet's order. `x = 1, 2` labels the whole list.
 */
function headless(
  items: Items,
  others: Items,
  whole: Value,
): { readonly items: Items; readonly ordered: boolean } {
  const heads = items.flatMap((item) => (item.kind === 'assignment' ? [item] : []));
  if (heads.length === 0 || others.some((item) => item.kind === 'assignment'))
    return { items, ordered: false };
  const names = new Set(heads.map((item) => item.head));
  const values = items.map((item) => (item.kind === 'assignment' ? item.value : item));
  const labelled = heads.length === 1 && items[0]?.kind === 'assignment' && whole.kind === 'list';
  if (labelled || names.size === 1) return { items: values, ordered: false };
  if (heads.length !== items.length || names.size !== heads.length) return { items, ordered: false };
  const sorted = heads.toSorted((a, b) => (a.head < b.head ? -1 : 1));
  return { items: sorted.map((item) => item.value), ordered: true };
}

const inOrder = (a: Items, b: Items, policy: MathPolicy): boolean =>
  a.length === b.length &&
  a.every((item, i) => compareValues(item, b[i] ?? { kind: 'raw' }, policy) !== null);

function sameMembers(gold: Items, found: Items, policy: MathPolicy): boolean {
  const [a, b] = [distinct(gold, policy), distinct(found, policy)];
  if (policy.solutions === 'any' && b.length > 0)
    return b.every((item) => a.some((g) => compareValues(g, item, policy) !== null));
  if (a.length !== b.length) return false;
  const left = [...b];
  return a.every((item) => {
    const at = left.findIndex((other) => compareValues(item, other, policy) !== null);
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  });
}

const distinct = (items: Items, policy: MathPolicy): Items =>
  items.filter((item, i) => !items.slice(0, i).some((other) => compareValues(other, item, policy) !== null));

/** A pair as an open interval, a tuple as a vector. */
function tupleAgainst(gold: Value, found: Value, policy: MathPolicy): Match | null {
  const [tuple, other] = gold.kind === 'tuple' ? [gold, found] : [found, gold];
  if (tuple.kind !== 'tuple') return null;
  if (other.kind === 'matrix')
    return when(isVector(other) && inOrder(tuple.items, other.rows.flat(), policy), 'math.vector');
  const interval = other.kind === 'relation' && gold === other ? (asIntervals(other)?.[0] ?? other) : other;
  if (interval.kind !== 'interval' || interval.lowClosed || interval.highClosed) return null;
  return when(
    inOrder(tuple.items, [quantity(interval.low), quantity(interval.high)], policy),
    'math.interval',
  );
}

const isVector = (matrix: Matrix): boolean =>
  matrix.rows.length === 1 || matrix.rows.every((row) => row.length === 1);

/** Intervals, unions and the relations that describe them. */
function asSets(gold: Value, found: Value, policy: MathPolicy): Match | null {
  const described = isRelational(gold) !== isRelational(found);
  if (described && policy.setRelation === 'asymmetric' && isRelational(found)) return null;
  if (
    !described &&
    isRelational(gold) &&
    (variableOf(gold) === null || variableOf(gold) !== variableOf(found))
  )
    return null;
  const [a, b] = [asIntervals(gold), asIntervals(found)];
  if (a === null || b === null) return null;
  const parts = (values: Items) =>
    values.flatMap((value) => (value.kind === 'set' ? value.items : [value])).map(pairAsInterval);
  return when(matched(parts(a), parts(b), policy), 'math.interval');
}

const isRelational = (value: Value): boolean =>
  value.kind === 'relation' ||
  (value.kind === 'list' && value.items.every((item) => item.kind === 'relation'));

/** In a union, a pair is an open interval. */
function pairAsInterval(value: Value): Value {
  const [low, high] = value.kind === 'tuple' && value.items.length === 2 ? value.items : [];
  return low?.kind === 'quantity' && high?.kind === 'quantity'
    ? { kind: 'interval', low: low.expr, high: high.expr, lowClosed: false, highClosed: false }
    : value;
}

function matched(a: Items, b: Items, policy: MathPolicy): boolean {
  if (a.length !== b.length) return false;
  const left = [...b];
  return a.every((item) => {
    const at = left.findIndex((other) => samePiece(item, other, policy));
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  });
}

function samePiece(a: Value, b: Value, policy: MathPolicy): boolean {
  if (a.kind !== 'interval' || b.kind !== 'interval')
    return a.kind === b.kind && compareValues(a, b, policy) !== null;
  if (a.lowClosed !== b.lowClosed || a.highClosed !== b.highClosed) return false;
  return inOrder([quantity(a.low), quantity(a.high)], [quantity(b.low), quantity(b.high)], policy);
}

type Rule = (a: Value, b: Value, policy: MathPolicy, swapped: boolean) => Match | null;

/** Pairs of kinds with a rule of their own, in one order. */
const rules: Partial<Record<Pair, Rule>> = {
  'quantity:text': (a, b) => textAgainst(a, b),
  'quantity:ratio': (a, b) => ratioAgainst(a, b),
  'quantity:based': (a, b, policy, swapped) => baseAgainst(a, b, policy, swapped),
  'quantity:list': (a, b) => decimalComma(a, b),
  'quantity:set': (a, b) => when(isEmptySet(a) && b.kind === 'set' && b.items.length === 0, 'math.set'),
};

function special(gold: Value, found: Value, policy: MathPolicy): Match | null {
  const straight = rules[`${gold.kind}:${found.kind}`];
  if (straight !== undefined) return straight(gold, found, policy, false);
  return rules[`${found.kind}:${gold.kind}`]?.(found, gold, policy, true) ?? null;
}

const isEmptySet = (value: Value): boolean =>
  value.kind === 'quantity' && value.expr.kind === 'symbol' && value.expr.name === 'emptyset';

/** A letter and the same letter as text: an option's label, or a name. */
function textAgainst(a: Value, b: Value): Match | null {
  if (a.kind !== 'quantity' || b.kind !== 'text' || a.units.length > 0) return null;
  if (a.expr.kind === 'symbol')
    return when(foldText(a.expr.name.replace(/^text /, '')) === b.text, 'math.word');
  const letters = a.expr.kind === 'product' ? a.expr.factors : [];
  if (letters.length < 2 || !letters.every((x) => x.kind === 'symbol')) return null;
  return when(
    letters
      .map((x) => (x.kind === 'symbol' ? x.name : ''))
      .join('')
      .toLowerCase() === b.text,
    'math.word',
  );
}

function ratioAgainst(a: Value, b: Value): Match | null {
  if (a.kind !== 'quantity' || b.kind !== 'ratio' || b.parts.length !== 2 || isTime(b)) return null;
  const [top, bottom] = b.parts;
  if (top === undefined || bottom === undefined || a.units.length > 0 || a.percent) return null;
  return when(sameExpr(a.expr, { kind: 'quotient', top, bottom }, { kind: 'exact' }) !== null, 'math.ratio');
}

/** Only a prediction may leave the base out, and only where the policy says so. */
function baseAgainst(a: Value, b: Value, policy: MathPolicy, goldIsBased: boolean): Match | null {
  if (a.kind !== 'quantity' || b.kind !== 'based' || policy.base === 'strict' || !goldIsBased) return null;
  const digits = a.expr.kind === 'number' && a.expr.value.den === 1n ? `${a.expr.value.num}` : null;
  return when(digits !== null && digits === digitsOf(b.digits) && a.units.length === 0, 'math.base');
}

/** `3,14` beside a decimal number is 3.14. */
function decimalComma(a: Value, b: Value): Match | null {
  if (a.kind !== 'quantity' || b.kind !== 'list' || b.items.length !== 2 || !isDecimal(a)) return null;
  const [whole, places] = b.items.map((item) =>
    item.kind === 'quantity' && item.expr.kind === 'number' && item.expr.value.den === 1n
      ? `${item.expr.value.num}`
      : '',
  );
  if (!whole || !places || a.expr.kind !== 'number' || b.joint !== ',' || places.startsWith('-')) return null;
  const { num, den } = a.expr.value;
  const size = 10n ** BigInt(places.length);
  return when(BigInt(`${whole}${places}`) * den === num * size, 'math.exact');
}
