import type { CallRequest, CallResult, Item, Message, Strategy, StrategyContext } from '@perwatt/core';
import * as z from 'zod';
import { askChat, assistant, attemptCall, candidateOf, hasText, opening, prefixOf, user } from './attempt.js';
import { memberEndpoints, shuffled } from './members.js';
import { endpointName, parameters, samplingFields } from './params.js';
import { voteOutcome } from './votes.js';

/** Parameters of a debate. */
export const DebateParams = z.strictObject({
  members: z.int().min(2).max(64).default(3).describe('How many debate'),
  rounds: z.int().min(1).max(16).default(2).describe('Answers of each member, the first included'),
  summaries: z
    .boolean()
    .default(true)
    .describe('Whether the others’ answers are condensed by a call before a member reads them'),
  others: z.int().min(1).max(63).default(5).describe('Most answers of others that a member is told of'),
  generators: z
    .array(endpointName)
    .min(1)
    .default(['main'])
    .describe('Endpoints of the first round: one, or one a member'),
  critics: z
    .array(endpointName)
    .min(1)
    .default(['main'])
    .describe('Endpoints of the later rounds: one, or one a member'),
  summariser: endpointName.default('main').describe('Endpoint that condenses'),
  summary_tokens: z.int().positive().optional().describe('Longest summary; default: that of an answer'),
  ...samplingFields(1),
});
/** Parameters that were checked, defaults filled in. */
export type DebateParams = z.infer<typeof DebateParams>;

/**
 * Members answer on their own, read what the others said, and answer again; the answer given most often in the last round wins. A
 * member never reads its own answer among the others'. One round is a vote. When every call of a later round fails, the round before
 * it counts. A member whose call failed is asked anew in the next
 * round and has nothing to say to the others meanwhile.
 */
export const debate: Strategy<DebateParams> = {
  id: 'debate',
  version: 1,
  summary: 'members answer, read the others, answer again; the last round votes',
  needs: (params) => ({ endpoints: [...new Set(endpointsOf(params).flat())] }),
  params: parameters('debate', DebateParams),
  calls: ({ members, rounds, summaries }) => members * rounds + (summaries ? members * (rounds - 1) : 0),
  async *run(item, params, context) {
    const [generators, critics] = endpointsOf(params);
    const options = { params, context };
    let results = yield generators.map((endpoint, m) =>
      attemptCall(item, options, { id: `member-${m}-0`, role: 'member', endpoint, branch: m }),
    );
    const talks = results.map((result) => ({
      messages: [...opening(item.prompt, params.system), ...said(result)],
      last: result,
    }));
    for (let round = 1; round < params.rounds; round++) {
      const heard = talks.map((_, m) =>
        othersOf(
          talks.map((t) => t.last),
          m,
          { params, context },
        ),
      );
      const summaries: readonly (CallResult | undefined)[] = params.summaries
        ? yield heard.map((others, m) => summaryCall({ item, others, member: m, round }, { params, context }))
        : [];
      const requests = talks.map((talk, m) => {
        talk.messages.push(
          user(advice(params.summaries ? [summaries[m]] : (heard[m] ?? []), params.summaries)),
        );
        const parents = params.summaries
          ? [talk.last.id, `summary-${m}-${round}`]
          : [talk.last.id, ...(heard[m] ?? []).map((r) => r.id)];
        const endpoint = critics[m] ?? 'main';
        const messages = [...talk.messages];
        const stage = params.summaries ? 2 * round : round;
        return askChat(
          {
            id: `member-${m}-${round}`,
            parents,
            role: 'critic',
            endpoint,
            messages,
            round: stage,
            branch: m,
            prefix_key: prefixOf(item),
          },
          options,
        );
      });
      const requested: readonly CallResult[] = yield requests;
      if (!requested.some(hasText)) break;
      results = requested;
      for (const [m, result] of results.entries()) reply(talks[m], result);
    }
    const candidates = results.map((result) => candidateOf(result, context.answers));
    return voteOutcome({ results, candidates, answers: context.answers });
  },
};

interface Talk {
  readonly messages: Message[];
  last: CallResult;
}

const endpointsOf = ({ members, generators, critics, summariser, summaries, rounds }: DebateParams) =>
  [
    memberEndpoints('debate', generators, members),
    rounds === 1 ? [] : memberEndpoints('debate', critics, members),
    rounds > 1 && summaries ? [summariser] : [],
  ] as const;

const said = (result: CallResult): Message[] => (hasText(result) ? [assistant(result.text)] : []);

function reply(talk: Talk | undefined, result: CallResult): void {
  if (talk === undefined) return;
  talk.messages.push(...said(result));
  talk.last = result;
}

/** Answers of the round before that member `me` is told of: not its own, none that failed, in a seeded order. */
function othersOf(
  last: readonly CallResult[],
  me: number,
  { params, context }: { readonly params: DebateParams; readonly context: StrategyContext },
): CallResult[] {
  const others = last.filter((result, m) => m !== me && hasText(result));
  return shuffled(others, context.rng).slice(0, params.others);
}

interface SummaryPlace {
  readonly item: Item;
  readonly others: readonly CallResult[];
  readonly member: number;
  readonly round: number;
}

function summaryCall(
  { item, others, member, round }: SummaryPlace,
  { params, context }: { readonly params: DebateParams; readonly context: StrategyContext },
): CallRequest {
  const text = `Several people answered the task below. Condense their answers: which final answers they give and how many give each, and the main reasons for each.

<task>
${item.prompt}
</task>

${listed(others)}`;
  const { system: _, ...sampling } = params;
  return askChat(
    {
      id: `summary-${member}-${round}`,
      parents: others.map((r) => r.id),
      role: 'summariser',
      endpoint: params.summariser,
      messages: opening(text),
      round: 2 * round - 1,
      branch: member,
    },
    { params: { ...sampling, max_tokens: params.summary_tokens ?? params.max_tokens }, context },
  );
}

const listed = (answers: readonly CallResult[]): string =>
  answers.length === 0
    ? '(nobody gave an answer)'
    : answers.map(({ text }, i) => `<answer number="${i + 1}">\n${text}\n</answer>`).join('\n\n');

function advice(heard: readonly (CallResult | undefined)[], condensed: boolean): string {
  const texts = heard.filter((r): r is CallResult => r !== undefined && hasText(r));
  const what = condensed ? (texts[0]?.text ?? '(nobody gave an answer)') : listed(texts);
  return `This is what others think of the task:

${what}

Take it as advice only. Examine your own work again step by step, then give your updated final answer in the form that was asked for.`;
}
