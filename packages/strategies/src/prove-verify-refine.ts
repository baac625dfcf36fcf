import type { CallRequest, CallResult, Item, Outcome, Strategy, StrategyContext } from '@perwatt/core';
import * as z from 'zod';
import { type AskOptions, askChat, candidateOf, hasText, opening, prefixOf } from './attempt.js';
import { endpointName, parameters, samplingFields } from './params.js';
import {
  evaluationPrompt,
  metaPrompt,
  proofPrompt,
  readVerdict,
  refinePrompt,
  solutionOf,
} from './proof-texts.js';
import { withoutAnswer } from './votes.js';

/** Parameters of a search for a solution that withstands examination. */
export const ProveVerifyRefineParams = z.strictObject({
  pool: z.int().min(1).max(128).default(4).describe('Solutions written in each round'),
  verifications: z.int().min(1).max(128).default(4).describe('Examinations of each solution'),
  rounds: z.int().min(1).max(64).default(2).describe('Most rounds, the first included'),
  parents: z.int().min(1).max(128).default(2).describe('Best solutions that the next round starts from'),
  analyses: z
    .int()
    .min(1)
    .max(64)
    .default(4)
    .describe('Examinations of a parent that its refinement is shown, the lowest first'),
  meta: z.boolean().default(true).describe('Whether low examinations are examined themselves'),
  meta_below: z.number().min(0).max(1).default(0.75).describe('Scores up to this one are examined'),
  verifier_endpoint: endpointName.default('verifier').describe('Endpoint that examines'),
  verifier_tokens: z.int().positive().optional().describe('Longest examination; default: that of a solution'),
  ...samplingFields(1),
});
/** Parameters that were checked, defaults filled in. */
export type ProveVerifyRefineParams = z.infer<typeof ProveVerifyRefineParams>;

/** From this mean score on a solution counts as faultless and the search stops. */
const FAULTLESS = 0.99999;

/**
 * Writes solutions, has each examined several times (0, ½ or 1), has low examinations examined in turn, and refines the best. A
 * solution's quality is the mean of its readable examinations without those whose defects turned out to be invented; one without
 * any has none and ranks last. Ends early when a solution is faultless. A refinement call may fail: the pool keeps what it had.
 */
export const proveVerifyRefine: Strategy<ProveVerifyRefineParams> = {
  id: 'prove_verify_refine',
  version: 1,
  summary: 'writes solutions, examines them, examines the examinations, refines the best',
  needs: ({ verifier_endpoint }) => ({ endpoints: [...new Set(['main', verifier_endpoint])] }),
  params: parameters('prove_verify_refine', ProveVerifyRefineParams),
  calls: ({ pool, verifications, rounds, meta }) => rounds * pool * (1 + verifications * (meta ? 2 : 1)),
  async *run(item, params, context) {
    const search: Search = { item, params, context, proofs: [], results: [] };
    for (let round = 0; round < params.rounds; round++) {
      const written: readonly CallResult[] = yield writeCalls(search, round);
      search.results.push(...written);
      const fresh = written.filter(hasText).map((result) => newProof(result));
      if (fresh.length > 0) {
        yield* examine(search, fresh, round);
        search.proofs.push(...fresh);
      }
      const best = ranked(search.proofs)[0];
      if ((best?.quality ?? 0) > FAULTLESS) break;
    }
    return chosen(search);
  },
};

/** One examination of a solution. */
interface Evaluation {
  readonly call: CallResult;
  readonly score: number | null;
  /** What the examination of this examination gave; null when there was none or it can't be read. */
  meta: number | null;
}

interface Proof {
  readonly call: CallResult;
  readonly solution: string;
  evaluations: Evaluation[];
  /** Mean score; null when no examination counts. */
  quality: number | null;
}

interface Search {
  readonly item: Item;
  readonly params: ProveVerifyRefineParams;
  readonly context: StrategyContext;
  readonly proofs: Proof[];
  /** Every writing call. */
  readonly results: CallResult[];
}

const newProof = (call: CallResult): Proof => ({
  call,
  solution: solutionOf(call.text),
  evaluations: [],
  quality: null,
});

/** Best first; of equal ones the earlier. */
const ranked = (proofs: readonly Proof[]): Proof[] =>
  [...proofs].sort((a, b) => (b.quality ?? -1) - (a.quality ?? -1));

function writeCalls({ item, params, context, proofs }: Search, round: number): CallRequest[] {
  const parents = ranked(proofs).slice(0, params.parents);
  return Array.from({ length: params.pool }, (_, branch) => {
    const parent = parents[branch % Math.max(1, parents.length)];
    const shown = parent === undefined ? [] : lowestFirst(parent.evaluations).slice(0, params.analyses);
    const text =
      parent === undefined
        ? proofPrompt(item.prompt)
        : refinePrompt(item.prompt, { solution: parent.call.text, analyses: shown.map((e) => e.call.text) });
    const stage = 3 * round;
    return askChat(
      {
        id: `proof-${round}-${branch}`,
        parents: parent === undefined ? [] : [parent.call.id, ...shown.map((e) => e.call.id)],
        role: 'solver',
        messages: opening(text, params.system),
        round: stage,
        branch,
        prefix_key: parent === undefined ? prefixOf(item) : `${item.id}/${parent.call.id}`,
      },
      { params, context },
    );
  });
}

const lowestFirst = (evaluations: readonly Evaluation[]): Evaluation[] =>
  evaluations.filter(counts).sort((a, b) => (a.score ?? 0) - (b.score ?? 0));

/** An examination counts when its score can be read and its defects are not all invented. */
const counts = ({ score, meta }: Evaluation): boolean => score !== null && meta !== 0;

async function* examine(
  search: Search,
  proofs: readonly Proof[],
  round: number,
): AsyncGenerator<readonly CallRequest[], void, readonly CallResult[]> {
  const { item, params, context } = search;
  const { system: _, ...sampling } = params;
  const options = {
    params: { ...sampling, max_tokens: params.verifier_tokens ?? params.max_tokens },
    context,
  };
  const endpoint = params.verifier_endpoint;
  const pairs = proofs.flatMap((proof) =>
    Array.from({ length: params.verifications }, (__, v) => ({ proof, v })),
  );
  const verdicts = yield pairs.map(({ proof, v }, branch) =>
    askChat(
      {
        id: `verify-${proof.call.id}-${v}`,
        parents: [proof.call.id],
        role: 'verifier',
        endpoint,
        messages: opening(evaluationPrompt(item.prompt, proof.solution)),
        round: 3 * round + 1,
        branch,
        prefix_key: `${item.id}/${proof.call.id}/verify`,
      },
      options,
    ),
  );
  for (const [i, { proof }] of pairs.entries()) {
    const call = verdicts[i];
    if (call !== undefined && hasText(call))
      proof.evaluations.push({ call, score: readVerdict(call.text), meta: null });
  }
  if (params.meta) yield* examineExaminations(search, proofs, { round, options });
  for (const proof of proofs) proof.quality = mean(proof.evaluations.filter(counts).map((e) => e.score ?? 0));
}

async function* examineExaminations(
  { item, params }: Search,
  proofs: readonly Proof[],
  { round, options }: { readonly round: number; readonly options: AskOptions },
): AsyncGenerator<readonly CallRequest[], void, readonly CallResult[]> {
  const doubtful = proofs.flatMap((proof) =>
    proof.evaluations
      .filter(({ score }) => score !== null && score <= params.meta_below)
      .map((evaluation) => ({ proof, evaluation })),
  );
  if (doubtful.length === 0) return;
  const judged = yield doubtful.map(({ proof, evaluation }, branch) =>
    askChat(
      {
        id: `meta-${evaluation.call.id}`,
        parents: [evaluation.call.id],
        role: 'meta',
        endpoint: params.verifier_endpoint,
        messages: opening(
          metaPrompt(item.prompt, { solution: proof.solution, analysis: evaluation.call.text }),
        ),
        round: 3 * round + 2,
        branch,
      },
      options,
    ),
  );
  for (const [i, { evaluation }] of doubtful.entries()) {
    const call = judged[i];
    evaluation.meta = call !== undefined && hasText(call) ? readVerdict(call.text) : null;
  }
}

const mean = (values: readonly number[]): number | null =>
  values.length === 0 ? null : values.reduce((a, b) => a + b, 0) / values.length;

function chosen({ proofs, results, context }: Search): Outcome {
  const candidates = results.map((result) => {
    const proof = proofs.find((p) => p.call.id === result.id);
    const read = candidateOf({ ...result, text: proof?.solution ?? result.text }, context.answers);
    return { ...read, score: proof?.quality ?? null };
  });
  const best = ranked(proofs)[0];
  if (best === undefined) return withoutAnswer(results, candidates);
  const of = `${best.evaluations.filter(counts).length} of ${best.evaluations.length} examinations`;
  const quality =
    best.quality === null
      ? 'no readable examination'
      : `a mean score of ${best.quality.toFixed(3)} over ${of}`;
  return {
    status: 'answered',
    answer: best.solution,
    call_id: best.call.id,
    candidates,
    decisions: [`${best.call.id} has ${quality}`],
  };
}
