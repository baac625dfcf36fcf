import { seedFrom } from '@perwatt/core';
import { below, createRandom } from '../numeric/random.js';
import type { PolicyAnswer, RecipeItem } from '../recipe.js';
import { wrongValue } from './actor.js';
import { drawOperands, rollOut } from './rollout.js';
import type { SelfcestTrainer } from './selfcest.js';

const intro = 'Add up:';

/** Sums of 8 to 16 numbers below 100, as text. */
export function sumItems(seed: number, count: number): readonly RecipeItem[] {
  return Array.from({ length: count }, (_, i) => {
    const random = createRandom(seedFrom(seed, 'items', i), 'selfcest');
    const operands = Array.from({ length: drawOperands(random) }, () => below(random, 100));
    return {
      id: `sum-${i + 1}`,
      prompt: `${intro} ${operands.join(' + ')}`,
      target: String(operands.reduce((sum, value) => sum + value, 0)),
    };
  });
}

/** Operands of a prompt; null where it is no sum of 8 to 16 numbers. */
function operandsOf(prompt: string): readonly number[] | null {
  const sum = prompt.match(/Add up: ([\d+ ]+)/)?.[1];
  const operands = sum?.split('+').map((part) => Number.parseInt(part, 10)) ?? [];
  return operands.length >= 8 && operands.length <= 16 && operands.every(Number.isInteger) ? operands : null;
}

/** How far a wrong answer is off, by what went wrong. */
const offsets = [0, 10, -10, 1, -1, 100, 9, -9, 2, -2] as const;

/** Lets the policy add up a prompt's numbers: each merge that goes wrong makes the sum a wrong one. */
export function answerSum(trainer: SelfcestTrainer, prompt: string, seed: number): PolicyAnswer | null {
  const operands = operandsOf(prompt);
  if (operands === null) return null;
  const random = createRandom(seed, 'selfcest');
  const { policy, params } = trainer;
  const rollout = rollOut(policy, operands.length, { random, delegation: params.delegation });
  const truth = operands.reduce((sum, value) => sum + value, 0);
  const value = rollout.right ? truth : truth + (offsets[wrongValue(random)] ?? 0);
  return {
    text: rollout.answered ? `The answer is ${value}` : 'no answer',
    answer: rollout.answered ? String(value) : null,
    prompt_tokens: operands.length,
    completion_tokens: rollout.total_tokens,
  };
}
