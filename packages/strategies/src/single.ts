import type { Strategy } from '@perwatt/core';
import { attemptCall, candidateOf, failureOf } from './attempt.js';
import { parameters, SingleParams } from './params.js';

/** Asks once. The answer is the call's whole text, whatever can be read from it. */
export const single: Strategy<SingleParams> = {
  id: 'single',
  version: 1,
  summary: 'asks once, greedily unless a temperature is given',
  needs: () => ({ endpoints: ['main'] }),
  params: parameters('single', SingleParams),
  calls: () => 1,
  async *run(item, params, context) {
    const [result] = yield [attemptCall(item, params, { ...context, branch: 0 })];
    if (result === undefined) return { status: 'failed', reason: 'the call had no result', candidates: [] };
    const candidates = [candidateOf(result, context.answers)];
    if (result.finish === 'error')
      return { status: 'failed', reason: `the call failed: ${failureOf(result)}`, candidates };
    return { status: 'answered', answer: result.text, call_id: result.id, candidates, decisions: [] };
  },
};
