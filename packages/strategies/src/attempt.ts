import type {
  Answers,
  CallRequest,
  CallResult,
  Candidate,
  Item,
  Message,
  Role,
  StrategyContext,
  ToolSpec,
} from '@perwatt/core';
import type { SamplingParams } from './params.js';

/** What a strategy says of one request; the rest follows from its parameters. */
export interface Ask {
  readonly id: string;
  readonly role: Role;
  readonly messages: readonly Message[];
  readonly parents?: readonly string[];
  /** Default `main`. */
  readonly endpoint?: string;
  readonly tools?: readonly ToolSpec[];
  readonly round?: number;
  readonly branch?: number;
  /** Calls of one key start with the same text. */
  readonly prefix_key?: string;
}

/** Where sampling and seeds of a request come from. */
export interface AskOptions {
  readonly params: SamplingParams;
  readonly context: Pick<StrategyContext, 'rng' | 'max_tokens'>;
  /** Whether the tokens' probabilities are asked for. */
  readonly logprobs?: boolean;
}

/** A chat request. Seeds are drawn in the order in which requests are made. */
export function askChat(ask: Ask, { params, context, logprobs = false }: AskOptions): CallRequest {
  const { temperature, top_p, max_tokens = context.max_tokens } = params;
  const { messages, tools, parents = [], endpoint = 'main', round = 0, branch = 0, ...rest } = ask;
  return {
    ...rest,
    parents,
    endpoint,
    input: { kind: 'chat', messages, ...(tools !== undefined && { tools }) },
    sampling: { temperature, top_p, max_tokens, seed: callSeed(context.rng), ...(logprobs && { logprobs }) },
    round,
    branch,
  };
}

/** 31 bits: what every server accepts. */
export const callSeed = (rng: StrategyContext['rng']): number => Math.floor(rng() * 2 ** 31);

/** A turn of the user. */
export const user = (content: string): Message => ({ role: 'user', content });

/** A turn of the model. */
export const assistant = (content: string): Message => ({ role: 'assistant', content });

/** A chat's beginning: the system message if there is one, and what the user says. */
export const opening = (content: string, system?: string): Message[] =>
  system === undefined ? [user(content)] : [{ role: 'system', content: system }, user(content)];

/** One independent generation for an item: the same request whichever strategy asks. */
export function attemptCall(
  item: Item,
  options: AskOptions,
  ask: Partial<Omit<Ask, 'messages'>> & { readonly branch: number },
): CallRequest {
  const messages = opening(item.prompt, options.params.system);
  return askChat(
    { id: `attempt-${ask.branch}`, role: 'solver', prefix_key: prefixOf(item), ...ask, messages },
    options,
  );
}

/** `count` independent generations for an item. */
export const attemptCalls = (item: Item, options: AskOptions, count: number): CallRequest[] =>
  Array.from({ length: count }, (_, branch) => attemptCall(item, options, { branch }));

/** What a call contributes to a vote. A failed or cut call gives no answer. */
export const candidateOf = (result: CallResult, answers: Answers): Candidate => ({
  call_id: result.id,
  answer: result.finish === 'error' || result.finish === 'length' ? null : answers.extract(result.text),
});

/** The key of calls whose prompts begin with the item's: its own, or that of the items which share a beginning with it. */
export const prefixOf = ({ id, prefix_key }: Item): string => prefix_key ?? id;

/** Why a call failed, for people. */
export const failureOf = (result: CallResult): string => result.error_code ?? 'unknown error';

/** Whether a call gave a text that can be gone on with. */
export const hasText = (result: CallResult): boolean =>
  result.finish !== 'error' && result.text.trim() !== '';
