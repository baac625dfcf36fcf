import { PerwattError, type SafeLanguage } from '@perwatt/core';
import { parseProgram } from './parse.js';
import { runProgram } from './run.js';
import { parseValues, writeValue } from './value.js';

/** What the language is, for prompts. */
export const languageDescription = `A program is one function in a small part of Python, for example
def f(xs, n): ys = [x * n for x in xs if x % 2 == 0]; return sum(ys) + len(xs)
- Values are whole numbers, True and False, and lists of these. There are no strings and no fractions.
- Statements are assignments (=, +=, -=, *=, //=, %=) and return, separated by ";" or on lines of their own.
- Operators are + - * // % ** == != < <= > >= in, not in, and, or, not, "a if c else b", indexes and slices.
- Loops are comprehensions with one "for" and any number of "if".
- Functions are abs, all, any, bool, int, len, list, max, min, range, sorted, sum.`;

/** The language of program tasks, as strategies are given it: programs and arguments as text. */
export const programLanguage: SafeLanguage = {
  id: 'perwatt-mini',
  version: 1,
  description: languageDescription,
  run(program, input) {
    try {
      const result = runProgram(parseProgram(program), parseValues(input));
      return result.status === 'returned'
        ? { ok: true, output: writeValue(result.value), steps: result.steps }
        : { ok: false, reason: result.reason };
    } catch (error) {
      if (error instanceof PerwattError) return { ok: false, reason: error.message };
      throw error;
    }
  },
};
