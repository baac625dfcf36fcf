import type { CallRequest, CallResult, Item, Strategy, StrategyContext } from '@perwatt/core';
import * as z from 'zod';
import { askChat, attemptCall, candidateOf, hasText, opening, prefixOf } from './attempt.js';
import { objectIn } from './hermes.js';
import { endpointName, parameters, samplingFields } from './params.js';
import { languageOf } from './programs.js';
import { outcomeOf } from './votes.js';

/** Parameters of a strategy that sets itself tasks before it solves one. */
export const ProposeSolveParams = z.strictObject({
  proposals: z.int().min(1).max(64).default(2).describe('Tasks that the model sets itself'),
  estimate: z
    .int()
    .min(0)
    .max(64)
    .default(2)
    .describe('Attempts at each valid task, for its success rate; 0: none'),
  proposer: endpointName.default('main').describe('Endpoint that proposes'),
  ...samplingFields(1),
});
/** Parameters that were checked, defaults filled in. */
export type ProposeSolveParams = z.infer<typeof ProposeSolveParams>;

/** A task that the model set itself: what `program` gives for `input` was found by running it. */
export interface Proposal {
  readonly program: string;
  readonly input: string;
  readonly output: string;
}

/**
 * Reward of a proposer for a task that is solved at rate `r`, 0…1: 0 when it is never solved, else 1 − r. Null without attempts.
 */
export const proposerReward = (r: number | null): number | null => (r === null ? null : r === 0 ? 0 : 1 - r);

/**
 * Proposes small programs with an input, in the style of the item; keeps those that run and give the same output twice; tries to
 * tell their outputs; then solves the item with the valid ones as worked examples. Decisions carry the share of valid tasks and
 * each one's success rate and reward. Invalid proposals never become examples.
 */
export const proposeSolve: Strategy<ProposeSolveParams> = {
  id: 'propose_solve',
  version: 1,
  summary: 'sets itself tasks that can be checked by running them, then solves with them as examples',
  needs: ({ proposer }) => ({ endpoints: [...new Set(['main', proposer])], language: true }),
  params: parameters('propose_solve', ProposeSolveParams),
  calls: ({ proposals, estimate }) => proposals * (1 + estimate) + 1,
  async *run(item, params, context) {
    const said = yield proposalCalls(item, { params, context });
    const read = said.map((result) => readProposal(result, context));
    const decisions = [
      `${read.filter((r) => typeof r !== 'string').length} of ${read.length} proposals are valid`,
    ];
    const valid = read.flatMap((proposal, at) => (typeof proposal === 'string' ? [] : [{ proposal, at }]));
    for (const [i, reason] of read.entries())
      if (typeof reason === 'string') decisions.push(`proposal ${i + 1}: ${reason}`);
    const tries = valid.flatMap(({ proposal, at }) => tryCalls(proposal, at, { params, context }));
    const tried = tries.length === 0 ? [] : yield tries;
    for (const { proposal, at } of valid) {
      const mine = tried.filter((result) => result.id.startsWith(`try-${at}-`));
      const solved = mine.filter((result) => tells(result, proposal, context)).length;
      const reward = proposerReward(mine.length === 0 ? null : solved / mine.length);
      decisions.push(
        `proposal ${at + 1}: valid, solved ${solved} of ${mine.length}${reward === null ? '' : `, reward ${Number(reward.toFixed(4))}`}`,
      );
    }
    const prompt = withExamples(
      item.prompt,
      valid.map(({ proposal }) => proposal),
    );
    const results = yield [
      attemptCall(
        { ...item, prompt },
        { params, context },
        { id: 'solve', branch: 0, round: 2, parents: [...said, ...tried].map((r) => r.id) },
      ),
    ];
    const candidates = results.map((result) => candidateOf(result, context.answers));
    return outcomeOf(results[0], candidates, decisions);
  },
};

interface Options {
  readonly params: ProposeSolveParams;
  readonly context: StrategyContext;
}

const proposalCalls = (item: Item, { params, context }: Options): CallRequest[] =>
  Array.from({ length: params.proposals }, (_, branch) =>
    askChat(
      {
        id: `propose-${branch}`,
        role: 'proposer',
        endpoint: params.proposer,
        messages: opening(
          `${languageOf(context).description}\n\nHere is a task about such a program:\n\n${item.prompt}\n\nDo not solve it. Make up a new and different program of the same kind, with one input, that is instructive but not trivial. Reply with one JSON object: {"program": "…", "input": "…"}.`,
          params.system,
        ),
        branch,
        prefix_key: prefixOf(item),
      },
      { params, context },
    ),
  );

/** A proposal that runs and is deterministic, or why it is none. */
function readProposal(result: CallResult, context: StrategyContext): Proposal | string {
  if (!hasText(result)) return 'no text';
  const object = objectIn(result.text);
  const program = object?.['program'];
  const given = object?.['input'];
  if (typeof program !== 'string' || given === undefined || given === null) return 'no program with an input';
  const input = typeof given === 'string' ? given : JSON.stringify(given);
  const [first, second] = [languageOf(context).run(program, input), languageOf(context).run(program, input)];
  if (!first.ok) return `does not run: ${first.reason}`;
  if (!second.ok || second.output !== first.output) return 'gives another output the second time';
  return { program, input, output: first.output };
}

const tryCalls = ({ program, input }: Proposal, at: number, { params, context }: Options): CallRequest[] =>
  Array.from({ length: params.estimate }, (_, branch) =>
    askChat(
      {
        id: `try-${at}-${branch}`,
        parents: [`propose-${at}`],
        role: 'solver',
        messages: opening(
          `${languageOf(context).description}\n\nWhat does this program give for the input ${input}?\n\`\`\`\n${program}\n\`\`\`\nEnd with a line "Answer: output".`,
          params.system,
        ),
        round: 1,
        branch,
      },
      { params, context },
    ),
  );

const tells = (result: CallResult, { output }: Proposal, context: StrategyContext): boolean => {
  const said = /answer\s*:\s*(.+?)\s*$/im.exec(result.text)?.[1] ?? result.text.trim();
  return result.finish !== 'error' && (said === output || context.answers.same(said, output));
};

const withExamples = (prompt: string, proposals: readonly Proposal[]): string =>
  proposals.length === 0
    ? prompt
    : `Worked examples:\n\n${proposals
        .map(
          ({ program, input, output }) =>
            `\`\`\`\n${program}\n\`\`\`\nfor the input ${input} gives ${output}`,
        )
        .join('\n\n')}\n\n${prompt}`;
