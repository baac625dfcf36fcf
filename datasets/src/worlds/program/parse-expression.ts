import { variableAhead } from './comprehension-ahead.js';
import type { Cursor } from './parse.js';
import { type BinaryOperator, type CompareOperator, type Expression, functions } from './syntax.js';
import { MAX_NUMBER } from './value.js';

export interface ExpressionReader {
  read(): Expression;
  /** A name that something was assigned to. */
  named(name: string): Expression;
}

const MAX_DEPTH = 60;
const MAX_PARTS = 500;

/** Functions that take what `range` gives; it has no value of its own. */
const takesRange = ['list', 'sum', 'len', 'max', 'min', 'sorted'];
/** Functions whose argument may be a comprehension without brackets: those that look at all of it. */
const takesEach = ['list', 'sum', 'max', 'min', 'sorted'];

const comparisons: readonly CompareOperator[] = ['==', '!=', '<', '<=', '>', '>=', 'in'];

/** Reads expressions by Python's rules of precedence. `known` are the names that may be used. */
export function expressionReader(cursor: Cursor, known: Set<string>): ExpressionReader {
  let [depth, parts] = [0, 0];

  /** Counts a part of the expression, which bounds how deep it can be evaluated. */
  function part(): void {
    parts += 1;
    if (parts > MAX_PARTS) throw cursor.fail(`an expression of more than ${MAX_PARTS} parts`);
  }

  function nested<T>(inner: () => T): T {
    if (depth === 0) parts = 0;
    depth += 1;
    if (depth > MAX_DEPTH) throw cursor.fail(`expressions more than ${MAX_DEPTH} deep`);
    const whole = inner();
    depth -= 1;
    return whole;
  }

  const read = () => nested(choice);

  function choice(): Expression {
    const then = condition();
    if (!cursor.takes('if')) return then;
    const test = condition();
    cursor.expect('else');
    return { kind: 'choice', test, then, otherwise: read() };
  }

  const condition = () => logic('or', () => logic('and', negation));

  function logic(operator: 'and' | 'or', inner: () => Expression): Expression {
    let left = inner();
    while (cursor.takes(operator)) left = { kind: 'logic', operator, left, right: inner() };
    return left;
  }

  function negation(): Expression {
    if (!cursor.takes('not')) return comparison();
    return nested(() => ({ kind: 'unary', operator: 'not', operand: negation() }));
  }

  function comparison(): Expression {
    const first = sum();
    const rest: [CompareOperator, Expression][] = [];
    for (let operator = comparing(); operator !== null; operator = comparing()) rest.push([operator, sum()]);
    return rest.length === 0 ? first : { kind: 'compare', first, rest };
  }

  function comparing(): CompareOperator | null {
    if (cursor.peek().text === 'not' && cursor.peek(1).text === 'in') {
      cursor.next();
      cursor.next();
      return 'not in';
    }
    return comparisons.find((each) => cursor.takes(each)) ?? null;
  }

  function chain(operators: readonly BinaryOperator[], inner: () => Expression): Expression {
    let left = inner();
    for (;;) {
      const operator = operators.find((each) => cursor.takes(each));
      if (operator === undefined) return left;
      left = { kind: 'binary', operator, left, right: inner() };
    }
  }

  const sum = () => chain(['+', '-'], product);
  const product = () => chain(['*', '//', '%'], signed);

  function signed(): Expression {
    const operator = (['-', '+'] as const).find((each) => cursor.takes(each));
    if (operator === undefined) return power();
    return nested(() => ({ kind: 'unary', operator, operand: signed() }));
  }

  function power(): Expression {
    const left = subscripted();
    if (!cursor.takes('**')) return left;
    return nested(() => ({ kind: 'binary', operator: '**', left, right: signed() }));
  }

  function subscripted(): Expression {
    let whole = atom();
    while (cursor.takes('[')) whole = subscript(whole);
    return whole;
  }

  function subscript(list: Expression): Expression {
    part();
    const from = optional(':');
    if (from !== null && cursor.takes(']')) return { kind: 'index', list, index: from };
    cursor.expect(':');
    const to = optional(':', ']');
    const step = cursor.takes(':') ? optional(']') : null;
    cursor.expect(']');
    return { kind: 'slice', list, bounds: [from, to, step] };
  }

  /** An expression, or null where one of the marks stands. */
  const optional = (...marks: readonly string[]): Expression | null =>
    marks.includes(cursor.peek().text) ? null : read();

  function atom(): Expression {
    part();
    const { kind, text } = cursor.peek();
    if (kind === 'number') return number();
    if (cursor.takes('(')) return bracketed();
    if (cursor.takes('[')) return list();
    const truth = (['True', 'False'] as const).find((each) => cursor.takes(each));
    if (truth !== undefined) return { kind: 'value', value: truth === 'True' };
    return Object.hasOwn(functions, text) ? call(cursor.next().text) : named(cursor.name());
  }

  function bracketed(): Expression {
    const inner = read();
    cursor.expect(')');
    return inner;
  }

  function number(): Expression {
    const { text } = cursor.peek();
    const value = Number(text);
    if (value > MAX_NUMBER) throw cursor.fail(`${text.slice(0, 20)} is beyond 10^15,`);
    if (/^0\d*[1-9]/.test(text)) throw cursor.fail(`${text.slice(0, 20)} begins with 0,`);
    cursor.next();
    return { kind: 'value', value };
  }

  function named(name: string): Expression {
    if (!known.has(name)) throw cursor.fail(`"${name}" has no value, before the place`);
    return { kind: 'name', name };
  }

  function list(): Expression {
    if (cursor.takes(']')) return { kind: 'list', items: [] };
    const variable = variableAhead(cursor);
    if (variable !== null) {
      const each = eachOver(variable);
      cursor.expect(']');
      return each;
    }
    const items = [read()];
    while (cursor.takes(',') && cursor.peek().text !== ']') items.push(read());
    cursor.expect(']');
    return { kind: 'list', items };
  }

  /** `item for variable in source if test …`; the variable is known within item and tests only. */
  function eachOver(variable: string): Expression {
    const within = <T>(inner: () => T): T => {
      const isNew = !known.has(variable);
      known.add(variable);
      const whole = inner();
      if (isNew) known.delete(variable);
      return whole;
    };
    const item = within(read);
    cursor.expect('for');
    cursor.name();
    cursor.expect('in');
    const source = cursor.takes('range') ? call('range', 'in') : condition();
    const tests: Expression[] = [];
    while (cursor.takes('if')) tests.push(within(condition));
    return { kind: 'each', item, variable, source, tests };
  }

  function call(name: string, around?: string): Expression {
    if (name === 'range' && around === undefined)
      throw cursor.fail(
        '"range" stands only behind "in" of a comprehension and within list, sum, len, max, min, sorted;',
      );
    cursor.expect('(');
    const variable = variableAhead(cursor);
    const args = variable === null ? argumentsOf(name) : [eachArgument(name, variable)];
    const [least, most] = functions[name] ?? [0, 0];
    if (args.length < least || args.length > most)
      throw cursor.fail(`"${name}" takes no ${args.length} arguments,`);
    return { kind: 'call', name, args };
  }

  function eachArgument(name: string, variable: string): Expression {
    if (!takesEach.includes(name)) throw cursor.fail(`"${name}" takes a comprehension in brackets only,`);
    const each = nested(() => eachOver(variable));
    cursor.expect(')');
    return each;
  }

  function argumentsOf(name: string): Expression[] {
    const args: Expression[] = [];
    while (!cursor.takes(')')) {
      if (args.length > 0) cursor.expect(',');
      const isRange = takesRange.includes(name) && args.length === 0 && cursor.takes('range');
      args.push(isRange ? call('range', name) : read());
    }
    return args;
  }

  return { read, named };
}
