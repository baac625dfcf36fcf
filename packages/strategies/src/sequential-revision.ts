import type { CallResult, Message, Strategy } from '@perwatt/core';
import * as z from 'zod';
import { askChat, assistant, candidateOf, hasText, opening, prefixOf, user } from './attempt.js';
import { parameters, samplingFields } from './params.js';
import { scoreAttempts, scoreFields, scoreNeeds } from './scores.js';
import { outcomeOf, voteOutcome, withoutAnswer } from './votes.js';

/** Parameters of a strategy that lets a model work over its own answer. */
export const SequentialRevisionParams = z.strictObject({
  rounds: z.int().min(1).max(64).default(3).describe('Answers in a row, the first included'),
  select: z
    .enum(['last', 'vote', 'verifier'])
    .default('last')
    .describe(
      'Which round counts: the last, the answer given most often, or the one a verifier scores highest',
    ),
  history: z
    .int()
    .min(1)
    .max(64)
    .default(1)
    .describe('Earlier answers that a round is shown, the latest first to stay'),
  ...scoreFields,
  ...samplingFields(0.7),
});
/** Parameters that were checked, defaults filled in. */
export type SequentialRevisionParams = z.infer<typeof SequentialRevisionParams>;

/** What a model is told that is to look over its answer. */
export const again =
  'Look over your answer once more: recompute each step, mend what is wrong. Then give your final answer in the form that was asked for.';

/** Asks, then lets the model revise its own answer round by round. Its calls stand in one chain: sequential tokens are all tokens. */
export const sequentialRevision: Strategy<SequentialRevisionParams> = {
  id: 'sequential_revision',
  version: 1,
  summary: 'lets the model revise its own answer round by round',
  needs: (params) => (params.select === 'verifier' ? scoreNeeds(params) : { endpoints: ['main'] }),
  params: parameters('sequential_revision', SequentialRevisionParams),
  calls: ({ rounds, select, verifier }) => rounds * (select === 'verifier' && verifier === 'model' ? 2 : 1),
  async *run(item, { rounds, select, history, ...params }, context) {
    const results: CallResult[] = [];
    for (let round = 0; round < rounds; round++) {
      const shown = results.slice(-history);
      const messages: Message[] = [
        ...opening(item.prompt, params.system),
        ...shown.flatMap(({ text }) => [assistant(text), user(again)]),
      ];
      const parents = results.slice(-1).map((r) => r.id);
      const id = `round-${round}`;
      const [result] = yield [
        askChat(
          { id, parents, role: 'solver', messages, round, prefix_key: prefixOf(item) },
          { params, context },
        ),
      ];
      if (result === undefined || !hasText(result)) {
        if (result !== undefined && results.length === 0) results.push(result);
        break;
      }
      results.push(result);
    }
    const candidates = results.map((result) => candidateOf(result, context.answers));
    if (!results.some(hasText)) return withoutAnswer(results, candidates);
    if (select === 'vote') return voteOutcome({ results, candidates, answers: context.answers });
    if (select === 'last')
      return outcomeOf(results.at(-1), candidates, [`round ${results.length} of ${rounds} counts`]);
    const scores = yield* scoreAttempts(item, results, { params, scoring: params, context });
    const best = scores.reduce<number>(
      (top, s, i) => ((s ?? -Infinity) > (scores[top] ?? -Infinity) ? i : top),
      0,
    );
    return outcomeOf(
      results[best],
      candidates.map((candidate, i) => ({ ...candidate, score: scores[i] ?? null })),
      [`round ${best + 1} of ${rounds} has the highest score`],
    );
  },
};
