import type { Candidate, Strategy } from '@perwatt/core';
import * as z from 'zod';
import { parameters } from './params.js';
import { scoredAttemptFields, scoredAttempts, scoredCalls, scoreNeeds } from './scores.js';
import { answeredBy, voteOutcome, withoutAnswer } from './votes.js';

/** Parameters of a vote that a verifier weighs. */
export const WeightedVoteParams = z.strictObject(scoredAttemptFields);
/** Parameters that were checked, defaults filled in. */
export type WeightedVoteParams = z.infer<typeof WeightedVoteParams>;

/**
 * Asks several times, adds up a verifier's scores for each answer, takes the answer with the greatest sum. Log-probabilities
 * weigh by their exponential, so that every weight is positive. Without any readable score it is a plain vote, and says so.
 */
export const weightedVote: Strategy<WeightedVoteParams> = {
  id: 'weighted_vote',
  version: 1,
  summary: 'asks several times, takes the answer whose attempts a verifier scores highest in sum',
  needs: (params) => scoreNeeds(params),
  params: parameters('weighted_vote', WeightedVoteParams),
  calls: scoredCalls,
  async *run(item, params, context) {
    const { results, candidates, scores } = yield* scoredAttempts(item, params, context);
    const ballot = { results, candidates, answers: context.answers };
    if (candidates.every((c) => c.answer === null)) return withoutAnswer(results, candidates);
    if (scores.every((score) => score === null)) return plain(ballot);
    const weight = (score: number) => (params.verifier === 'logprob' ? Math.exp(score) : score);
    const classes = sums(candidates, context.answers.same, weight);
    const best = classes.reduce((a, b) => (b.sum > a.sum ? b : a));
    const unread = scores.filter((score) => score === null).length;
    return answeredBy(best.answer, ballot, [
      `"${best.answer}" has a score of ${best.sum.toFixed(3)} in sum over ${classes.length} answers, ${unread} attempts have no score`,
    ]);
  },
};

function plain(ballot: Parameters<typeof voteOutcome>[0]) {
  const outcome = voteOutcome(ballot);
  if (outcome.status !== 'answered') return outcome;
  return {
    ...outcome,
    decisions: ['no score could be read, each attempt counts once', ...outcome.decisions],
  };
}

function sums(
  candidates: readonly Candidate[],
  same: (a: string, b: string) => boolean,
  weight: (score: number) => number,
): { readonly answer: string; sum: number }[] {
  const classes: { readonly answer: string; sum: number }[] = [];
  for (const { answer, score = null } of candidates) {
    if (answer === null) continue;
    const mine = score === null ? 0 : weight(score);
    const known = classes.find((c) => same(c.answer, answer));
    if (known === undefined) classes.push({ answer, sum: mine });
    else known.sum += mine;
  }
  return classes;
}
