import type { Strategy } from '@perwatt/core';
import * as z from 'zod';
import { attemptCalls, candidateOf, hasText } from './attempt.js';
import { parameters, samplingFields } from './params.js';
import { checked } from './scores.js';
import { outcomeOf, withoutAnswer } from './votes.js';

/** Parameters of a strategy that looks how far attempts reach. */
export const RepeatedSamplingParams = z.strictObject({
  attempts: z.int().min(1).max(10_000).default(10).describe('Independent generations for an item'),
  ...samplingFields(0.6),
});
/** Parameters that were checked, defaults filled in. */
export type RepeatedSamplingParams = z.infer<typeof RepeatedSamplingParams>;

/**
 * Asks many times and lets the data set's grader pick: its accuracy is coverage, pass@n. Each attempt's verdict is kept as the
 * score of its candidate (1 right, 0 wrong), from which pass@k follows for every k up to n.
 */
export const repeatedSampling: Strategy<RepeatedSamplingParams> = {
  id: 'repeated_sampling',
  version: 1,
  summary: 'asks many times, counts the item as covered when any attempt is right',
  needs: () => ({ endpoints: ['main'], oracle: true }),
  params: parameters('repeated_sampling', RepeatedSamplingParams),
  calls: ({ attempts }) => attempts,
  async *run(item, { attempts, ...params }, context) {
    const results = yield attemptCalls(item, { params, context }, attempts);
    const scores = results.map((r) => (hasText(r) ? Number(checked(r, context)) : 0));
    const candidates = results.map((result, i) => ({
      ...candidateOf(result, context.answers),
      score: scores[i] ?? 0,
    }));
    const first = results.find((_, i) => scores[i] === 1) ?? results.find(hasText);
    if (first === undefined) return withoutAnswer(results, candidates);
    const right = scores.filter((score) => score === 1).length;
    return outcomeOf(first, candidates, [`${right} of ${attempts} attempts are right`]);
  },
};
