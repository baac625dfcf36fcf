import { PerwattError, seedFrom } from '@perwatt/core';
import { below, type Random } from '../numeric/random.js';

/** What chains are worked out modulo: a prime, so that only 0 times something is 0. */
export const MODULUS = 11;

/** Tokens of the vocabulary; residues are 0 to 10, and fifteen more are never used. */
export const VOCABULARY = 32;
const OPERATORS = ['+', '-', '*'] as const;
const FIRST_OPERATOR = 23;
export const COLON = 26;
export const EQUALS = 27;
export const END = 28;

/** Operations of a chain in training, and of longer ones that are only ever asked. */
export const TRAINED: readonly number[] = [2, 3, 4];
export const LONGER: readonly number[] = [5, 6];

/** The most tokens that are written after a prompt, and the longest sequence of all. */
export const MOST_WRITTEN = 12;
export const POSITIONS = 32;

/** The position that is counted on from after the colon, so that a step stands at the same one in chains of any length. */
export const ANSWER_AT = 16;

type Operator = (typeof OPERATORS)[number];

/** A number and what is done to it, one operation after the other. */
export interface Chain {
  readonly first: number;
  readonly operations: readonly { readonly operator: Operator; readonly operand: number }[];
}

/** A chain in words, as `3 + 5 * 2`. */
export const chainText = ({ first, operations }: Chain): string =>
  [first, ...operations.map(({ operator, operand }) => `${operator} ${operand}`)].join(' ');

/** What comes of each operation, from left to right. */
export function resultsOf({ first, operations }: Chain): number[] {
  let value = first;
  return operations.map(({ operator, operand }) => {
    const next = operator === '+' ? value + operand : operator === '-' ? value - operand : value * operand;
    value = ((next % MODULUS) + MODULUS) % MODULUS;
    return value;
  });
}

/** What comes of the whole chain. */
export const answerOf = (chain: Chain): number => resultsOf(chain).at(-1) ?? chain.first;

/** Tokens of a question: the chain and a colon. */
export const promptTokens = ({ first, operations }: Chain): number[] => [
  first,
  ...operations.flatMap(({ operator, operand }) => [FIRST_OPERATOR + OPERATORS.indexOf(operator), operand]),
  COLON,
];

/** Values that a worked solution passes through: the first number, then what comes of each operation. */
export const valuesOf = (chain: Chain): number[] => [chain.first, ...resultsOf(chain)];

/** Tokens of a worked solution: the value so far after each operation, from the first number on, the answer and the end. */
export const workedTokens = (chain: Chain): number[] => [...valuesOf(chain), EQUALS, answerOf(chain), END];

/** Tokens that were written, in words; the end is not shown. */
export const tokenText = (token: number): string => {
  if (token < MODULUS) return String(token);
  if (token === END) return '';
  if (token === EQUALS) return '=';
  return token === COLON ? ':' : (OPERATORS[token - FIRST_OPERATOR] ?? '?');
};

/** The answer among tokens that were written: the residue between the last `=` and the end; null for any other ending. */
export function writtenAnswer(tokens: readonly number[]): number | null {
  const [equals, answer, end] = tokens.slice(-3);
  return equals === EQUALS && end === END && answer !== undefined && answer < MODULUS ? answer : null;
}

/** Whether a chain is held out from training: one in eight is, by the digest of its text, for every seed alike. */
export const isHeldOut = (chain: Chain): boolean =>
  seedFrom(0, 'held-out chains', chainText(chain)) % 8 === 0;

const MOST_DRAWS = 1000;

/** Draws a chain of one of some lengths, operands 1 to 10, that is held out or is not. */
export function drawChain(
  random: Random,
  { lengths, held_out }: { readonly lengths: readonly number[]; readonly held_out: boolean },
): Chain {
  const residue = () => 1 + below(random, MODULUS - 1);
  for (let draw = 0; draw < MOST_DRAWS; draw++) {
    const n = lengths[below(random, lengths.length)] ?? 1;
    const first = residue();
    const operations = Array.from({ length: n }, () => ({
      operator: OPERATORS[below(random, OPERATORS.length)] ?? '+',
      operand: residue(),
    }));
    const chain = { first, operations };
    if (isHeldOut(chain) === held_out) return chain;
  }
  throw new PerwattError('INPUT_INVALID', `no chain of lengths ${lengths.join(', ')} in ${MOST_DRAWS} draws`);
}

/** The chain of a text such as `3 + 5 * 2`; null for what is none, or is longer than a policy can be asked. */
export function parseChain(text: string): Chain | null {
  const parts = text.trim().split(/\s+/);
  const values = parts.filter((_, i) => i % 2 === 0).map(Number);
  const operators = parts.filter((_, i) => i % 2 === 1);
  const fits = values.every((own) => Number.isInteger(own) && own >= 0 && own < MODULUS);
  if (!fits || operators.length !== values.length - 1) return null;
  if (operators.length < 1 || operators.length > Math.max(...LONGER)) return null;
  const operations = operators.flatMap((text, i) => {
    const operator = OPERATORS.find((own) => own === text);
    return operator === undefined ? [] : [{ operator, operand: values[i + 1] ?? 0 }];
  });
  return operations.length === operators.length ? { first: values[0] ?? 0, operations } : null;
}
