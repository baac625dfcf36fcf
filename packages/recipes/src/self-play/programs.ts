import { below, createRandom, normal, permutation, type Random } from '../numeric/random.js';
import { createTable, type SoftmaxTable } from '../numeric/softmax.js';

/** Digits that programs work on, operations there are, and the longest program. */
export const DIGITS = 16;
export const OPERATIONS = 6;
export const LONGEST = 10;
const DEPTHS = 5;

/** Each operation is a permutation of the digits. */
export type Operations = readonly (readonly number[])[];

export function createOperations(seed: number): Operations {
  const random = createRandom(seed, 'programs');
  return Array.from({ length: OPERATIONS }, () => permutation(random, DIGITS));
}

/** A task: operations one after the other, and the digit they start from. */
export interface Program {
  readonly operations: readonly number[];
  readonly input: number;
}

/** A program of a length; operations and input are uniform. */
export const drawProgram = (length: number, random: Random): Program => ({
  operations: Array.from({ length }, () => below(random, OPERATIONS)),
  input: below(random, DIGITS),
});

/** What a program gives. */
export const outputOf = (operations: Operations, program: Program): number =>
  program.operations.reduce((digit, operation) => operations[operation]?.[digit] ?? 0, program.input);

/** Row of a solver: what it thinks an operation makes of a digit, learned apart by depth in the program. */
export const solverRow = (operation: number, step: number, digit: number): number =>
  (operation * DEPTHS + Math.min(step >> 1, DEPTHS - 1)) * DIGITS + digit;

/** A solver before training: it tends to know the operations, the less the deeper in a program they stand. */
export function createSolver(
  operations: Operations,
  { seed, bias }: { readonly seed: number; readonly bias: number },
): SoftmaxTable {
  const random = createRandom(seed, 'solver');
  const table = createTable(OPERATIONS * DEPTHS * DIGITS, DIGITS);
  for (let i = 0; i < table.logits.length; i++) table.logits[i] = 0.3 * normal(random);
  for (let operation = 0; operation < OPERATIONS; operation++)
    for (let bucket = 0; bucket < DEPTHS; bucket++)
      for (let digit = 0; digit < DIGITS; digit++) {
        const right = operations[operation]?.[digit] ?? 0;
        const place = solverRow(operation, 2 * bucket, digit) * DIGITS + right;
        const known = bias * (1 - 0.22 * bucket) + 0.8 * normal(random);
        table.logits[place] = (table.logits[place] ?? 0) + known;
      }
  return table;
}
