import type { CallRequest, CallResult, Item, Outcome, Strategy, StrategyContext } from '@perwatt/core';
import * as z from 'zod';
import { callSeed, candidateOf, prefixOf } from './attempt.js';
import { parameters, samplingFields } from './params.js';
import { outcomeOf } from './votes.js';

const { max_tokens: _, ...sampling } = samplingFields(0);

/** Parameters of a strategy that sets how long a model thinks. */
export const BudgetForcingParams = z.strictObject({
  thinking_tokens: z.int().positive().default(512).describe('Most tokens of thinking, over all its pieces'),
  ignores: z.int().min(0).max(64).default(1).describe('How often an end of thinking is ignored'),
  answer_tokens: z
    .int()
    .positive()
    .optional()
    .describe('Longest final answer; default: `max_tokens` of the cell'),
  template: z
    .string()
    .includes('{prompt}')
    .default('Question: {prompt}\nAnswer: ')
    .describe('Text around the prompt, in the model’s own format; `{prompt}` stands for the prompt'),
  think_open: z.string().min(1).default('<think>\n').describe('Begins thinking'),
  think_close: z.string().min(1).default('</think>').describe('Ends thinking'),
  nudge: z.string().min(1).default('Wait').describe('Put in place of an ignored end'),
  final: z.string().min(1).default('\nFinal Answer:').describe('Put after thinking to call for the answer'),
  ...sampling,
});
/** Parameters that were checked, defaults filled in. */
export type BudgetForcingParams = z.infer<typeof BudgetForcingParams>;

/**
 * Makes thinking longer or shorter than the model would: an end of thinking is replaced by a nudge a given number of times, and at
 * the cap thinking is closed and the answer called for. Each continuation sends the text so far again; what the server had in its
 * cache of that is counted as `cached_tokens`. An answer without a usage block counts as long as it was allowed to be, so that
 * the cap holds.
 */
export const budgetForcing: Strategy<BudgetForcingParams> = {
  id: 'budget_forcing',
  version: 1,
  summary: 'forces the model to think longer, or to stop thinking',
  needs: () => ({ endpoints: ['main'], completions: true }),
  params: parameters('budget_forcing', BudgetForcingParams),
  calls: ({ ignores }) => ignores + 2,
  async *run(item, params, context) {
    const lead = params.system === undefined ? '' : `${params.system}\n\n`;
    const head = `${lead}${params.template.replace('{prompt}', () => item.prompt)}${params.think_open}`;
    const thought: Thought = { text: '', tokens: 0, nudges: 0, last: null, failed: null };
    while (thought.tokens < params.thinking_tokens) {
      const left = params.thinking_tokens - thought.tokens;
      const [piece] = yield [
        goOn(head + thought.text, {
          item,
          params,
          context,
          thought,
          max_tokens: left,
          stop: params.think_close,
        }),
      ];
      think(thought, piece, left);
      if (thought.failed !== null || piece?.finish === 'length' || thought.nudges >= params.ignores) break;
      thought.nudges += 1;
      thought.text += params.nudge;
    }
    if (thought.failed !== null) return outcomeOf(thought.failed, []);
    const whole = `${head}${thought.text}${params.think_close}${params.final}`;
    const max_tokens = params.answer_tokens ?? context.max_tokens;
    const [answer] = yield [goOn(whole, { item, params, context, thought, max_tokens })];
    return finished(answer, thought, context);
  },
};

interface Thought {
  text: string;
  tokens: number;
  nudges: number;
  /** Id of the latest piece. */
  last: string | null;
  failed: CallResult | null;
}

interface Piece {
  readonly item: Item;
  readonly params: BudgetForcingParams;
  readonly context: StrategyContext;
  readonly thought: Thought;
  readonly max_tokens: number;
  readonly stop?: string;
}

function goOn(prompt: string, { item, params, context, thought, max_tokens, stop }: Piece): CallRequest {
  const { temperature, top_p } = params;
  return {
    id: stop === undefined ? 'answer' : `thinking-${thought.nudges}`,
    parents: thought.last === null ? [] : [thought.last],
    role: 'solver',
    endpoint: 'main',
    input: { kind: 'completion', prompt },
    sampling: {
      temperature,
      top_p,
      max_tokens,
      seed: callSeed(context.rng),
      ...(stop !== undefined && { stop: [stop] }),
    },
    round: stop === undefined ? thought.nudges + 1 : thought.nudges,
    branch: 0,
    prefix_key: prefixOf(item),
  };
}

function think(thought: Thought, piece: CallResult | undefined, allowed: number): void {
  if (piece === undefined || piece.finish === 'error') {
    thought.failed = piece ?? null;
    return;
  }
  thought.text += piece.text;
  thought.tokens += piece.usage?.completion_tokens ?? allowed;
  thought.last = piece.id;
}

function finished(answer: CallResult | undefined, thought: Thought, context: StrategyContext): Outcome {
  if (answer === undefined || answer.finish === 'error') return outcomeOf(answer, []);
  const decisions = [`thought for ${thought.tokens} tokens, ${thought.nudges} ends of thinking ignored`];
  const text = `Final Answer:${answer.text}`;
  return outcomeOf({ ...answer, text }, [candidateOf({ ...answer, text }, context.answers)], decisions);
}
