import type { CallRecord, ToolCall } from '@perwatt/core';
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
export function answerJson(of: AnswerHead, record: CallRecord) {
  const { content, finish_reason, usage, tool_calls } = record;
  const calls = tool_calls.length === 0 ? {} : { tool_calls: tool_calls.map(toolCallJson) };
  const choice =
    of.api === 'chat' ? { message: { role: 'assistant', content, ...calls } } : { text: content };
  return {
    ...head(of, of.api === 'chat' ? 'chat.completion' : 'text_completion'),
    choices: [{ index: 0, ...choice, logprobs: logprobsJson(of, record), finish_reason }],
    usage: usageJson(usage),
  };
}

/** One chunk of a stream with a piece of text; the first one of a chat names the role. */
export const chunkJson = (of: AnswerHead, content: string, isFirst: 'first' | 'later') =>
  chunk(of, of.api === 'completion' ? { text: content } : { delta: deltaOf(content, isFirst) }, {
    finish_reason: null,
    logprobs: null,
  });

/** The chunk without text that says why the answer ended, with the calls of tools that it asks for. */
export function finishJson(of: AnswerHead, record: CallRecord) {
  const { tool_calls } = record;
  const delta = tool_calls.length === 0 ? {} : { tool_calls: tool_calls.map(toolCallJson) };
  const piece = of.api === 'completion' ? { text: '' } : { delta };
  return chunk(of, piece, {
    finish_reason: record.finish_reason ?? 'stop',
    logprobs: logprobsJson(of, record),
  });
}

const toolCallJson = ({ index, id, name, arguments: args }: ToolCall) => ({
  index,
  id,
  type: 'function',
  function: { name, arguments: args },
});

/**
 * The mean of the tokens' log-probabilities, as that of one token that stands for all, in the form of the API; null where they were
 * not asked for.
 */
function logprobsJson({ api }: AnswerHead, { mean_logprob = null, content }: CallRecord) {
  if (mean_logprob === null) return null;
  return api === 'chat'
    ? { content: [{ token: content, logprob: mean_logprob, bytes: null, top_logprobs: [] }] }
    : { tokens: [content], token_logprobs: [mean_logprob], top_logprobs: null, text_offset: [0] };
}

const deltaOf = (content: string, isFirst: 'first' | 'later') =>
  isFirst === 'first' ? { role: 'assistant', content } : { content };

function chunk(
  of: AnswerHead,
  piece: object,
  end: { readonly finish_reason: string | null; readonly logprobs: object | null },
) {
  return {
    ...head(of, of.api === 'chat' ? 'chat.completion.chunk' : 'text_completion'),
    choices: [{ index: 0, ...piece, ...end }],
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
