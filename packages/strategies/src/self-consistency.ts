import type { Strategy } from '@perwatt/core';
import * as z from 'zod';
import { attemptCalls, candidateOf } from './attempt.js';
import { parameters, samplingFields } from './params.js';
import { single } from './single.js';
import { voteOutcome } from './votes.js';

/** Parameters of a strategy that asks several times and votes. */
export const SelfConsistencyParams = z.strictObject({
  attempts: z.int().min(1).max(1024).default(5).describe('Independent generations for an item'),
  ...samplingFields(0.7),
});
/** Parameters that were checked, defaults filled in. */
export type SelfConsistencyParams = z.infer<typeof SelfConsistencyParams>;

/** Asks several times independently and takes the answer given most often. One attempt is `single` at this strategy's temperature. */
export const selfConsistency: Strategy<SelfConsistencyParams> = {
  id: 'self_consistency',
  version: 1,
  summary: 'asks several times, takes the answer given most often',
  needs: () => ({ endpoints: ['main'] }),
  params: parameters('self_consistency', SelfConsistencyParams),
  calls: ({ attempts }) => attempts,
  async *run(item, { attempts, ...params }, context) {
    if (attempts === 1) return yield* single.run(item, params, context);
    const results = yield attemptCalls(item, { params, context }, attempts);
    const candidates = results.map((result) => candidateOf(result, context.answers));
    return voteOutcome({ results, candidates, answers: context.answers });
  },
};
