import type { CallRequest, CallResult, Candidate, Item, Role, StrategyContext } from '@perwatt/core';
import * as z from 'zod';
import { type AskOptions, askChat, attemptCalls, candidateOf, hasText, opening } from './attempt.js';
import { endpointName, type SamplingParams, samplingFields } from './params.js';

/** Where a score of an attempt may come from. */
export const scoreSources = ['model', 'logprob', 'oracle'] as const;
/** One of `scoreSources`. */
export type ScoreSource = (typeof scoreSources)[number];

/** Parameters of strategies that score attempts. */
export const scoreFields = {
  verifier: z
    .enum(scoreSources)
    .default('model')
    .describe(
      '`model`: a model rates each attempt; `logprob`: mean log-probability of its tokens; `oracle`: the data set’s own grader, an upper bound',
    ),
  verifier_endpoint: endpointName.default('verifier').describe('Endpoint of a verifier that is a model'),
  verifier_tokens: z
    .int()
    .positive()
    .optional()
    .describe('Longest completion of one rating; default: that of an attempt'),
};

/** What scoring needs of the parameters. */
export interface ScoreParams {
  readonly verifier: ScoreSource;
  readonly verifier_endpoint: string;
  readonly verifier_tokens?: number | undefined;
}

/** What `source` needs beside the endpoint that answers. */
export const scoreNeeds = ({ verifier, verifier_endpoint }: ScoreParams) => ({
  endpoints: verifier === 'model' ? [...new Set(['main', verifier_endpoint])] : ['main'],
  ...(verifier === 'logprob' && { logprobs: true as const }),
  ...(verifier === 'oracle' && { oracle: true as const }),
});

/** Parameters of strategies that make attempts and score them. */
export const scoredAttemptFields = {
  attempts: z.int().min(1).max(1024).default(5).describe('Independent generations for an item'),
  ...scoreFields,
  ...samplingFields(0.7),
};

/** Calls of attempts with their scores. */
export const scoredCalls = ({ attempts, verifier }: ScoreParams & { readonly attempts: number }): number =>
  attempts * (verifier === 'model' ? 2 : 1);

const ratingRequest = (task: string, solution: string) =>
  `Rate a proposed solution. Check its steps and its final answer against the task.

<task>
${task}
</task>

<solution>
${solution}
</solution>

End with one line "Score: n", where n is a whole number from 0 (certainly wrong) to 10 (certainly right).`;

/** A rating as a share, 0…1: the last "Score: n" with n from 0 to 10; null when there is none. */
export function readRating(text: string): number | null {
  const found = [...text.matchAll(/score\**\s*[:=]\s*\**\s*(-?\d+(?:\.\d+)?)(?:\s*\/\s*10\b)?/gi)].at(-1);
  const value = Number(found?.[1]);
  return found === undefined || value < 0 || value > 10 ? null : value / 10;
}

/**
 * Scores of attempts, greater is better, in their order; null for an attempt without text and for a verdict that can't be read.
 * A verifier that is a model is asked in one batch, greedily.
 */
export async function* scoreAttempts(
  item: Item,
  results: readonly CallResult[],
  options: AskOptions & { readonly scoring: ScoreParams; readonly context: StrategyContext },
): AsyncGenerator<readonly CallRequest[], (number | null)[], readonly CallResult[]> {
  const { scoring, context } = options;
  if (scoring.verifier === 'oracle')
    return results.map((r) => (hasText(r) ? Number(checked(r, context)) : null));
  if (scoring.verifier === 'logprob')
    return results.map((r) => (hasText(r) ? (r.mean_logprob ?? null) : null));
  const rated = results.filter(hasText);
  if (rated.length === 0) return results.map(() => null);
  const ratings = yield rated.map((result, branch) =>
    ratingCall(item, result, { ...options, branch, role: 'verifier' }),
  );
  const byAttempt = new Map(rated.map((result, i) => [result.id, ratingOf(ratings[i])]));
  return results.map((result) => byAttempt.get(result.id) ?? null);
}

/** Attempts with what a verifier gave them. */
export interface ScoredAttempts {
  readonly results: readonly CallResult[];
  /** With their scores. */
  readonly candidates: readonly Candidate[];
  readonly scores: readonly (number | null)[];
}

/** Makes independent attempts and scores them. */
export async function* scoredAttempts(
  item: Item,
  params: ScoreParams & SamplingParams & { readonly attempts: number },
  context: StrategyContext,
): AsyncGenerator<readonly CallRequest[], ScoredAttempts, readonly CallResult[]> {
  const options = { params, context, logprobs: params.verifier === 'logprob' };
  const results = yield attemptCalls(item, options, params.attempts);
  const scores = yield* scoreAttempts(item, results, { params, scoring: params, context });
  const candidates = results.map((result, i) => ({
    ...candidateOf(result, context.answers),
    score: scores[i] ?? null,
  }));
  return { results, candidates, scores };
}

function ratingCall(
  item: Item,
  result: CallResult,
  options: AskOptions & { readonly scoring: ScoreParams; readonly branch: number; readonly role: Role },
): CallRequest {
  const { scoring, params, context, branch, role } = options;
  const max_tokens = scoring.verifier_tokens ?? params.max_tokens;
  return askChat(
    {
      id: `rating-${result.id}`,
      parents: [result.id],
      role,
      endpoint: scoring.verifier_endpoint,
      messages: opening(ratingRequest(item.prompt, result.text)),
      round: 1,
      branch,
    },
    { params: { temperature: 0, top_p: 1, max_tokens }, context },
  );
}

const ratingOf = (rating: CallResult | undefined): number | null =>
  rating === undefined || rating.finish === 'error' ? null : readRating(rating.text);

/** Whether the data set's grader takes a call's text for right. Throws `RangeError` when the context has no oracle. */
export function checked(call: CallResult, { check }: Pick<StrategyContext, 'check'>): boolean {
  if (check === undefined) throw new RangeError('the strategy needs an oracle and was given none');
  return check(call);
}
