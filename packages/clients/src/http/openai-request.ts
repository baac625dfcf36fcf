import { type CallInput, type ClientRequest, type Message, PerwattError } from '@perwatt/core';
import { type Profile, profiles } from '../engines/profiles.js';

/** Which of a server's two ways to answer is asked. */
export type Api = 'chat' | 'completion';

/** Where an OpenAI-compatible server answers. */
export interface Address {
  readonly origin: string;
  /** Path that the API's own paths follow, for example `/v1`. */
  readonly base: string;
  /** Query of the address with its `?`, or ''. */
  readonly query: string;
}

/**
 * Reads a base address: with or without `/v1` (any version counts), with or without a slash at the end, or the whole
 * address of the chat or completion call. Throws `INPUT_INVALID` for anything but http and https.
 */
export function addressOf(url: string): Address {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed === null || !/^https?:$/.test(parsed.protocol))
    throw new PerwattError('INPUT_INVALID', `endpoint "${url}" is not an http or https address`, {
      hint: 'Give the base address of the server, for example http://127.0.0.1:8080/v1.',
    });
  const path = parsed.pathname.replace(/\/+$/, '').replace(/\/(chat\/)?completions$/, '');
  const base = /\/v\d+[a-z0-9]*$/.test(path) ? path : `${path}/v1`;
  return { origin: parsed.origin, base, query: parsed.search };
}

/** The path of a call, under the base of `address`. */
export const callPath = ({ base, query }: Address, api: Api): string =>
  `${base}${api === 'chat' ? '/chat/completions' : '/completions'}${query}`;

/** What a server is asked for beside the request itself. */
export interface BodyOptions {
  /** Default: what most servers take. */
  readonly profile?: Profile;
  /** Where a streamed answer's usage is asked for; default: as the profile says. */
  readonly usage?: 'last' | 'running' | undefined;
  /** Asks for answers as long as their limit, by the fields of the profile. */
  readonly exact?: boolean | undefined;
}

/** Whether a request is sent as a streamed one. */
export const isStreamed = (request: Pick<ClientRequest, 'stream'>, profile: Profile): boolean =>
  profile.streams && (request.stream ?? true);

/**
 * The JSON body of a request, with nothing that the profile's server refuses. A streamed one asks for usage. Input of the
 * other kind is carried over: a bare prompt becomes one user message; for the completion API messages are joined by blank
 * lines, without roles or a template.
 */
export function requestBody(request: ClientRequest, api: Api, options: BodyOptions = {}): string {
  const { model, input, sampling } = request;
  const { profile = profiles.openai } = options;
  const stream = isStreamed(request, profile);
  const may = (field: Profile['omit'][number]) => !profile.omit.includes(field);
  return JSON.stringify({
    model,
    ...(api === 'chat' ? chatFields(input) : { prompt: promptOf(input) }),
    [api === 'chat' ? profile.limit : 'max_tokens']: sampling.max_tokens,
    temperature: sampling.temperature,
    top_p: may('top_p') ? sampling.top_p : undefined,
    seed: may('seed') ? sampling.seed : undefined,
    stop: may('stop') ? sampling.stop : undefined,
    reasoning_effort: api === 'chat' ? sampling.reasoning_effort : undefined,
    ...logprobsField(request, api, profile),
    ...(options.exact === true ? exactFields(sampling.max_tokens, profile) : {}),
    stream: profile.streams ? stream : undefined,
    stream_options: stream ? usageOptions(options.usage ?? profile.usage) : undefined,
  });
}

function logprobsField({ sampling }: ClientRequest, api: Api, { omit }: Profile): Record<string, unknown> {
  if (sampling.logprobs !== true || omit.includes('logprobs')) return {};
  return { logprobs: api === 'chat' ? true : 0 };
}

function usageOptions(usage: Profile['usage']): Record<string, boolean> | undefined {
  if (usage === 'none') return undefined;
  return { include_usage: true, ...(usage === 'running' ? { continuous_usage_stats: true } : {}) };
}

function exactFields(max_tokens: number, { exact_length }: Profile): Record<string, unknown> {
  return {
    ...(exact_length === 'both' || exact_length === 'ignore_eos' ? { ignore_eos: true } : {}),
    ...(exact_length === 'both' || exact_length === 'min_tokens' ? { min_tokens: max_tokens } : {}),
  };
}

function chatFields(input: CallInput): Record<string, unknown> {
  if (input.kind === 'completion') return { messages: [{ role: 'user', content: input.prompt }] };
  const messages = input.messages.map(messageFields);
  const tools = input.tools?.map((tool) => ({ type: 'function', function: tool }));
  return tools === undefined ? { messages } : { messages, tools };
}

const messageFields = ({ tool_calls, ...message }: Message): Record<string, unknown> =>
  tool_calls === undefined
    ? message
    : {
        ...message,
        tool_calls: tool_calls.map(({ id, ...call }) => ({ id, type: 'function', function: call })),
      };

const promptOf = (input: CallInput): string =>
  input.kind === 'completion' ? input.prompt : input.messages.map(({ content }) => content).join('\n\n');
