import type { CallInput, ClientRequest, Message, MessageToolCall, Sampling, ToolSpec } from '@perwatt/core';
import { Refusal } from './refusal.js';

/** Which of the two calls was made. */
export type Api = 'chat' | 'completion';

export interface ParsedRequest {
  readonly request: ClientRequest & { readonly stream: boolean };
  /** Whether a stream ends with a chunk that holds the usage. */
  readonly include_usage: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

const DEFAULT_MAX_TOKENS = 256;
const roles = ['system', 'developer', 'user', 'assistant', 'tool'] as const;
/** Fields that would change the answer and aren't supported; each with the values that ask for nothing. */
const unsupported: Readonly<Record<string, readonly unknown[]>> = {
  n: [1],
  best_of: [1],
  top_logprobs: [0],
  echo: [false],
  suffix: [''],
  frequency_penalty: [0],
  presence_penalty: [0],
  functions: [],
};

/** Reads the body of a call. Throws `Refusal` naming the field for anything it can't honour. */
export function parseRequest(api: Api, body: string, models: readonly string[]): ParsedRequest {
  const fields = objectOf(jsonOf(body), 'the body');
  const model = modelOf(fields, models);
  refuseUnsupported(fields);
  const stream = booleanOf(fields, 'stream');
  const options = fields['stream_options'] ?? {};
  return {
    request: { model, input: inputOf(api, fields), sampling: samplingOf(fields), stream },
    include_usage: stream && booleanOf(objectOf(options, 'stream_options'), 'include_usage'),
  };
}

function jsonOf(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw new Refusal(400, 'the body is not valid JSON', { code: 'invalid_json' });
  }
}

function objectOf(value: unknown, name: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw new Refusal(400, `${name} must be an object`, { param: name });
}

function modelOf(fields: Fields, models: readonly string[]): string {
  const model = fields['model'];
  if (typeof model !== 'string') throw wrong('model', 'must be a string');
  if (models.includes(model)) return model;
  throw new Refusal(404, `model "${model}" is not served here; there is ${models.join(', ')}`, {
    param: 'model',
    code: 'model_not_found',
  });
}

function refuseUnsupported(fields: Fields): void {
  for (const [name, harmless] of Object.entries(unsupported)) {
    const value = fields[name] ?? null;
    const empty = value === null || harmless.includes(value) || (Array.isArray(value) && value.length === 0);
    if (!empty) throw wrong(name, 'is not supported');
  }
}

function inputOf(api: Api, fields: Fields): CallInput {
  if (api === 'chat') {
    const tools = toolsOf(fields['tools']);
    const messages = messagesOf(fields['messages']);
    return { kind: 'chat', messages, ...(tools.length > 0 && { tools }) };
  }
  if ((fields['tools'] ?? null) !== null) throw wrong('tools', 'are for chats only');
  const prompt = fields['prompt'];
  const only = Array.isArray(prompt) && prompt.length === 1 ? prompt[0] : prompt;
  if (typeof only !== 'string') throw wrong('prompt', 'must be a string');
  return { kind: 'completion', prompt: only };
}

function messagesOf(value: unknown): Message[] {
  if (!Array.isArray(value) || value.length === 0)
    throw wrong('messages', 'must be a list of at least one message');
  return value.map((each, i) => {
    const name = `messages[${i}]`;
    const { role, content, tool_calls, tool_call_id } = objectOf(each, name);
    const known = roles.find((candidate) => candidate === role);
    if (known === undefined) throw wrong(`${name}.role`, `must be one of ${roles.join(', ')}`);
    const calls = known === 'assistant' ? messageCalls(tool_calls, `${name}.tool_calls`) : [];
    const silent = calls.length > 0 && (content ?? null) === null;
    return {
      role: known === 'developer' ? 'system' : known,
      content: silent ? '' : textOf(content, `${name}.content`),
      ...(calls.length > 0 && { tool_calls: calls }),
      ...(typeof tool_call_id === 'string' && { tool_call_id }),
    };
  });
}

function messageCalls(value: unknown, name: string): MessageToolCall[] {
  if ((value ?? null) === null) return [];
  if (!Array.isArray(value)) throw wrong(name, 'must be a list');
  return value.map((each, i) => {
    const { id, function: called } = objectOf(each, `${name}[${i}]`);
    const { name: tool, arguments: args } = objectOf(called, `${name}[${i}].function`);
    if (typeof id !== 'string' || typeof tool !== 'string' || typeof args !== 'string')
      throw wrong(`${name}[${i}]`, 'must have an id, and a function with name and arguments as texts');
    return { id, name: tool, arguments: args };
  });
}

function toolsOf(value: unknown): ToolSpec[] {
  if ((value ?? null) === null) return [];
  if (!Array.isArray(value)) throw wrong('tools', 'must be a list');
  return value.map((each, i) => {
    const { type, function: tool } = objectOf(each, `tools[${i}]`);
    if (type !== 'function') throw wrong(`tools[${i}].type`, 'must be "function"');
    const { name, description = '', parameters = {} } = objectOf(tool, `tools[${i}].function`);
    if (typeof name !== 'string' || typeof description !== 'string')
      throw wrong(`tools[${i}].function`, 'must have a name and a description as texts');
    return { name, description, parameters: objectOf(parameters, `tools[${i}].function.parameters`) };
  });
}

/** Only the probabilities of the tokens that were drawn can be told. */
function logprobsOf(value: unknown): boolean {
  if ((value ?? false) === false) return false;
  if (value === true || value === 0) return true;
  throw wrong('logprobs', 'must be true for a chat or 0 for a completion');
}

/** Content is a text, or a list of text parts. */
function textOf(content: unknown, name: string): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) throw wrong(name, 'must be a string');
  return content
    .map((part, i) => {
      const { type, text } = objectOf(part, `${name}[${i}]`);
      if (type !== 'text' || typeof text !== 'string') throw wrong(`${name}[${i}]`, 'must be a text part');
      return text;
    })
    .join('');
}

function samplingOf(fields: Fields): Sampling {
  const most = fields['max_completion_tokens'] === undefined ? 'max_tokens' : 'max_completion_tokens';
  const seed = numberOf(fields, 'seed', { least: 0, most: 2 ** 32 - 1, whole: true });
  const stop = stopOf(fields['stop']);
  return {
    temperature: numberOf(fields, 'temperature', { least: 0, most: 100 }) ?? 1,
    top_p: numberOf(fields, 'top_p', { least: 0, most: 1 }) ?? 1,
    max_tokens: numberOf(fields, most, { least: 1, most: 2 ** 24, whole: true }) ?? DEFAULT_MAX_TOKENS,
    ...(seed === null ? {} : { seed }),
    ...(stop.length === 0 ? {} : { stop }),
    ...(logprobsOf(fields['logprobs']) && { logprobs: true as const }),
  };
}

function stopOf(value: unknown): string[] {
  const list = value === undefined || value === null ? [] : Array.isArray(value) ? value : [value];
  if (list.every((each) => typeof each === 'string')) return list;
  throw wrong('stop', 'must be a string or a list of strings');
}

interface Range {
  readonly least: number;
  readonly most: number;
  readonly whole?: true;
}

function numberOf(fields: Fields, name: string, { least, most, whole }: Range): number | null {
  const value = fields[name] ?? null;
  if (value === null) return null;
  const fits = typeof value === 'number' && value >= least && value <= most;
  if (fits && (whole === undefined || Number.isInteger(value))) return value;
  throw wrong(name, `must be a ${whole ? 'whole ' : ''}number from ${least} to ${most}`);
}

function booleanOf(fields: Fields, name: string): boolean {
  const value = fields[name] ?? false;
  if (typeof value === 'boolean') return value;
  throw wrong(name, 'must be true or false');
}

const wrong = (param: string, what: string): Refusal => new Refusal(400, `${param} ${what}`, { param });
