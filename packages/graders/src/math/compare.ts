import { distinct, inOrder, sameCollection, sameNumberSet } from './compare-collections.js';
import { ratioAgainst, sameRatio } from './compare-ratios.js';
import { sameEquation, sameRelation } from './compare-relations.js';
import { foldText } from './parse-value.js';
import type { MathPolicy } from './policy.js';
import { isDecimal, type Match, sameQuantity, when } from './same-quantity.js';
import type { Answer, Assignment, Value } from './value.js';

/** Whether a found answer is the gold one under a policy, and by what rule; null when it isn't. */
export function compareAnswers(gold: Answer, found: Answer, policy: MathPolicy): Match | null {
  const exempt =
    policy.fractions === 'reduced-only' && gold.value.kind === 'quantity' && gold.value.unreduced;
  if (gold.canonical !== '' && gold.canonical === found.canonical && !exempt) return when(true, 'math.text');
  return compareValues(gold.value, found.value, policy);
}

type Kind = Value['kind'];
type Pair = `${Kind}:${Kind}`;

/** Gold against found. What isn't told apart by its kinds alone is tried in turn. */
export function compareValues(gold: Value, found: Value, policy: MathPolicy): Match | null {
  if (gold.kind === 'raw' || found.kind === 'raw') return null;
  const tools = { policy, same: (a: Value, b: Value) => compareValues(a, b, policy) !== null };
  return (
    sameKind(gold, found, policy) ??
    unwrapped(gold, found, policy) ??
    sameCollection(gold, found, tools) ??
    sameNumberSet(gold, found, tools) ??
    special(gold, found, policy)
  );
}

type OfKind<K extends Kind> = Value & { readonly kind: K };
type SameKind = { readonly [K in Kind]?: (a: OfKind<K>, b: OfKind<K>, policy: MathPolicy) => Match | null };

/** Two values of one kind. */
const alike: SameKind = {
  quantity: sameQuantity,
  text: (a, b) => when(a.text === b.text && a.text !== '', 'math.word'),
  assignment: sameAssignment,
  relation: sameRelation,
  matrix: sameMatrix,
  based: (a, b) => when(a.base === b.base && digitsOf(a.digits) === digitsOf(b.digits), 'math.base'),
  ratio: sameRatio,
  equation: sameEquation,
};

function sameKind<K extends Kind>(gold: OfKind<K>, found: Value, policy: MathPolicy): Match | null {
  const rule = alike[gold.kind as K];
  return gold.kind === found.kind && rule !== undefined ? rule(gold, found as OfKind<K>, policy) : null;
}

const digitsOf = (digits: string): string => digits.replace(/^0+(?=.)/, '');

function sameAssignment(gold: Assignment, found: Assignment, policy: MathPolicy): Match | null {
  if (gold.head === found.head || foldText(gold.head) === foldText(found.head))
    return compareValues(gold.value, found.value, policy);
  return sameEquation(gold, found);
}

function sameMatrix(gold: OfKind<'matrix'>, found: OfKind<'matrix'>, policy: MathPolicy): Match | null {
  if (gold.fence !== found.fence || gold.rows.length !== found.rows.length) return null;
  const same = (a: Value, b: Value) => compareValues(a, b, policy) !== null;
  return when(
    gold.rows.every((row, i) => inOrder(row, found.rows[i] ?? [], same)),
    'math.matrix',
  );
}

/** An assignment of a name is its value, one element of a list or set is that element. */
function unwrapped(gold: Value, found: Value, policy: MathPolicy): Match | null {
  const [a, b] = [single(gold, policy), single(found, policy)];
  if (a !== null || b !== null) return compareValues(a ?? gold, b ?? found, policy);
  if (gold.kind === 'assignment' && found.kind === 'equation') return sameEquation(gold, found);
  if (gold.kind === 'equation' && found.kind === 'assignment') return sameEquation(gold, found);
  return policy.equationVsValue === 'never' ? null : withoutHead(gold, found, policy);
}

function withoutHead(gold: Value, found: Value, policy: MathPolicy): Match | null {
  if (gold.kind === found.kind) return null;
  if (gold.kind === 'assignment') return isNoHead(found) ? compareValues(gold.value, found, policy) : null;
  if (found.kind !== 'assignment' || !isNoHead(gold)) return null;
  return compareValues(gold, found.value, policy);
}

/** Lists may hold assignments of their own, which comparing them as lists looks at. */
const isNoHead = (value: Value): boolean =>
  value.kind !== 'list' || !value.items.some((item) => item.kind === 'assignment');

/** The only element of a list or set, or the one that all of a short list are: the same number in two writings. */
function single(value: Value, policy: MathPolicy): Value | null {
  if (value.kind !== 'list' && value.kind !== 'set') return null;
  const [first, ...others] = value.items;
  if (first === undefined || others.length === 0) return first ?? null;
  if (value.kind !== 'list' || others.length > 3 || value.items.some((item) => item.kind !== 'quantity'))
    return null;
  return distinct(value.items, (a, b) => compareValues(a, b, policy) !== null).length === 1 ? first : null;
}

type Rule = (a: Value, b: Value, policy: MathPolicy, swapped: boolean) => Match | null;

/** Pairs of kinds with a rule of their own, in one order. */
const rules: Partial<Record<Pair, Rule>> = {
  'quantity:text': (a, b) => textAgainst(a, b),
  'quantity:ratio': (a, b) => ratioAgainst(a, b),
  'quantity:based': baseAgainst,
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
  const word = letters.map((x) => (x.kind === 'symbol' ? x.name : '')).join('');
  return when(word.toLowerCase() === b.text, 'math.word');
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
  const [whole, places] = b.items.map(digitsOfInteger);
  if (!whole || !places || a.expr.kind !== 'number' || b.joint !== ',' || places.startsWith('-')) return null;
  const { num, den } = a.expr.value;
  const size = 10n ** BigInt(places.length);
  return when(BigInt(`${whole}${places}`) * den === num * size, 'math.exact');
}

const digitsOfInteger = (value: Value): string =>
  value.kind === 'quantity' && value.expr.kind === 'number' && value.expr.value.den === 1n
    ? `${value.expr.value.num}`
    : '';
