import type { CallResult, Candidate, Strategy, StrategyContext } from '@perwatt/core';
import * as z from 'zod';
import { attemptCall, candidateOf } from './attempt.js';
import { endpointName, parameters, samplingFields } from './params.js';
import { plurality } from './plurality.js';
import { outcomeOf, voteOutcome } from './votes.js';

/** Parameters of a cascade. */
export const CascadeParams = z.strictObject({
  attempts: z.int().min(1).max(1024).default(3).describe('Generations of the weak model'),
  signal: z
    .enum(['agreement', 'logprob'])
    .default('agreement')
    .describe(
      'What tells that the weak model is sure: the winner’s share of its attempts, or their mean log-probability',
    ),
  threshold: z.number().max(1).default(0.67).describe('Below this the item goes on to the strong model'),
  strong: endpointName.default('strong').describe('Endpoint of the stronger model'),
  weak: endpointName.default('weak').describe('Endpoint of the weaker model'),
  ...samplingFields(0.7),
});
/** Parameters that were checked, defaults filled in. */
export type CascadeParams = z.infer<typeof CascadeParams>;

/**
 * Asks the weak model first and the strong one only when the weak one is not sure. Attempts without an answer count against
 * agreement. When the strong call fails the weak model's answer stands.
 */
export const cascade: Strategy<CascadeParams> = {
  id: 'cascade',
  version: 1,
  summary: 'asks a weak model first, a strong one when the weak one is not sure',
  needs: ({ strong, weak, signal }) => ({
    endpoints: [...new Set([weak, strong])],
    ...(signal === 'logprob' && { logprobs: true as const }),
  }),
  params: parameters('cascade', CascadeParams),
  calls: ({ attempts }) => attempts + 1,
  async *run(item, { attempts, ...params }, context) {
    const options = { params, context, logprobs: params.signal === 'logprob' };
    const results = yield Array.from({ length: attempts }, (_, branch) =>
      attemptCall(item, options, { branch, endpoint: params.weak }),
    );
    const candidates = results.map((result) => candidateOf(result, context.answers));
    const certainty = sureness(params.signal, { results, candidates, context });
    const said = `${params.signal} ${certainty === null ? 'is unknown' : certainty.toFixed(3)}, threshold ${params.threshold}`;
    const weakOutcome = voteOutcome({ results, candidates, answers: context.answers });
    if (certainty !== null && certainty >= params.threshold && weakOutcome.status === 'answered')
      return { ...weakOutcome, decisions: [`${said}: ${params.weak} answers`, ...weakOutcome.decisions] };
    const [strong] = yield [
      attemptCall(item, options, {
        id: 'strong',
        branch: 0,
        endpoint: params.strong,
        round: 1,
        parents: results.map((r) => r.id),
      }),
    ];
    if (strong === undefined || strong.finish === 'error') {
      if (weakOutcome.status !== 'answered') return outcomeOf(strong, candidates);
      const decisions = [
        `${said}: ${params.strong} failed, ${params.weak} answers`,
        ...weakOutcome.decisions,
      ];
      return { ...weakOutcome, decisions };
    }
    const all = [...candidates, candidateOf(strong, context.answers)];
    return outcomeOf(strong, all, [`${said}: ${params.strong} answers`]);
  },
};

interface Weak {
  readonly results: readonly CallResult[];
  readonly candidates: readonly Candidate[];
  readonly context: StrategyContext;
}

function sureness(signal: CascadeParams['signal'], { results, candidates, context }: Weak): number | null {
  if (signal === 'agreement') {
    const vote = plurality(
      candidates.map((c) => c.answer),
      context.answers.same,
    );
    return vote.status === 'won' ? vote.votes / candidates.length : 0;
  }
  const known = results.flatMap((r) => (typeof r.mean_logprob === 'number' ? [r.mean_logprob] : []));
  return known.length === 0 ? null : known.reduce((a, b) => a + b, 0) / known.length;
}
