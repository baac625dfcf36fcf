import type { Random } from '../numeric/random.js';
import { actionAt, probabilities, type SoftmaxTable } from '../numeric/softmax.js';
import { DIGITS, type Program, solverRow } from './programs.js';

/** One run of a program by the solver. */
export interface Execution {
  readonly rows: Uint16Array;
  readonly digits: Uint8Array;
  readonly probabilities: Float64Array;
  readonly output: number;
}

/** Executes a program step by step, each digit drawn from the solver. */
export function execute(solver: SoftmaxTable, { operations, input }: Program, random: Random): Execution {
  const n = operations.length;
  const rows = new Uint16Array(n);
  const digits = new Uint8Array(n);
  const all = new Float64Array(n * DIGITS);
  let digit = input;
  operations.forEach((operation, step) => {
    const p = all.subarray(step * DIGITS, (step + 1) * DIGITS);
    const row = solverRow(operation, step, digit);
    probabilities(solver, row, p);
    digit = actionAt(p, random.next());
    rows[step] = row;
    digits[step] = digit;
  });
  return { rows, digits, probabilities: all, output: digit };
}
