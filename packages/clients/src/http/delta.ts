import type { ToolCall, Usage } from '@perwatt/core';
import type { ChunkMatch } from './chunk-template.js';
import { errorText, type Failure } from './failure.js';
import { asArray, asCount, asObject, asText, excerpt, type JsonObject, parseJson } from './json.js';
import type { SseEvent } from './sse.js';
import { usageOf } from './usage.js';

/** What one event of a stream brought; `none` when it was no event to count: cut off, or after `[DONE]`. */
export type Step =
  | {
      readonly kind: 'delta';
      readonly content: string;
      readonly reasoning: string;
      readonly empty: boolean;
      /** Whether it holds answer text, kept or not. */
      readonly answers: boolean;
      /** Output tokens so far, where this very event says so; else null. */
      readonly counted: number | null;
    }
  | { readonly kind: 'none' }
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly failure: Failure };

/** What has come of an answer so far; the fields of a call record that are read from payloads. */
export interface AnswerSoFar {
  readonly content: string;
  readonly reasoning: string;
  readonly tool_calls: readonly ToolCall[];
  readonly finish_reason: string | null;
  readonly usage: Usage | null;
  readonly done: boolean;
  readonly events: number;
  readonly content_events: number;
  /** Mean over the tokens whose probability was told; null when none was. */
  readonly mean_logprob: number | null;
}

/** Puts an answer together from the payloads of an OpenAI-compatible server. */
export interface AnswerBuilder {
  /** Takes one event of a stream. Nothing may be taken after a step that failed. */
  takeEvent(event: SseEvent): Step;
  /** Takes an event that was matched byte by byte: nothing but a text, and perhaps counts. */
  takeMatched(found: ChunkMatch, text: string): Step;
  /** Takes a body that is one JSON text; the failure it stands for, or null. */
  takeBody(text: string): Failure | null;
  soFar(): AnswerSoFar;
}

const protocolError = (kind: string, message: string): Failure => ({
  status: 'protocol_error',
  kind,
  message,
});
const streamError = (message: string): Failure => ({ status: 'stream_error', kind: 'server_error', message });

/**
 * A delta is non-empty when it carries answer text, reasoning (`reasoning_content` or `reasoning`) or a piece of a tool
 * call; a role alone is nothing, and any key may be missing. Only the choice of index 0 is read. The last usage block and
 * the last finish reason win. An event cut off by the end of the stream counts only if its JSON is whole.
 */
export function createAnswer(): AnswerBuilder {
  const tools = createToolCalls();
  let content = '';
  let reasoning = '';
  let finish: string | null = null;
  let usage: Usage | null = null;
  let done = false;
  let events = 0;
  let contentEvents = 0;
  const logprobs = { sum: 0, tokens: 0 };

  const takePayload = (payload: JsonObject) => {
    const counts = usageOf(payload['usage']);
    usage = counts ?? usage;
    const choice = firstChoice(payload['choices']);
    const delta = asObject(choice?.['delta'] ?? choice?.['message']);
    const added = {
      content: contentText(delta?.['content'] ?? choice?.['text']),
      reasoning: asText(delta?.['reasoning_content']) || asText(delta?.['reasoning']),
    };
    const tool = tools.take(asArray(delta?.['tool_calls']));
    content += added.content;
    reasoning += added.reasoning;
    finish = asText(choice?.['finish_reason']) || finish;
    for (const logprob of logprobsOf(choice)) {
      logprobs.sum += logprob;
      logprobs.tokens += 1;
    }
    return {
      ...added,
      empty: added.content === '' && added.reasoning === '' && !tool,
      counted: counts?.completion_tokens ?? null,
    };
  };

  const takeEvent = (event: SseEvent): Step => {
    const text = event.data.trim();
    if (text === '[DONE]') {
      done = true;
      return { kind: 'done' };
    }
    const value = parseJson(text);
    if (value === undefined && !event.terminated) return { kind: 'none' };
    events += 1;
    if (text === '')
      return { kind: 'delta', content: '', reasoning: '', empty: true, answers: false, counted: null };
    const payload = asObject(value);
    const failure = eventFailure(event, payload);
    if (failure !== null) return { kind: 'failed', failure };
    const taken = takePayload(payload ?? {});
    const step = { kind: 'delta', ...taken, answers: taken.content !== '' } as const;
    if (!step.empty) contentEvents += 1;
    return step;
  };

  return {
    takeEvent: (event) => (done ? { kind: 'none' } : takeEvent(event)),
    takeMatched(found, text) {
      if (done) return { kind: 'none' };
      const isContent = found.kind === 'content';
      const empty = found.text_end === found.text_start;
      if (found.usage !== null) usage = found.usage;
      if (isContent) content += text;
      else reasoning += text;
      events += 1;
      if (!empty) contentEvents += 1;
      return {
        kind: 'delta',
        content: isContent ? text : '',
        reasoning: isContent ? '' : text,
        empty,
        answers: isContent && !empty,
        counted: found.usage === null ? null : found.usage.completion_tokens,
      };
    },
    takeBody(text) {
      const payload = asObject(parseJson(text));
      const failure = bodyFailure(text, payload);
      if (failure === null) takePayload(payload ?? {});
      return failure;
    },
    soFar: () => ({
      content,
      reasoning,
      tool_calls: tools.all(),
      finish_reason: finish,
      usage,
      done,
      events,
      content_events: contentEvents,
      mean_logprob: logprobs.tokens === 0 ? null : logprobs.sum / logprobs.tokens,
    }),
  };
}

/** Log-probabilities in a choice: of a chat by token, of a completion as a list. */
function logprobsOf(choice: JsonObject | null): number[] {
  const told = asObject(choice?.['logprobs']);
  if (told === null) return [];
  const tokens = asArray(told['content']).map((token) => asObject(token)?.['logprob']);
  return [...tokens, ...asArray(told['token_logprobs'])].filter(
    (logprob): logprob is number => typeof logprob === 'number' && Number.isFinite(logprob),
  );
}

function eventFailure(event: SseEvent, payload: JsonObject | null): Failure | null {
  if (event.type === 'error')
    return streamError(payload === null ? excerpt(event.data) : (errorText(payload) ?? ownMessage(payload)));
  return payloadFailure(event.data, payload);
}

function payloadFailure(text: string, payload: JsonObject | null): Failure | null {
  if (payload === null) return protocolError('bad_json', `not a JSON object: ${excerpt(text)}`);
  const error = errorText(payload);
  if (error !== null) return streamError(error);
  const choices = payload['choices'];
  return choices === undefined || choices === null || Array.isArray(choices)
    ? null
    : protocolError('bad_payload', `choices is not a list: ${excerpt(text)}`);
}

function bodyFailure(text: string, payload: JsonObject | null): Failure | null {
  if (text.trim() === '')
    return { status: 'truncated', kind: 'empty_body', message: 'the response has an empty body' };
  const failure = payloadFailure(text, payload);
  if (failure !== null) return failure;
  return firstChoice(payload?.['choices']) === null
    ? protocolError('bad_payload', `no answer in the body: ${excerpt(text)}`)
    : null;
}

const ownMessage = (payload: JsonObject): string => asText(payload['message']) || JSON.stringify(payload);

function firstChoice(choices: unknown): JsonObject | null {
  for (const each of asArray(choices)) {
    const choice = asObject(each);
    if (choice !== null && (choice['index'] ?? 0) === 0) return choice;
  }
  return null;
}

/** Some servers send answer text as a list of parts. */
function contentText(content: unknown): string {
  if (!Array.isArray(content)) return asText(content);
  return content.map((part) => asText(asObject(part)?.['text'])).join('');
}

/** Tool calls merged by index from their pieces. */
function createToolCalls() {
  const calls = new Map<number, ToolCall>();

  const takePiece = (piece: JsonObject, position: number): boolean => {
    const index = asCount(piece['index']) ?? position;
    const about = asObject(piece['function']);
    const id = asText(piece['id']);
    const name = asText(about?.['name']);
    const text = argumentsText(about?.['arguments']);
    if (id === '' && name === '' && text === '') return false;
    const before = calls.get(index) ?? { index, id: null, name: '', arguments: '' };
    calls.set(index, {
      index,
      id: before.id ?? (id === '' ? null : id),
      name: before.name + name,
      arguments: before.arguments + text,
    });
    return true;
  };

  return {
    /** Whether any piece carried something. */
    take: (pieces: readonly unknown[]): boolean =>
      pieces.map((piece, i) => takePiece(asObject(piece) ?? {}, i)).some((carried) => carried),
    all: (): ToolCall[] => [...calls.values()].sort((a, b) => a.index - b.index),
  };
}

/** Arguments are JSON text; some servers send the object itself. */
const argumentsText = (value: unknown): string =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : asText(value);
