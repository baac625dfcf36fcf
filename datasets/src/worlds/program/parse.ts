import type { PerwattError } from '@perwatt/core';
import { type ExpressionReader, expressionReader } from './parse-expression.js';
import { functions, keywords, type Program, type Statement } from './syntax.js';
import { programError, type Token, tokensOf } from './tokens.js';

/** The tokens of a program, one after the other. */
export interface Cursor {
  peek(ahead?: number): Token;
  /** Takes the next token when it is this text. */
  takes(text: string): boolean;
  /** Takes the next token, which must be this text. */
  expect(text: string): void;
  /** Takes a name that is free to be used. */
  name(): string;
  next(): Token;
  fail(message: string): PerwattError;
}

/**
 * Reads a program: `def f(x, y): a = x + y; return a * 2`, its statements on one line or on several. Throws `INPUT_INVALID` with
 * the place for anything beyond the language, names that nothing was assigned to, and a missing `return`.
 */
export function parseProgram(text: string): Program {
  const cursor = cursorOver(text);
  const parameters = header(cursor);
  const known = new Set(parameters);
  const expressions = expressionReader(cursor, known);
  const statements: Statement[] = [];
  for (;;) {
    while (cursor.takes(';'));
    if (cursor.peek().kind === 'end') break;
    const statement = statementOf(cursor, expressions);
    if (statement.kind === 'assign') known.add(statement.name);
    statements.push(statement);
    if (cursor.peek().kind !== 'end' && cursor.peek().text !== ';')
      throw cursor.fail('a statement ends before');
  }
  if (statements.at(-1)?.kind !== 'return') throw cursor.fail('"return" is missing');
  return { parameters, statements };
}

function header(cursor: Cursor): string[] {
  while (cursor.takes(';'));
  cursor.expect('def');
  cursor.name();
  cursor.expect('(');
  const parameters: string[] = [];
  while (!cursor.takes(')')) {
    if (parameters.length > 0) cursor.expect(',');
    const name = cursor.name();
    if (parameters.includes(name)) throw cursor.fail(`"${name}" is a parameter twice`);
    parameters.push(name);
  }
  cursor.expect(':');
  return parameters;
}

const assigning = ['+=', '-=', '*=', '//=', '%=', '**='] as const;
const operatorOf = { '+=': '+', '-=': '-', '*=': '*', '//=': '//', '%=': '%', '**=': '**' } as const;

function statementOf(cursor: Cursor, expressions: ExpressionReader): Statement {
  if (cursor.takes('return')) return { kind: 'return', value: expressions.read() };
  const name = cursor.name();
  const mark = assigning.find((each) => each === cursor.peek().text);
  if (mark === undefined) {
    cursor.expect('=');
    return { kind: 'assign', name, value: expressions.read() };
  }
  const left = expressions.named(name);
  cursor.next();
  return {
    kind: 'assign',
    name,
    value: { kind: 'binary', operator: operatorOf[mark], left, right: expressions.read() },
  };
}

function cursorOver(text: string): Cursor {
  const tokens = tokensOf(text);
  const end: Token = { kind: 'end', text: '', at: text.length };
  let place = 0;
  const peek = (ahead = 0) => tokens[place + ahead] ?? end;
  const fail = (message: string) => programError(message, peek().at, text);
  const shown = () => (peek().kind === 'end' ? 'the end' : `"${peek().text}"`);
  const next = () => {
    const token = peek();
    place += 1;
    return token;
  };
  return {
    peek,
    next,
    fail,
    takes(wanted) {
      if (peek().text !== wanted || peek().kind === 'end') return false;
      place += 1;
      return true;
    },
    expect(wanted) {
      if (peek().text !== wanted) throw fail(`"${wanted}" is wanted where ${shown()} stands,`);
      place += 1;
    },
    name() {
      const { kind, text: word } = peek();
      if (kind !== 'word' || keywords.includes(word)) throw fail(`a name is wanted where ${shown()} stands,`);
      if (Object.hasOwn(functions, word)) throw fail(`"${word}" is the name of a function,`);
      place += 1;
      return word;
    },
  };
}
