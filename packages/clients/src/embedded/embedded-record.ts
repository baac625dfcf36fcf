import { type CallRecord, type CallStamps, type CallStatus, type Instant, instant } from '@perwatt/core';
import type { EngineAnswer } from './protocol.js';
import { readToolBlocks } from './tool-blocks.js';

/** How a call that the engine didn't answer well failed. */
export interface EmbeddedFailure {
  readonly status: Exclude<CallStatus, 'ok'>;
  readonly kind: string;
  readonly message: string;
}

export interface EmbeddedOutcome {
  readonly dispatch_ns: Instant;
  readonly end_ns: Instant;
  /** Whether token times were asked for. */
  readonly streamed: boolean;
  /** Null when the engine gave none. */
  readonly answer: EngineAnswer | null;
  readonly offset_ns: bigint;
  readonly failure: EmbeddedFailure | null;
  /** Whether tools were offered, so that calls of them are read from the text. */
  readonly offers_tools: boolean;
  /** Pieces the caller had been told when it aborted; null to keep all that the engine had. */
  readonly seen: readonly string[] | null;
}

/** The record of a call. There is no connection, so the stamps and counts of one are null and 0. */
export function embeddedRecord(outcome: EmbeddedOutcome): CallRecord {
  const { answer, failure, streamed } = outcome;
  const times = timesOf(outcome);
  const ended = failure === null ? answer : null;
  return {
    status: failure?.status ?? 'ok',
    ...textsOf(outcome, ended),
    reasoning: '',
    mean_logprob: ended?.mean_logprob ?? null,
    ...countsOf(ended),
    done: ended !== null && streamed,
    events: streamed ? (ended?.completion_tokens ?? times.length) : 0,
    content_events: times.length,
    http_status: null,
    error_kind: failure?.kind ?? null,
    error_message: failure?.message ?? null,
    reads: 0,
    bytes_in: 0,
    bytes_out: 0,
    conn_reused: null,
    stamps: stampsOf(outcome, times),
    icl_ns: times.slice(1).map((at, i) => Number(at - (times[i] ?? at))),
  };
}

/** What was said, and the tools that were asked for where some were offered. */
function textsOf(
  { answer, seen, offers_tools }: EmbeddedOutcome,
  ended: EngineAnswer | null,
): Pick<CallRecord, 'content' | 'tool_calls' | 'finish_reason'> {
  const content = seen === null ? (answer?.content ?? '') : seen.join('');
  const finish_reason = ended?.finish_reason ?? null;
  if (!offers_tools || ended === null) return { content, tool_calls: [], finish_reason };
  const read = readToolBlocks(content);
  return { ...read, finish_reason: read.tool_calls.length > 0 ? 'tool_calls' : finish_reason };
}

/** The engine's count is the server's. Cached tokens are 0: no call is given anything of an earlier one. */
const countsOf = (ended: EngineAnswer | null): Pick<CallRecord, 'usage' | 'n_tokens' | 'token_source'> =>
  ended === null
    ? { usage: null, n_tokens: null, token_source: null }
    : {
        usage: {
          prompt_tokens: ended.prompt_tokens,
          completion_tokens: ended.completion_tokens,
          cached_tokens: 0,
        },
        n_tokens: ended.completion_tokens,
        token_source: 'server_usage',
      };

function timesOf({ answer, streamed, offset_ns, seen }: EmbeddedOutcome): Instant[] {
  if (!streamed || answer === null) return [];
  return Array.from(answer.content_ns.subarray(0, seen?.length), (at) => instant(at + offset_ns));
}

function stampsOf(outcome: EmbeddedOutcome, times: readonly Instant[]): CallStamps {
  const { dispatch_ns, end_ns, streamed, answer, offset_ns } = outcome;
  const first_event = streamed ? (answer?.first_event_ns ?? null) : null;
  const first = times[0] ?? null;
  return {
    dispatch_ns,
    socket_ns: null,
    sent_ns: null,
    headers_ns: null,
    first_event_ns: first_event === null ? null : instant(first_event + offset_ns),
    first_any_ns: first,
    first_content_ns: first,
    last_content_ns: times.at(-1) ?? null,
    done_ns: null,
    end_ns,
  };
}
