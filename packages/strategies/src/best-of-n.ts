import type { Strategy } from '@perwatt/core';
import * as z from 'zod';
import { hasText } from './attempt.js';
import { parameters } from './params.js';
import { scoredAttemptFields, scoredAttempts, scoredCalls, scoreNeeds } from './scores.js';
import { outcomeOf, withoutAnswer } from './votes.js';

/** Parameters of a choice among attempts by a verifier. */
export const BestOfNParams = z.strictObject(scoredAttemptFields);
/** Parameters that were checked, defaults filled in. */
export type BestOfNParams = z.infer<typeof BestOfNParams>;

/**
 * Asks several times, takes the attempt that a verifier scores highest; of equal ones the first. With an oracle its accuracy is
 * pass@n. Without any readable score the first attempt stands, and the decision says so.
 */
export const bestOfN: Strategy<BestOfNParams> = {
  id: 'best_of_n',
  version: 1,
  summary: 'asks several times, takes the attempt that a verifier scores highest',
  needs: (params) => scoreNeeds(params),
  params: parameters('best_of_n', BestOfNParams),
  calls: scoredCalls,
  async *run(item, params, context) {
    const { results, candidates, scores } = yield* scoredAttempts(item, params, context);
    if (!results.some(hasText)) return withoutAnswer(results, candidates);
    const top = highest(scores);
    if (top === null)
      return outcomeOf(results.find(hasText), candidates, [
        'no score could be read, the first attempt stands',
      ]);
    return outcomeOf(results[top], candidates, [
      `attempt ${top + 1} of ${params.attempts} has the highest score, ${(scores[top] ?? 0).toFixed(3)}`,
    ]);
  },
};

/** Index of the first greatest score; null when all are null. */
function highest(scores: readonly (number | null)[]): number | null {
  let best: { readonly at: number; readonly score: number } | null = null;
  for (const [at, score] of scores.entries())
    if (score !== null && (best === null || score > best.score)) best = { at, score };
  return best?.at ?? null;
}
