import type { Answers, CallRequest, CallResult, Candidate, Item, Rng, StrategyContext } from '@perwatt/core';
import type { SingleParams } from './params.js';

/** One independent generation for an item: the same request whichever strategy asks. */
export function attemptCall(
  item: Item,
  params: SingleParams,
  context: Pick<StrategyContext, 'rng' | 'max_tokens'> & { readonly branch: number },
): CallRequest {
  const { temperature, top_p, max_tokens = context.max_tokens, system } = params;
  const user = { role: 'user', content: item.prompt } as const;
  return {
    id: `attempt-${context.branch}`,
    parents: [],
    role: 'solver',
    endpoint: 'main',
    input: {
      kind: 'chat',
      messages: system === undefined ? [user] : [{ role: 'system', content: system }, user],
    },
    sampling: { temperature, top_p, max_tokens, seed: callSeed(context.rng) },
    round: 0,
    branch: context.branch,
    prefix_key: item.id,
  };
}

/** 31 bits: what every server accepts. */
const callSeed = (rng: Rng) => Math.floor(rng() * 2 ** 31);

/** What a call contributes to a vote. A failed or cut call gives no answer. */
export const candidateOf = (result: CallResult, answers: Answers): Candidate => ({
  call_id: result.id,
  answer: result.finish === 'error' || result.finish === 'length' ? null : answers.extract(result.text),
});

/** Why a call failed, for people. */
export const failureOf = (result: CallResult): string => result.error_code ?? 'unknown error';
