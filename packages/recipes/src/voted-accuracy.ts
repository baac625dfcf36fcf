import { seedFrom } from '@perwatt/core';
import { createRandom } from './numeric/random.js';
import { plurality } from './numeric/votes.js';
import type { Recipe, Trainer } from './recipe.js';

/** Items that votes are counted on, unless a recipe says otherwise. */
const ITEMS = 300;

/**
 * Accuracy of the plurality of k attempts, by k, on held-out items, as `accuracy_of_<k>_votes`. Attempts without an answer
 * do not vote; ties are drawn. Empty for a policy whose answers can't vote.
 */
export function votedAccuracy(
  { serve }: Recipe,
  trainer: Trainer,
  { seed, votes }: { readonly seed: number; readonly votes: readonly number[] },
): Readonly<Record<string, number>> {
  if (serve?.votes !== true) return {};
  const items = serve.items(seed, serve.vote_items ?? ITEMS);
  const accuracy = (k: number): number => {
    const random = createRandom(seedFrom(seed, 'ties', k), 'votes');
    const right = items.filter(({ prompt, target }, i) => {
      const answers = Array.from({ length: k }, (_, j) => {
        const answer = serve.answer(trainer, prompt, seedFrom(seed, 'votes', k, i, j))?.answer ?? null;
        return answer === null ? [] : [answer];
      }).flat();
      return plurality(answers, random)?.answer === target;
    });
    return right.length / items.length;
  };
  return Object.fromEntries(votes.map((k) => [`accuracy_of_${k}_votes`, accuracy(k)]));
}
