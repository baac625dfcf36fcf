import { type Expr, hasDecimal, integer, product, quotient, renamed, variables } from './expr.js';
import type { MathPolicy } from './policy.js';
import { lettersAsUnit } from './quantity.js';
import { sameExpr } from './same-expr.js';
import { dimensionOf, type Unit } from './units.js';
import type { Quantity } from './value.js';

/** How two answers were found equal: rule id, and flags to record. */
export interface Match {
  readonly rule: string;
  readonly flags: readonly string[];
}

const by = (rule: string, ...flags: readonly string[]): Match => ({ rule, flags });

/** A match by a rule without flags, where something holds. */
export const when = (holds: boolean, rule: string): Match | null => (holds ? by(rule) : null);

/** Whether two quantities are the same under a policy; null when not. */
export function sameQuantity(gold: Quantity, found: Quantity, policy: MathPolicy): Match | null {
  const [a, b] = unitsRead(gold, found);
  if (policy.fractions === 'reduced-only' && b.unreduced) return null;
  if (policy.degrees === 'require' && isAngle(a) !== isAngle(b)) return null;
  if (policy.units === 'ignore') return sameValue(a, b, policy);
  if (policy.units === 'require' && hasUnit(a) && !hasUnit(b)) return null;
  return a.units.length > 0 && b.units.length > 0 ? sameMeasure(a, b, policy) : mixedMarks(a, b, policy);
}

/** Where one side alone has a unit, a letter behind the other's number may be one. */
function unitsRead(a: Quantity, b: Quantity): readonly [Quantity, Quantity] {
  if (a.units.length > 0 && b.units.length === 0) return [a, lettersAsUnit(b) ?? b];
  if (b.units.length > 0 && a.units.length === 0) return [lettersAsUnit(a) ?? a, b];
  return [a, b];
}

const hasUnit = (q: Quantity): boolean => q.units.length > 0 || q.degrees || q.percent;
const isAngle = (q: Quantity): boolean => q.degrees || q.units.some((unit) => unit.name === 'deg');

/** Neither or one side has a unit: degrees against radians and percent against a unit conflict. */
function mixedMarks(a: Quantity, b: Quantity, policy: MathPolicy): Match | null {
  const [unit] = [...a.units, ...b.units];
  const marked = a.units.length > 0 ? b : a;
  if (unit === undefined) return sameValue(a, b, policy);
  if (marked.degrees && unit.name === 'rad') return sameDegrees(a, b, policy);
  if (marked.degrees || marked.percent) return null;
  return sameValue(a, b, policy);
}

const HALF_TURN: Expr = quotient({ kind: 'symbol', name: 'pi' }, integer(180));

function sameDegrees(a: Quantity, b: Quantity, policy: MathPolicy): Match | null {
  const radians = (q: Quantity) => (q.degrees ? product(q.expr, HALF_TURN) : q.expr);
  return sameExpr(radians(a), radians(b), policy.decimals) === null ? null : by('math.unit');
}

function sameMeasure(a: Quantity, b: Quantity, policy: MathPolicy): Match | null {
  if (a.units.length !== b.units.length) return null;
  const pairs = a.units.map((unit, i) => [unit, b.units[i]] as const);
  const alike = pairs.every(([x, y]) => y !== undefined && dimensionOf(x) === dimensionOf(y));
  if (!alike) return null;
  if (pairs.every(([x, y]) => y !== undefined && x.name === y.name)) return sameValue(a, b, policy);
  const converted = (q: Quantity) => product(q.expr, ...q.units.map(factorOf));
  return sameExpr(converted(a), converted(b), policy.decimals) === null ? null : by('math.unit');
}

const factorOf = (unit: Unit): Expr => ({
  kind: 'power',
  base: unit.factor,
  exponent: integer(unit.power),
});

function sameValue(a: Quantity, b: Quantity, policy: MathPolicy): Match | null {
  const plain = sameUnderPolicy(a.expr, b.expr, policy);
  if (a.percent === b.percent) return plain;
  if (plain !== null && policy.percent === 'sign-optional')
    return { ...plain, flags: [...plain.flags, 'percent-sign'] };
  const applied = (q: Quantity) => (q.percent ? quotient(q.expr, integer(100)) : q.expr);
  return sameUnderPolicy(applied(a), applied(b), policy);
}

function sameUnderPolicy(a: Expr, b: Expr, policy: MathPolicy): Match | null {
  const other = policy.variables === 'rename' ? renamedLike(a, b) : b;
  const same = sameExpr(a, other, policy.decimals);
  if (same === null) return null;
  return same === 'tolerance' ? by('math.tolerance', 'tolerance-used') : by(`math.${same}`);
}

/** `b` with its variables named as those of `a` at the same places in the alphabet. */
function renamedLike(a: Expr, b: Expr): Expr {
  const [names, others] = [variables(a), variables(b)];
  if (names.length !== others.length) return b;
  return renamed(b, new Map(others.map((name, i) => [name, names[i] ?? name])));
}

/** Whether a decimal literal stands in a quantity. */
export const isDecimal = (q: Quantity): boolean => hasDecimal(q.expr);
