import { PerwattError } from '@perwatt/core';

export interface Token {
  readonly kind: 'number' | 'word' | 'mark' | 'end';
  readonly text: string;
  /** Place in the text, from 0. */
  readonly at: number;
}

const TOKEN =
  /(?<number>\d+(?!\w))|(?<word>[A-Za-z_]\w*)|(?<mark>\/\/=|\*\*=|\/\/|\*\*|[-+*%]=|==|!=|<=|>=|[-+*%<>=()[\],:;])/y;

/** Longest program text that is read, in characters. */
export const MAX_PROGRAM = 4000;

/** An error in a program, with its place. */
export const programError = (message: string, at: number, text: string): PerwattError => {
  const before = text.slice(0, at).split('\n');
  return new PerwattError(
    'INPUT_INVALID',
    `program: ${message} at line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`,
  );
};

const BLANKS = /(?:[ \t\r\f]|#[^\n]*)*/y;

/** The tokens of a program; line ends within brackets don't count, elsewhere they are `;`. Comments are left out. */
export function tokensOf(text: string): Token[] {
  if (text.length > MAX_PROGRAM)
    throw new PerwattError('INPUT_INVALID', `program: ${text.length} characters, over ${MAX_PROGRAM}`);
  const tokens: Token[] = [];
  let depth = 0;
  for (let at = afterBlanks(text, 0); at < text.length; at = afterBlanks(text, at)) {
    const token: Token = text[at] === '\n' ? { kind: 'mark', text: ';', at } : tokenAt(text, at);
    depth += depthChange(token.text);
    if (text[at] !== '\n' || depth === 0) tokens.push(token);
    at += token.text.length;
  }
  return [...tokens, { kind: 'end', text: '', at: text.length }];
}

const depthChange = (text: string) =>
  text === '(' || text === '[' ? 1 : text === ')' || text === ']' ? -1 : 0;

function afterBlanks(text: string, at: number): number {
  BLANKS.lastIndex = at;
  BLANKS.test(text);
  return Math.max(at, BLANKS.lastIndex);
}

function tokenAt(text: string, at: number): Token {
  TOKEN.lastIndex = at;
  const { number, word, mark } = TOKEN.exec(text)?.groups ?? {};
  if (number !== undefined) return { kind: 'number', text: number, at };
  if (word !== undefined) return { kind: 'word', text: word, at };
  if (mark !== undefined) return { kind: 'mark', text: mark, at };
  throw programError(`"${text.slice(at, at + 1)}" is no part of the language`, at, text);
}
