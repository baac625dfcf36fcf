import { type Meter, stop } from './meter.js';
import type { BinaryOperator, CompareOperator } from './syntax.js';
import { isList, MAX_NUMBER, type ProgramValue } from './value.js';

/** Whether a value counts as true: numbers other than 0, lists that aren't empty. */
export const truthOf = (value: ProgramValue): boolean =>
  isList(value) ? value.length > 0 : Number(value) !== 0;

/** A value as a number; stops the program when it is a list. */
export function numberOf(value: ProgramValue, operator: string): number {
  if (isList(value)) throw stop(`"${operator}" does not take a list`);
  return Number(value);
}

/** A result within bounds, without a negative zero. */
export function bounded(value: number): number {
  if (Math.abs(value) > MAX_NUMBER || Number.isNaN(value)) throw stop('a number beyond 10^15 came up');
  return value + 0;
}

/** Arithmetic as Python has it: floor division, remainders with the sign of the divisor, lists joined and repeated. */
export function arithmetic(
  operator: BinaryOperator,
  [left, right]: readonly [ProgramValue, ProgramValue],
  meter: Meter,
): ProgramValue {
  if (isList(left) && isList(right) && operator === '+') {
    meter.spend(left.length + right.length);
    return [...left, ...right];
  }
  if (operator === '*' && isList(left) !== isList(right)) return repeated(left, right, meter);
  return calculated(operator, [numberOf(left, operator), numberOf(right, operator)], meter);
}

function calculated(operator: BinaryOperator, [a, b]: readonly [number, number], meter: Meter): number {
  if (b === 0 && (operator === '//' || operator === '%')) throw stop('it divides by zero');
  switch (operator) {
    case '+':
      return bounded(a + b);
    case '-':
      return bounded(a - b);
    case '*':
      return bounded(a * b);
    case '//':
      return bounded((a - modulo(a, b)) / b);
    case '%':
      return modulo(a, b);
    case '**':
      return power(a, b, meter);
  }
}

function modulo(a: number, b: number): number {
  const rest = a % b;
  return (rest !== 0 && rest < 0 !== b < 0 ? rest + b : rest) + 0;
}

function repeated(left: ProgramValue, right: ProgramValue, meter: Meter): ProgramValue {
  const [list, times] = isList(left)
    ? [left, numberOf(right, '*')]
    : [isList(right) ? right : [], numberOf(left, '*')];
  const count = Math.max(0, times);
  meter.spend(list.length * count);
  return Array.from({ length: count }, () => list).flat();
}

function power(base: number, exponent: number, meter: Meter): number {
  if (exponent < 0) throw stop('"**" takes no negative exponent');
  // Of −1, 0 and 1 only the parity of a large exponent matters.
  const times = Math.abs(base) <= 1 && exponent > 2 ? 2 - (exponent % 2) : exponent;
  let product = 1;
  for (let i = 0; i < times; i++) {
    meter.spend(1);
    product = bounded(product * base);
  }
  return product;
}

/** Whether a comparison holds; lists are compared element by element. */
export function comparison(
  operator: CompareOperator,
  [left, right]: readonly [ProgramValue, ProgramValue],
  meter: Meter,
): boolean {
  switch (operator) {
    case '==':
      return isEqual(left, right, meter);
    case '!=':
      return !isEqual(left, right, meter);
    case 'in':
    case 'not in': {
      if (!isList(right)) throw stop('"in" wants a list on its right');
      return right.some((each) => isEqual(left, each, meter)) === (operator === 'in');
    }
    case '<':
      return order(left, right, meter) < 0;
    case '<=':
      return order(left, right, meter) <= 0;
    case '>':
      return order(left, right, meter) > 0;
    case '>=':
      return order(left, right, meter) >= 0;
  }
}

function isEqual(a: ProgramValue, b: ProgramValue, meter: Meter): boolean {
  meter.spend(1);
  if (isList(a) && isList(b))
    return a.length === b.length && a.every((each, i) => isEqual(each, b[i] ?? 0, meter));
  return !isList(a) && !isList(b) && Number(a) === Number(b);
}

/** Negative, zero or positive as `a` comes before `b`, with it or after it. */
export function order(a: ProgramValue, b: ProgramValue, meter: Meter): number {
  meter.spend(1);
  if (isList(a) !== isList(b)) throw stop('a list and a number have no order');
  if (!isList(a) || !isList(b)) return Number(a) - Number(b);
  for (const [i, each] of a.entries()) {
    const other = b[i];
    if (other === undefined) return 1;
    if (!isEqual(each, other, meter)) return order(each, other, meter);
  }
  return a.length - b.length;
}

interface Bounds {
  readonly from: number | null;
  readonly to: number | null;
  readonly step: number;
}

/** A slice as Python takes it. */
export function sliceOf(list: readonly ProgramValue[], bounds: Bounds, meter: Meter): ProgramValue[] {
  const { step } = bounds;
  if (step === 0) throw stop('a slice has no step of 0');
  const [start, end] = placesOf(list.length, bounds);
  const values: ProgramValue[] = [];
  for (let i = start; step > 0 ? i < end : i > end; i += step) {
    meter.spend(1);
    const value = list[i];
    if (value !== undefined) values.push(value);
  }
  return values;
}

/** First place of a slice and the one behind its last. */
function placesOf(length: number, { from, to, step }: Bounds): readonly [start: number, end: number] {
  const [low, high] = step > 0 ? [0, length] : [-1, length - 1];
  const [first, last] = step > 0 ? [low, high] : [high, low];
  const clamp = (bound: number) => Math.min(high, Math.max(low, bound < 0 ? bound + length : bound));
  return [from === null ? first : clamp(from), to === null ? last : clamp(to)];
}
