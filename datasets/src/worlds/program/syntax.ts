import type { ProgramValue } from './value.js';

export type BinaryOperator = '+' | '-' | '*' | '//' | '%' | '**';
export type CompareOperator = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | 'not in';

/** An expression of a program. */
export type Expression =
  | { readonly kind: 'value'; readonly value: ProgramValue }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'list'; readonly items: readonly Expression[] }
  | { readonly kind: 'unary'; readonly operator: '-' | '+' | 'not'; readonly operand: Expression }
  | {
      readonly kind: 'binary';
      readonly operator: BinaryOperator;
      readonly left: Expression;
      readonly right: Expression;
    }
  | {
      readonly kind: 'logic';
      readonly operator: 'and' | 'or';
      readonly left: Expression;
      readonly right: Expression;
    }
  | {
      readonly kind: 'compare';
      readonly first: Expression;
      readonly rest: readonly (readonly [operator: CompareOperator, operand: Expression])[];
    }
  | {
      readonly kind: 'choice';
      readonly test: Expression;
      readonly then: Expression;
      readonly otherwise: Expression;
    }
  | { readonly kind: 'index'; readonly list: Expression; readonly index: Expression }
  | {
      readonly kind: 'slice';
      readonly list: Expression;
      readonly bounds: readonly [from: Expression | null, to: Expression | null, step: Expression | null];
    }
  | { readonly kind: 'call'; readonly name: string; readonly args: readonly Expression[] }
  | {
      readonly kind: 'each';
      readonly item: Expression;
      readonly variable: string;
      readonly source: Expression;
      readonly tests: readonly Expression[];
    };

export type Statement =
  | { readonly kind: 'assign'; readonly name: string; readonly value: Expression }
  | { readonly kind: 'return'; readonly value: Expression };

/** A program that was read. */
export interface Program {
  readonly parameters: readonly string[];
  readonly statements: readonly Statement[];
}

/** Functions with the number of arguments they take. */
export const functions: Readonly<Record<string, readonly [least: number, most: number]>> = {
  abs: [1, 1],
  all: [1, 1],
  any: [1, 1],
  bool: [1, 1],
  int: [1, 1],
  len: [1, 1],
  list: [1, 1],
  max: [1, 20],
  min: [1, 20],
  range: [1, 3],
  sorted: [1, 1],
  sum: [1, 1],
};

export const keywords: readonly string[] = [
  'and',
  'def',
  'else',
  'False',
  'for',
  'if',
  'in',
  'not',
  'or',
  'return',
  'True',
];
