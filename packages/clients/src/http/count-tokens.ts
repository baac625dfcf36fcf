import type { CallRecord } from '@perwatt/core';
import type { AnswerSoFar } from './delta.js';

/** Output tokens of a call and who counted them. */
export type Counted = Pick<CallRecord, 'n_tokens' | 'token_source'>;

/** Output tokens of an answer: the server's count, else the non-empty events of its stream, else unknown. */
export function countTokens({ usage, events, content_events }: AnswerSoFar): Counted {
  if (usage !== null) return { n_tokens: usage.completion_tokens, token_source: 'server_usage' };
  if (events > 0) return { n_tokens: content_events, token_source: 'events' };
  return { n_tokens: null, token_source: null };
}
