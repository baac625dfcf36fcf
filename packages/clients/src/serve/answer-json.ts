import type { CallRecord } from '@perwatt/core';
import type { Api } from './parse-request.js';

/** What all objects of one answer have in common. */
export interface AnswerHead {
  readonly api: Api;
  readonly id: string;
  /** Wall time, s. */
  readonly created: number;
  readonly model: string;
}

const head = ({ id, created, model }: AnswerHead, object: string) => ({ id, object, created, model });

/** The JSON of a whole answer. */
export function answerJson(of: AnswerHead, { content, finish_reason, usage }: CallRecord) {
  const choice = of.api === 'chat' ? { message: { role: 'assistant', content } } : { text: content };
  return {
    ...head(of, of.api === 'chat' ? 'chat.completion' : 'text_completion'),
    choices: [{ index: 0, ...choice, logprobs: null, finish_reason }],
    usage: usageJson(usage),
  };
}

/** One chunk of a stream with a piece of text; the first one of a chat names the role. */
export const chunkJson = (of: AnswerHead, content: string, isFirst: 'first' | 'later') =>
  chunk(of, of.api === 'completion' ? { text: content } : { delta: deltaOf(content, isFirst) }, null);

/** The chunk without text that says why the answer ended. */
export const finishJson = (of: AnswerHead, finish_reason: string) =>
  chunk(of, of.api === 'completion' ? { text: '' } : { delta: {} }, finish_reason);

const deltaOf = (content: string, isFirst: 'first' | 'later') =>
  isFirst === 'first' ? { role: 'assistant', content } : { content };

function chunk(of: AnswerHead, piece: object, finish_reason: string | null) {
  return {
    ...head(of, of.api === 'chat' ? 'chat.completion.chunk' : 'text_completion'),
    choices: [{ index: 0, ...piece, logprobs: null, finish_reason }],
  };
}

/** The chunk that ends a stream with its usage. */
export const usageChunkJson = (of: AnswerHead, { usage }: CallRecord) => ({
  ...head(of, of.api === 'chat' ? 'chat.completion.chunk' : 'text_completion'),
  choices: [],
  usage: usageJson(usage),
});

const usageJson = (usage: CallRecord['usage']) =>
  usage === null
    ? null
    : {
        prompt_tokens: usage.prompt_tokens,
        completion_tokens: usage.completion_tokens,
        total_tokens: usage.prompt_tokens + usage.completion_tokens,
        ...(usage.cached_tokens === undefined
          ? {}
          : { prompt_tokens_details: { cached_tokens: usage.cached_tokens } }),
        ...(usage.reasoning_tokens === undefined
          ? {}
          : { completion_tokens_details: { reasoning_tokens: usage.reasoning_tokens } }),
      };
