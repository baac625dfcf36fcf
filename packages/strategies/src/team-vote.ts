import type { Candidate, Strategy } from '@perwatt/core';
import * as z from 'zod';
import { attemptCall, candidateOf } from './attempt.js';
import { endpointName, parameters, samplingFields } from './params.js';
import { voteOutcome } from './votes.js';

const { system, ...sampling } = samplingFields(0.8);
const Member = z.strictObject({
  endpoint: endpointName.describe('Endpoint that this member asks'),
  temperature: sampling.temperature.unwrap().optional(),
  top_p: sampling.top_p.unwrap().optional(),
  max_tokens: sampling.max_tokens,
});

/** Parameters of a team whose members answer on their own and vote. */
export const TeamVoteParams = z.strictObject({
  members: z
    .array(z.union([endpointName.transform((endpoint) => ({ endpoint })), Member]))
    .min(1)
    .max(64)
    .default([{ endpoint: 'main' }, { endpoint: 'strong' }, { endpoint: 'weak' }])
    .describe('Endpoint of each member, or an object with its endpoint and its own sampling'),
  attempts: z.int().min(1).max(1024).default(1).describe('Independent generations of each member'),
  masked: z
    .array(z.int().min(0))
    .default([])
    .describe('Members, counted from 0, that stay silent and cost nothing'),
  ...sampling,
  system,
});
/** Parameters that were checked, defaults filled in. */
export type TeamVoteParams = z.infer<typeof TeamVoteParams>;

const active = ({ members, masked }: TeamVoteParams) =>
  members.map((member, index) => ({ member, index })).filter(({ index }) => !masked.includes(index));

/**
 * Members, each with its own endpoint and sampling, answer the same prompt on their own; the answer given most often wins. Nobody
 * coordinates. A masked member sends nothing, and the others' requests and seeds stay what they were: each member draws seeds of
 * its own.
 */
export const teamVote: Strategy<TeamVoteParams> = {
  id: 'team_vote',
  version: 1,
  summary: 'members answer on their own, the answer given most often wins',
  needs: (params) => ({ endpoints: [...new Set(active(params).map(({ member }) => member.endpoint))] }),
  params: parameters('team_vote', TeamVoteParams),
  calls: (params) => active(params).length * params.attempts,
  async *run(item, params, context) {
    const { members, attempts, masked: _, ...shared } = params;
    const requests = members.map((member, m) =>
      Array.from({ length: attempts }, (__, a) => {
        const { endpoint, ...own } = member;
        const branch = m * attempts + a;
        const options = { params: { ...shared, ...given(own) }, context };
        return attemptCall(item, options, { id: `member-${m}-${a}`, role: 'member', endpoint, branch });
      }),
    );
    const asked = active(params).flatMap(({ index }) => requests[index] ?? []);
    if (asked.length === 0) return { status: 'abstained', reason: 'every member is masked', candidates: [] };
    const results = yield asked;
    const candidates = results.map((result) => candidateOf(result, context.answers));
    const outcome = voteOutcome({ results, candidates, answers: context.answers });
    if (outcome.status !== 'answered') return outcome;
    const shares = active(params).map(({ index }) => share(index, candidates));
    return { ...outcome, decisions: [...outcome.decisions, `answers by member: ${shares.join(', ')}`] };
  },
};

const given = (own: Omit<z.infer<typeof Member>, 'endpoint'>) =>
  Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined));

function share(member: number, candidates: readonly Candidate[]): string {
  const mine = candidates.filter((c) => c.call_id.startsWith(`member-${member}-`));
  return `${member}: ${mine.map((c) => (c.answer === null ? 'none' : `"${c.answer}"`)).join(' ')}`;
}
