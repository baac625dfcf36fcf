import { messageOf } from '@perwatt/core';
import { asArray, asCount, asObject, asText, type JsonObject, parseJson } from '../http/json.js';
import type { AnswerForm } from './mock-bytes.js';
import { type MockDelay, parseMockDelay } from './mock-delay.js';
import { type MockFailure, type MockServerOptions, parseMockFailure } from './mock-options.js';
import type { MockRequest } from './request-reader.js';

/** What one request gets. */
export interface AnswerPlan {
  readonly form: AnswerForm;
  readonly stream: boolean;
  readonly include_usage: boolean;
  /** Whether each event carries the usage so far. */
  readonly running_usage: boolean;
  readonly prompt_tokens: number;
  readonly finish_reason: 'stop' | 'length';
  readonly ttft: MockDelay;
  readonly tpot: MockDelay;
  /** The body's `user`; null without one. */
  readonly user: string | null;
  /** Asked for by the request itself; null where it leaves that to luck. */
  readonly fail: MockFailure | null;
}

const AT_ONCE: MockDelay = { kind: 'constant', ms: 0 };
const TOKEN_BYTES = 4;
const DEFAULT_TOKENS = 16;

/** Tokens of a text as the mock counts them: one for each 4 bytes begun. */
export const mockTokens = (text: string): number => Math.ceil(Buffer.byteLength(text) / TOKEN_BYTES);

/**
 * What a request to one of the two APIs gets: by the server's options, changed by the `mock` object of its body, or the same
 * as JSON in its header `x-mock`: `{ ttft, tpot, tokens, tokens_per_event, fail }`, delays and failures as on the command
 * line. Gives a text where the request can't be understood.
 */
export function planOf(request: MockRequest, chat: boolean, options: MockServerOptions): AnswerPlan | string {
  const body = asObject(parseJson(request.body.toString('utf8')));
  if (body === null) return 'the body is not a JSON object';
  const header = request.header('x-mock');
  const own = asObject(header === null ? body['mock'] : parseJson(header));
  if (own === null && (header ?? body['mock'] ?? null) !== null)
    return 'the settings for the mock are no object';
  try {
    return planned({ body, own: own ?? {}, chat, options });
  } catch (error) {
    return messageOf(error);
  }
}

interface Wire {
  readonly body: JsonObject;
  readonly own: JsonObject;
  readonly chat: boolean;
  readonly options: MockServerOptions;
}

function planned({ body, own, chat, options }: Wire): AnswerPlan {
  const { tokens, finish_reason } = lengthOf(body, asCount(own['tokens']) ?? options.tokens ?? null);
  const wishes = asObject(body['stream_options']);
  return {
    form: {
      chat,
      model: asText(body['model']) || (options.model ?? 'mock'),
      tokens,
      tokens_per_event: Math.max(1, asCount(own['tokens_per_event']) ?? options.tokens_per_event ?? 1),
    },
    stream: body['stream'] === true,
    include_usage: wishes?.['include_usage'] === true,
    running_usage: wishes?.['continuous_usage_stats'] === true,
    prompt_tokens: mockTokens(promptOf(body)),
    finish_reason,
    ttft: delayOf(own['ttft']) ?? options.ttft ?? AT_ONCE,
    tpot: delayOf(own['tpot']) ?? options.tpot ?? AT_ONCE,
    user: asText(body['user']) || null,
    fail: own['fail'] === undefined ? null : parseMockFailure(String(own['fail']))[0],
  };
}

function lengthOf(
  body: JsonObject,
  wanted: number | null,
): Pick<AnswerForm & AnswerPlan, 'tokens' | 'finish_reason'> {
  const most = asCount(body['max_tokens']) ?? asCount(body['max_completion_tokens']);
  const tokens = wanted ?? most ?? DEFAULT_TOKENS;
  if (most === null || tokens < most) return { tokens, finish_reason: 'stop' };
  return { tokens: most, finish_reason: 'length' };
}

const delayOf = (value: unknown): MockDelay | null =>
  value === undefined || value === null ? null : parseMockDelay(String(value));

function promptOf(body: JsonObject): string {
  const prompt = body['prompt'];
  if (prompt !== undefined) return Array.isArray(prompt) ? prompt.map(asText).join('') : asText(prompt);
  return asArray(body['messages'])
    .map((message) => contentOf(asObject(message)?.['content']))
    .join('');
}

const contentOf = (content: unknown): string =>
  Array.isArray(content) ? content.map((part) => asText(asObject(part)?.['text'])).join('') : asText(content);
