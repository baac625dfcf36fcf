import type { CallInput, Sampling } from './call-input.js';
import type { EngineFacts, ServerReading } from './engine.js';
import type { Instant } from './units.js';

/**
 * How a call ended. `ok`: a whole answer. `http_error`: a status of 400 or more. `stream_error`: the server said so inside
 * the answer. `truncated`: the answer broke off. `timeout`: headers or the next read took too long. `cancelled`: by the
 * caller. `connect_error`: no connection. `protocol_error`: not an answer that can be understood.
 */
export const callStatuses = [
  'ok',
  'http_error',
  'stream_error',
  'truncated',
  'timeout',
  'cancelled',
  'connect_error',
  'protocol_error',
] as const;
/** One of `callStatuses`. */
export type CallStatus = (typeof callStatuses)[number];

/** Who counted the tokens: the server's usage block, a local tokenizer, or non-empty events. */
export type TokenSource = 'server_usage' | 'local_tokenizer' | 'events';

/** A tool that the model asked for; `arguments` is JSON text as it came. */
export interface ToolCall {
  readonly index: number;
  readonly id: string | null;
  readonly name: string;
  readonly arguments: string;
}

/** Token counts as the server or engine reports them. */
export interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  /** Prompt tokens served from a cache; absent when the server does not say. */
  readonly cached_tokens?: number;
  /** Completion tokens spent on reasoning; absent when the server does not say. */
  readonly reasoning_tokens?: number;
}

/** One request, ready to be sent by a client. */
export interface ClientRequest {
  /** The model's name as the endpoint knows it. */
  readonly model: string;
  readonly input: CallInput;
  readonly sampling: Sampling;
  /** False asks for one whole answer; then every token time is null. Default true. */
  readonly stream?: boolean;
}

/** What one call may have beside its request. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Longest wait for response headers, ms. */
  readonly headers_timeout_ms?: number;
  /** Longest silence between two reads of the body, ms. */
  readonly idle_timeout_ms?: number;
  /** Called for each non-empty delta as it arrives. Costs time: leave out in measured windows. */
  readonly onDelta?: (delta: { readonly content: string; readonly reasoning: string }) => void;
}

/** Stamps of one call, ns on the run's clock. Null where the event did not happen or the client can't see it. */
export interface CallStamps {
  readonly dispatch_ns: Instant;
  readonly socket_ns: Instant | null;
  readonly sent_ns: Instant | null;
  readonly headers_ns: Instant | null;
  readonly first_event_ns: Instant | null;
  /** First event with a non-empty delta of any kind: answer text, reasoning, a piece of a tool call. */
  readonly first_any_ns: Instant | null;
  /** First event with non-empty answer text. */
  readonly first_content_ns: Instant | null;
  /** Last event with a non-empty delta of any kind. */
  readonly last_content_ns: Instant | null;
  /** `[DONE]` seen. */
  readonly done_ns: Instant | null;
  /** The stream ended or failed. */
  readonly end_ns: Instant;
}

/** What came of one request, failed ones included: partial text and stamps are kept. */
export interface CallRecord {
  readonly status: CallStatus;
  readonly content: string;
  readonly reasoning: string;
  readonly tool_calls: readonly ToolCall[];
  readonly finish_reason: string | null;
  readonly usage: Usage | null;
  readonly done: boolean;
  /** Events of the stream (comments and `[DONE]` are none). */
  readonly events: number;
  /** Events with a non-empty delta of any kind. */
  readonly content_events: number;
  /** Output tokens; null when there is nothing to count from, never the requested length. */
  readonly n_tokens: number | null;
  readonly token_source: TokenSource | null;
  readonly http_status: number | null;
  readonly error_kind: string | null;
  readonly error_message: string | null;
  readonly reads: number;
  readonly bytes_in: number;
  readonly bytes_out: number;
  /** Whether the connection had served a call before; null where there is no connection. */
  readonly conn_reused: boolean | null;
  readonly stamps: CallStamps;
  /** Gaps between successive non-empty events, ns. */
  readonly icl_ns: readonly number[];
  /** Tokens that each non-empty event brought, by the running usage of the server; null or absent where it does not run. */
  readonly event_tokens?: readonly number[] | null;
  /** Mean natural logarithm of the output tokens' probabilities; null or absent where none were told. */
  readonly mean_logprob?: number | null;
}

/** Facts about what answers behind a client, for provenance. Null where it does not say. */
export interface EndpointFacts {
  readonly kind: 'http' | 'embedded' | 'fake' | 'simulated';
  /** Its address; of a simulated one the name of its accelerator. */
  readonly endpoint: string;
  readonly engine: string | null;
  readonly engine_version: string | null;
  readonly model: string;
  readonly model_sha256: string | null;
  readonly quantisation: string | null;
  readonly chat_template_sha256: string | null;
  readonly context_tokens: number | null;
  readonly threads: number | null;
  /** Process ids whose CPU time is the load's own, so that foreign load can be told apart. */
  readonly pids: readonly number[];
  /** The server that was started for it; absent for one that ran already. */
  readonly server?: EngineFacts;
}

/** Adapter to an inference server or engine: a request in, a record out. Never throws for a failed call. */
export interface Client {
  /** Makes it ready: connects, loads the model. Throws `PerwattError` when it can't. Safe to call twice. */
  open(): Promise<EndpointFacts>;
  call(request: ClientRequest, options?: CallOptions): Promise<CallRecord>;
  /** Ends calls in flight and frees what was opened. Safe to call twice. */
  close(): Promise<void>;
  /** Aborted, with the error as its reason, when what answers has ended for good. Absent where that can't be told. */
  readonly ended?: AbortSignal;
  /** What the server says of its load, or null where it can't be asked. Absent where there is nothing to ask. */
  observe?(): Promise<ServerReading | null>;
}
