import type { CallRequest, CallResult, Candidate, Item, Strategy } from '@perwatt/core';
import * as z from 'zod';
import {
  type AskOptions,
  askChat,
  assistant,
  attemptCall,
  attemptCalls,
  candidateOf,
  hasText,
  opening,
  prefixOf,
  user,
} from './attempt.js';
import { parameters, samplingFields } from './params.js';
import { plurality } from './plurality.js';
import { again } from './sequential-revision.js';
import { voteOutcome } from './votes.js';

const share = z.number().min(0).max(1);

/** Parameters of a strategy that spends calls side by side or one after the other, by how hard an item looks. */
export const ComputeOptimalParams = z
  .strictObject({
    calls: z.int().min(2).max(256).default(8).describe('Calls in all, probes included'),
    probes: z
      .int()
      .min(2)
      .max(255)
      .default(4)
      .describe('Independent attempts at first: their agreement says how hard the item is'),
    edges: z
      .array(share)
      .max(16)
      .default([0.25, 0.5, 0.75, 1])
      .describe('Agreements from which the next bin begins, rising; below the first the hardest'),
    parallel: z
      .array(share)
      .min(1)
      .max(17)
      .default([1, 1, 0.5, 0, 0])
      .describe(
        'For each bin, the hardest first: share of the remaining calls that are new attempts, the others revise',
      ),
    ...samplingFields(0.7),
  })
  .refine(({ calls, probes }) => probes <= calls, { path: ['probes'], error: 'more probes than calls' })
  .refine(({ edges }) => edges.every((edge, i) => edge > (edges[i - 1] ?? -1)), {
    path: ['edges'],
    error: 'they must rise',
  })
  .refine(({ edges, parallel }) => parallel.length === edges.length + 1, {
    path: ['parallel'],
    error: 'one more than there are edges is needed',
  });
/** Parameters that were checked, defaults filled in. */
export type ComputeOptimalParams = z.infer<typeof ComputeOptimalParams>;

/**
 * A fixed number of calls, dealt to new attempts and to revisions of the leading answer by how hard the item looks: the share of
 * the first attempts that agree, which foretells how often the model is right. Which share does best in which bin is found on a calibration
 * split; the defaults are only the direction that was published, revisions for easy items and attempts for hard ones. All
 * answers vote.
 */
export const computeOptimal: Strategy<ComputeOptimalParams> = {
  id: 'compute_optimal',
  version: 1,
  summary: 'deals its calls to new attempts or revisions by how hard the item looks',
  needs: () => ({ endpoints: ['main'] }),
  params: parameters('compute_optimal', ComputeOptimalParams),
  calls: ({ calls }) => calls,
  async *run(item, { calls, probes, edges, parallel, ...params }, context) {
    const options = { params, context };
    const results: CallResult[] = [...(yield attemptCalls(item, options, probes))];
    const read = () => results.map((result) => candidateOf(result, context.answers));
    const agreement = agreementOf(read(), context.answers.same);
    const bin = edges.filter((edge) => agreement >= edge).length;
    const attempts = Math.round((parallel[bin] ?? 0) * (calls - probes));
    if (attempts > 0) {
      const parents = results.map(({ id }) => id);
      results.push(
        ...(yield Array.from({ length: attempts }, (_, i) =>
          attemptCall(item, options, { branch: probes + i, round: 1, parents }),
        )),
      );
    }
    const revisions = calls - results.length;
    let latest = leading(results, read(), context.answers.same);
    let parents = results.map(({ id }) => id);
    for (let made = 0; made < revisions && latest !== undefined; made++) {
      const request = revisionCall(item, { latest, made, parents, after: attempts > 0 ? 2 : 1 }, options);
      const [revised] = yield [request];
      if (revised === undefined) break;
      results.push(revised);
      if (!hasText(revised)) break;
      latest = revised;
      parents = [revised.id];
    }
    const outcome = voteOutcome({ results, candidates: read(), answers: context.answers });
    if (outcome.status !== 'answered') return outcome;
    const said = `agreement ${agreement.toFixed(3)} of ${probes} probes, bin ${bin + 1} of ${parallel.length}: ${attempts} new attempts, ${results.length - probes - attempts} revisions`;
    return { ...outcome, decisions: [said, ...outcome.decisions] };
  },
};

type Same = (a: string, b: string) => boolean;

const voteOf = (candidates: readonly Candidate[], same: Same) =>
  plurality(
    candidates.map(({ answer }) => answer),
    same,
  );

/** Share of the attempts that gave the most frequent answer; those without an answer agree with nobody. */
function agreementOf(candidates: readonly Candidate[], same: Same): number {
  const vote = voteOf(candidates, same);
  return vote.status === 'won' ? vote.votes / candidates.length : 0;
}

/** The first call that gave the most frequent answer; the first with a text where none can be read. */
function leading(
  results: readonly CallResult[],
  candidates: readonly Candidate[],
  same: Same,
): CallResult | undefined {
  const vote = voteOf(candidates, same);
  if (vote.status === 'empty') return results.find(hasText);
  return results.find((_, i) => {
    const answer = candidates[i]?.answer ?? null;
    return answer !== null && same(vote.answer, answer);
  });
}

interface Revision {
  readonly latest: CallResult;
  readonly made: number;
  readonly parents: readonly string[];
  /** Causal depth of the first revision. */
  readonly after: number;
}

const revisionCall = (
  item: Item,
  { latest, made, parents, after }: Revision,
  options: AskOptions,
): CallRequest =>
  askChat(
    {
      id: `revision-${made}`,
      parents,
      role: 'solver',
      messages: [...opening(item.prompt, options.params.system), assistant(latest.text), user(again)],
      round: after + made,
      prefix_key: prefixOf(item),
    },
    options,
  );
