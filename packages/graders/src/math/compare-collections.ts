import { asIntervals, sizeOf, variableOf } from './intervals.js';
import type { MathPolicy } from './policy.js';
import { type Match, when } from './same-quantity.js';
import { quantity, type Value } from './value.js';

type Items = readonly Value[];
/** Whether two values are the same under the policy of a comparison; recursion comes in as an argument. */
export type SameValue = (gold: Value, found: Value) => boolean;

const itemsOf = (value: Value): Items | null =>
  value.kind === 'list' || value.kind === 'set' || value.kind === 'tuple' ? value.items : null;

/** Lists, sets and tuples by their items, in order where the policy says so; null where they differ. */
export function sameCollection(
  gold: Value,
  found: Value,
  { policy, same }: { readonly policy: MathPolicy; readonly same: SameValue },
): Match | null {
  const [a, b] = [itemsOf(gold), itemsOf(found)];
  if (a === null || b === null) return tupleAgainst(gold, found, { policy, same });
  const [left, right] = [headless(a, b, gold), headless(b, a, found)];
  const ordered = gold.kind === 'tuple' || found.kind === 'tuple' || left.ordered || right.ordered;
  if (!ordered || policy.order === 'any')
    return when(sameMembers(left.items, right.items, { policy, same }), 'math.unordered');
  if (gold.kind !== 'tuple' && found.kind === 'tuple' && !left.ordered) return null;
  if (gold.kind === 'set' || found.kind === 'set') return null;
  return when(inOrder(left.items, right.items, same), 'math.ordered');
}

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

/** Equally many items, each the same as its neighbour of the other side. */
export const inOrder = (a: Items, b: Items, same: SameValue): boolean =>
  a.length === b.length && a.every((item, i) => same(item, b[i] ?? { kind: 'raw' }));

function sameMembers(
  gold: Items,
  found: Items,
  { policy, same }: { readonly policy: MathPolicy; readonly same: SameValue },
): boolean {
  const [a, b] = [distinct(gold, same), distinct(found, same)];
  if (policy.solutions === 'any' && b.length > 0) return b.every((item) => a.some((g) => same(g, item)));
  return paired(a, b, same);
}

/** Whether every item has a partner of its own. */
function paired(a: Items, b: Items, same: SameValue): boolean {
  if (a.length !== b.length) return false;
  const left = [...b];
  return a.every((item) => {
    const at = left.findIndex((other) => same(item, other));
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  });
}

/** Items without those that equal an earlier one. */
export const distinct = (items: Items, same: SameValue): Items =>
  items.filter((item, i) => !items.slice(0, i).some((other) => same(other, item)));

/** A pair as an open interval, a tuple as a vector. */
function tupleAgainst(
  gold: Value,
  found: Value,
  { policy, same }: { readonly policy: MathPolicy; readonly same: SameValue },
): Match | null {
  const [tuple, other] = gold.kind === 'tuple' ? [gold, found] : [found, gold];
  if (tuple.kind !== 'tuple') return null;
  if (other.kind === 'matrix')
    return when(isVector(other) && inOrder(tuple.items, other.rows.flat(), same), 'math.vector');
  const described = other.kind === 'relation' && (gold === other || policy.setRelation === 'both');
  const interval = described ? (asIntervals(other)?.[0] ?? other) : other;
  if (interval.kind !== 'interval' || interval.lowClosed || interval.highClosed) return null;
  if (described && !(sizeOf(interval.low) < sizeOf(interval.high))) return null;
  return when(inOrder(tuple.items, [quantity(interval.low), quantity(interval.high)], same), 'math.interval');
}

const isVector = (matrix: Value & { readonly kind: 'matrix' }): boolean =>
  matrix.rows.length === 1 || matrix.rows.every((row) => row.length === 1);

/** Intervals, unions and the relations that describe them. */
export function sameNumberSet(
  gold: Value,
  found: Value,
  { policy, same }: { readonly policy: MathPolicy; readonly same: SameValue },
): Match | null {
  if (!areComparable(gold, found, policy)) return null;
  const [a, b] = [asIntervals(gold), asIntervals(found)];
  if (a === null || b === null) return null;
  const parts = (values: Items) =>
    values.flatMap((value) => (value.kind === 'set' ? value.items : [value])).map(pairAsInterval);
  return when(
    paired(parts(a), parts(b), (x, y) => samePiece(x, y, same)),
    'math.interval',
  );
}

/** A relation against a set as the policy allows; two relations only about one and the same variable. */
function areComparable(gold: Value, found: Value, policy: MathPolicy): boolean {
  if (isRelational(gold) !== isRelational(found))
    return policy.setRelation !== 'asymmetric' || !isRelational(found);
  if (!isRelational(gold)) return true;
  const variable = variableOf(gold);
  return variable !== null && variable === variableOf(found);
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

function samePiece(a: Value, b: Value, same: SameValue): boolean {
  if (a.kind !== 'interval' || b.kind !== 'interval') return a.kind === b.kind && same(a, b);
  if (a.lowClosed !== b.lowClosed || a.highClosed !== b.highClosed) return false;
  return inOrder([quantity(a.low), quantity(a.high)], [quantity(b.low), quantity(b.high)], same);
}
