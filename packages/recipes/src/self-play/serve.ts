import { seedFrom } from '@perwatt/core';
import { createRandom } from '../numeric/random.js';
import type { PolicyAnswer, RecipeItem } from '../recipe.js';
import type { SelfPlayTrainer } from './absolute-zero.js';
import { execute } from './execute.js';
import {
  createOperations,
  DIGITS,
  drawProgram,
  LONGEST,
  OPERATIONS,
  outputOf,
  type Program,
} from './programs.js';

const letters = 'abcdef';

/** Programs of a seed's operations as text: letters are operations, one after the other. */
export function programItems(seed: number, count: number): readonly RecipeItem[] {
  const operations = createOperations(seed);
  return Array.from({ length: count }, (_, i) => {
    const program = drawProgram(1 + (i % LONGEST), createRandom(seedFrom(seed, 'items', i), 'absolute-zero'));
    const code = program.operations.map((operation) => letters[operation]).join('');
    return {
      id: `program-${i + 1}`,
      prompt: `Run ${code} on ${program.input}. Say the digit, 0 to ${DIGITS - 1}.`,
      target: String(outputOf(operations, program)),
    };
  });
}

function programOf(prompt: string): Program | null {
  const [, code = '', input = ''] = prompt.match(/Run ([a-f]+) on (\d+)\./) ?? [];
  const operations = [...code].map((letter) => letters.indexOf(letter));
  const digit = Number(input === '' ? Number.NaN : input);
  const fits = operations.length > 0 && operations.length <= LONGEST && digit < DIGITS;
  return fits && operations.every((own) => own < OPERATIONS) ? { operations, input: digit } : null;
}

/** Lets the solver run a prompt's program. */
export function answerProgram(
  { solver }: SelfPlayTrainer,
  prompt: string,
  seed: number,
): PolicyAnswer | null {
  const program = programOf(prompt);
  if (program === null) return null;
  const { output } = execute(solver, program, createRandom(seed, 'absolute-zero'));
  const tokens = program.operations.length;
  return {
    text: String(output),
    answer: String(output),
    prompt_tokens: tokens + 1,
    completion_tokens: tokens,
  };
}
