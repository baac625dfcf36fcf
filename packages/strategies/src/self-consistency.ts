import type { CallResult, Candidate, Outcome, Strategy } from '@perwatt/core';
import { attemptCall, candidateOf, failureOf } from './attempt.js';
import { parameters, SelfConsistencyParams } from './params.js';
import { plurality } from './plurality.js';
import { single } from './single.js';

/**
 * Asks several times independently and takes the answer given most often. The outcome is the whole text of the first call
 * that gave it, so that it is graded like any other. One attempt is `single` at this strategy's temperature.
 */
export const selfConsistency: Strategy<SelfConsistencyParams> = {
  id: 'self_consistency',
  version: 1,
  summary: 'asks several times, takes the answer given most often',
  needs: () => ({ endpoints: ['main'] }),
  params: parameters('self_consistency', SelfConsistencyParams),
  calls: ({ attempts }) => attempts,
  async *run(item, { attempts, ...params }, context) {
    if (attempts === 1) return yield* single.run(item, params, context);
    const results = yield Array.from({ length: attempts }, (_, branch) =>
      attemptCall(item, params, { ...context, branch }),
    );
    const candidates = results.map((result) => candidateOf(result, context.answers));
    const vote = plurality(
      candidates.map((c) => c.answer),
      context.answers.same,
    );
    if (vote.status === 'empty') return withoutAnswer(results, candidates);
    const winner = candidates.find((c) => c.answer !== null && context.answers.same(vote.answer, c.answer));
    const text = results.find((r) => r.id === winner?.call_id)?.text ?? vote.answer;
    const voters = candidates.filter((c) => c.answer !== null).length;
    const decision = `"${vote.answer}" has ${vote.votes} of ${voters} votes, ${attempts - voters} attempts did not vote`;
    const tie = vote.tied > 1 ? [`${vote.tied} answers tied, the one given first wins`] : [];
    return {
      status: 'answered',
      answer: text,
      call_id: winner?.call_id ?? null,
      candidates,
      decisions: [decision, ...tie],
    };
  },
};

function withoutAnswer(results: readonly CallResult[], candidates: readonly Candidate[]): Outcome {
  if (results.every((r) => r.finish === 'error')) {
    const reasons = [...new Set(results.map(failureOf))].join(', ');
    return { status: 'failed', reason: `all ${results.length} calls failed: ${reasons}`, candidates };
  }
  const cut = results.filter((r) => r.finish === 'length').length;
  const reason = `no attempt gave an answer${cut === 0 ? '' : ` (${cut} of ${results.length} cut at the token limit)`}`;
  return { status: 'abstained', reason, candidates };
}
