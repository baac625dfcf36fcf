import { PerwattError, type Rng } from '@perwatt/core';
import { integer, pick } from './random.js';

export type Operator = '+' | '-' | '×';

/** An arithmetic expression in infix order, and its exact value. */
export interface Expression {
  readonly text: string;
  readonly value: bigint;
}

/** An inclusive range of operands in one pair of parentheses. */
type Pair = readonly [first: number, last: number];

const OPERATORS: readonly Operator[] = [...repeat('+', 4), ...repeat('-', 3), ...repeat('×', 6)];
const MAX_TRIES = 2000;
const LIMIT = 10n ** 16n;

function repeat(operator: Operator, count: number): Operator[] {
  return Array.from({ length: count }, () => operator);
}

/**
 * A long expression: 4 to 11 operands of 3 to 7 digits; + − × with weights 4, 3, 6; at times a pair of parentheses around a
 * sum beside a product, and a wide one over 3 to 5 operands; at most two pairs, never overlapping. Drawn again until the
 * value has at most 16 digits.
 */
export function longExpression(rng: Rng): Expression {
  for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
    const expression = drawLong(rng);
    if (expression.value < LIMIT && expression.value > -LIMIT) return expression;
  }
  throw new PerwattError('INPUT_INVALID', `no expression with a value below 10^16 in ${MAX_TRIES} tries`);
}

function drawLong(rng: Rng): Expression {
  const operands = Array.from({ length: integer(rng, 4, 11) }, () => {
    const digits = integer(rng, 3, 7);
    return BigInt(integer(rng, 10 ** (digits - 1), 10 ** digits - 1));
  });
  const operators = operands.slice(1).map(() => pick(rng, OPERATORS));
  const pairs: Pair[] = [];
  const [localChance, wideChance] = [rng(), rng()];
  if (localChance < 0.55) addPair(rng, pairs, localPairs(operators));
  if (wideChance < 0.22) addPair(rng, pairs, widePairs(operators));
  return expressionOf(operands, operators, pairs);
}

function addPair(rng: Rng, pairs: Pair[], candidates: readonly Pair[]): void {
  const free = candidates.filter(([first, last]) => pairs.every(([f, l]) => last < f || first > l));
  if (free.length > 0) pairs.push(pick(rng, free));
}

/** Around a + or − that has a × beside it. */
const localPairs = (operators: readonly Operator[]): Pair[] =>
  operators.flatMap((operator, i): Pair[] =>
    operator !== '×' && (operators[i - 1] === '×' || operators[i + 1] === '×') ? [[i, i + 1]] : [],
  );

/** Around 3 to 5 operands, not all, with both a × and a + or − between them. */
function widePairs(operators: readonly Operator[]): Pair[] {
  const pairs: Pair[] = [];
  for (let first = 0; first < operators.length; first++)
    for (let size = 2; size <= 4 && first + size <= operators.length; size++) {
      const within = operators.slice(first, first + size);
      if (size < operators.length && within.includes('×') && within.some((o) => o !== '×'))
        pairs.push([first, first + size]);
    }
  return pairs;
}

/** Writes an expression and computes it. Pairs must not overlap. */
export function expressionOf(
  operands: readonly bigint[],
  operators: readonly Operator[],
  pairs: readonly Pair[] = [],
): Expression {
  const parts = operands.map((operand, i) => {
    const open = pairs.some(([first]) => first === i) ? '(' : '';
    const close = pairs.some(([, last]) => last === i) ? ')' : '';
    const operator = operators[i];
    return `${open}${operand}${close}${operator === undefined ? '' : ` ${operator} `}`;
  });
  return { text: parts.join(''), value: exactValue(operands, operators, pairs) };
}

function exactValue(
  operands: readonly bigint[],
  operators: readonly Operator[],
  pairs: readonly Pair[],
): bigint {
  const [pair] = pairs;
  if (pair === undefined) return flatValue(operands, operators);
  const [first, last] = pair;
  const inner = flatValue(operands.slice(first, last + 1), operators.slice(first, last));
  const shift = last - first;
  const rest = pairs.slice(1).map(([f, l]): Pair => (f > last ? [f - shift, l - shift] : [f, l]));
  return exactValue(
    [...operands.slice(0, first), inner, ...operands.slice(last + 1)],
    [...operators.slice(0, first), ...operators.slice(last)],
    rest,
  );
}

/** Products first, then sums from the left. */
function flatValue(operands: readonly bigint[], operators: readonly Operator[]): bigint {
  let sum = 0n;
  let term = operands[0] ?? 0n;
  operators.forEach((operator, i) => {
    const next = operands[i + 1] ?? 0n;
    if (operator === '×') term *= next;
    else {
      sum += term;
      term = operator === '+' ? next : -next;
    }
  });
  return sum + term;
}
