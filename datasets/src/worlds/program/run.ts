import { applyFunction } from './functions.js';
import { type Meter, meterOf, StoppedProgram, stop } from './meter.js';
import { arithmetic, comparison, numberOf, sliceOf, truthOf } from './operators.js';
import type { Expression, Program } from './syntax.js';
import { isList, type ProgramValue } from './value.js';

/** What came of a program. Steps are expressions evaluated and list elements touched. */
export type ProgramResult =
  | { readonly status: 'returned'; readonly value: ProgramValue; readonly steps: number }
  | { readonly status: 'failed'; readonly reason: string; readonly steps: number };

export interface RunOptions {
  /** Steps after which a program is stopped; default 10,000. */
  readonly max_steps?: number;
}

/**
 * Runs a program. It has no effects, reads no clock and no chance, and its steps bound time and memory: the same program and
 * arguments give the same result on every machine. What goes wrong within is a result, never an exception.
 */
export function runProgram(
  { parameters, statements }: Program,
  args: readonly ProgramValue[],
  { max_steps = 10_000 }: RunOptions = {},
): ProgramResult {
  const meter = meterOf(max_steps);
  try {
    if (args.length !== parameters.length)
      throw stop(`it takes ${parameters.length} arguments, not ${args.length}`);
    const names = new Map(parameters.map((name, i): [string, ProgramValue] => [name, args[i] ?? 0]));
    for (const statement of statements) {
      const value = evaluate(statement.value, names, meter);
      if (statement.kind === 'return')
        return { status: 'returned', value: measured(value, meter), steps: meter.steps() };
      names.set(statement.name, value);
    }
    throw stop('it returns nothing');
  } catch (error) {
    if (error instanceof StoppedProgram)
      return { status: 'failed', reason: error.message, steps: meter.steps() };
    throw error;
  }
}

/** A value whose every element was paid for, so that it can be written down. */
function measured(value: ProgramValue, meter: Meter): ProgramValue {
  meter.spend(1);
  if (isList(value)) for (const each of value) measured(each, meter);
  return value;
}

type Names = ReadonlyMap<string, ProgramValue>;

function evaluate(expression: Expression, names: Names, meter: Meter): ProgramValue {
  meter.spend(1);
  const of = (inner: Expression) => evaluate(inner, names, meter);
  switch (expression.kind) {
    case 'value':
      return expression.value;
    case 'name':
      return names.get(expression.name) ?? 0;
    case 'list':
      return expression.items.map(of);
    case 'unary':
      return unary(expression.operator, of(expression.operand));
    case 'binary':
      return arithmetic(expression.operator, [of(expression.left), of(expression.right)], meter);
    case 'logic': {
      const left = of(expression.left);
      return truthOf(left) === (expression.operator === 'or') ? left : of(expression.right);
    }
    case 'compare':
      return compareChain(expression, of, meter);
    case 'choice':
      return truthOf(of(expression.test)) ? of(expression.then) : of(expression.otherwise);
    case 'call':
      return applyFunction(expression.name, expression.args.map(of), meter);
    case 'each':
      return eachOf(expression, names, meter);
    default:
      return partOf(expression, of, meter);
  }
}

function unary(operator: '-' | '+' | 'not', operand: ProgramValue): ProgramValue {
  if (operator === 'not') return !truthOf(operand);
  const number = numberOf(operand, operator);
  return operator === '-' ? 0 - number : number;
}

type Evaluate = (expression: Expression) => ProgramValue;

function compareChain(
  { first, rest }: Expression & { kind: 'compare' },
  of: Evaluate,
  meter: Meter,
): boolean {
  let left = of(first);
  for (const [operator, operand] of rest) {
    const right = of(operand);
    if (!comparison(operator, [left, right], meter)) return false;
    left = right;
  }
  return true;
}

function partOf(
  expression: Expression & { kind: 'index' | 'slice' },
  of: Evaluate,
  meter: Meter,
): ProgramValue {
  const list = of(expression.list);
  if (!isList(list)) throw stop('only lists have elements');
  if (expression.kind === 'slice') {
    const [from, to, step] = expression.bounds.map((bound) =>
      bound === null ? null : numberOf(of(bound), '[:]'),
    );
    return sliceOf(list, { from: from ?? null, to: to ?? null, step: step ?? 1 }, meter);
  }
  const index = numberOf(of(expression.index), '[]');
  const value = list[index < 0 ? index + list.length : index];
  if (value === undefined) throw stop(`there is no element ${index} in a list of ${list.length}`);
  return value;
}

function eachOf(
  { item, variable, source, tests }: Expression & { kind: 'each' },
  names: Names,
  meter: Meter,
): ProgramValue[] {
  const list = evaluate(source, names, meter);
  if (!isList(list)) throw stop('"for" goes over lists only');
  const values: ProgramValue[] = [];
  for (const element of list) {
    meter.spend(1);
    const inner = new Map(names).set(variable, element);
    if (tests.every((test) => truthOf(evaluate(test, inner, meter))))
      values.push(evaluate(item, inner, meter));
  }
  return values;
}
