import type { Strategy } from '@perwatt/core';
import * as z from 'zod';
import { attemptCall, candidateOf } from './attempt.js';
import { parameters, samplingFields } from './params.js';
import { outcomeOf } from './votes.js';

/** Parameters of a strategy that asks once. */
export const SingleParams = z.strictObject(samplingFields(0));
/** Parameters that were checked, defaults filled in. */
export type SingleParams = z.infer<typeof SingleParams>;

/** Asks once. The answer is the call's whole text, whatever can be read from it. */
export const single: Strategy<SingleParams> = {
  id: 'single',
  version: 1,
  summary: 'asks once, greedily unless a temperature is given',
  needs: () => ({ endpoints: ['main'] }),
  params: parameters('single', SingleParams),
  calls: () => 1,
  async *run(item, params, context) {
    const results = yield [attemptCall(item, { params, context }, { branch: 0 })];
    return outcomeOf(
      results[0],
      results.map((result) => candidateOf(result, context.answers)),
    );
  },
};
