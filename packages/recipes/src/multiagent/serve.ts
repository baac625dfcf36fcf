import { seedFrom } from '@perwatt/core';
import { below, createRandom } from '../numeric/random.js';
import type { PolicyAnswer, RecipeItem } from '../recipe.js';
import { debate } from './debate.js';
import type { TeamTrainer } from './multiagent-ft.js';
import { MEMBERS, TYPES } from './world.js';

/** Items of the 24 types as text; answer 0 is the right one. */
export function typeItems(seed: number, count: number): readonly RecipeItem[] {
  return Array.from({ length: count }, (_, i) => {
    const type = below(createRandom(seedFrom(seed, 'items', i), 'multiagent'), TYPES);
    return { id: `type-${i + 1}`, prompt: `Solve item ${i + 1} of type ${type}.`, target: '0' };
  });
}

/** Lets the team debate a prompt's item. */
export function answerType(trainer: TeamTrainer, prompt: string, seed: number): PolicyAnswer | null {
  const type = Number(prompt.match(/Solve item \d+ of type (\d+)\./)?.[1] ?? Number.NaN);
  if (!(type >= 0 && type < TYPES)) return null;
  const { world, systematic_share, team } = trainer;
  const own = debate(team, type, { world, systematic_share, random: createRandom(seed, 'multiagent') });
  const text = String(own.consensus);
  return { text, answer: text, prompt_tokens: 1, completion_tokens: 2 * MEMBERS };
}
