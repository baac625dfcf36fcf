import { type Expr, minus, sum } from './expr.js';
import { flip } from './intervals.js';
import { proportional } from './same-expr.js';
import { type Match, when } from './same-quantity.js';
import type { Relation, Value } from './value.js';

const differenceOf = (left: Expr, right: Expr): Expr => sum(left, minus(right));

/** `left − right` of an assignment or equation whose sides are expressions. */
function differenceIn(value: Value): Expr | null {
  if (value.kind === 'equation') return differenceOf(value.left, value.right);
  if (value.kind !== 'assignment' || value.left === null || value.value.kind !== 'quantity') return null;
  return differenceOf(value.left, value.value.expr);
}

/** Whether two equations or assignments say the same: `left − right` up to a factor. */
export function sameEquation(gold: Value, found: Value): Match | null {
  const [a, b] = [differenceIn(gold), differenceIn(found)];
  return a !== null && b !== null ? when(proportional(a, b, 'any'), 'math.equation') : null;
}

/** Whether two chains of relations say the same, read from either end. */
export function sameRelation(gold: Relation, found: Relation): Match | null {
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
