import type { Instant } from '@perwatt/core';
import { type BodyReader, type EventTimes, noEventTimes } from './body-reader.js';
import { bodyReaderFor } from './body-reader-for.js';
import type { EndedCall } from './call-columns.js';
import type { ChunkTemplates } from './chunk-template.js';
import { countTokens } from './count-tokens.js';
import { createAnswer } from './delta.js';
import type { Failure, Phase } from './failure.js';
import type { ResponseHead } from './response-reader.js';

/** What a call of the load engine needs to know beside its body. */
export interface LoadCallOptions {
  readonly row: number;
  readonly sched_ns: bigint | null;
  readonly dispatch_ns: Instant;
  readonly bytes_out: number;
  readonly streamed: boolean;
  /** Whether its text is wanted. */
  readonly keep_text: boolean;
  readonly templates: ChunkTemplates;
}

/**
 * One request of the load engine from dispatch to its row: like the client's exchange, without texts, promises and timers of its
 * own. No method throws.
 */
export class LoadCall {
  readonly #options: LoadCallOptions;
  readonly #answer = createAnswer();
  readonly #times: EventTimes = noEventTimes();
  #phase: Phase = 'queued';
  #end_ns: Instant | null = null;
  #failure: Failure | null = null;
  #reader: BodyReader | null = null;
  #http_status: number | null = null;
  #conn_reused: boolean | null = null;
  #socket_ns: Instant | null = null;
  #sent_ns: Instant | null = null;
  #headers_ns: Instant | null = null;
  #read_ns: Instant | null = null;
  #reads = 0;
  #bytes_in = 0;

  constructor(options: LoadCallOptions) {
    this.#options = options;
  }

  get phase(): Phase {
    return this.#phase;
  }

  /** Whether it has ended. */
  get over(): boolean {
    return this.#end_ns !== null;
  }

  /** When it last got anywhere; null while it waits for a connection. */
  get since_ns(): Instant | null {
    return this.#read_ns ?? this.#headers_ns ?? this.#socket_ns;
  }

  /** It is put on a connection. */
  start(at: Instant, reused: boolean): void {
    this.#phase = 'sent';
    this.#socket_ns = at;
    this.#conn_reused = reused;
  }

  /** All of the request has been handed to the system. */
  sent(at: Instant): void {
    if (this.#phase === 'sent') this.#sent_ns = at;
  }

  head({ status, headers }: ResponseHead, at: Instant): void {
    this.#phase = 'body';
    this.#headers_ns = at;
    this.#http_status = status;
    const { streamed, templates, keep_text: keepText } = this.#options;
    this.#reader = bodyReaderFor(
      { status, headers },
      { streamed, answer: this.#answer, times: this.#times, onDelta: ignore, templates, keepText },
    );
  }

  /** Part of the body. May end the call. */
  data(bytes: Uint8Array, at: Instant): void {
    if (this.#read_ns !== at) this.#reads += 1;
    this.#read_ns = at;
    this.#bytes_in += bytes.length;
    const failure = this.#reader?.take(bytes, at) ?? null;
    if (failure !== null) this.#settle(failure, at);
  }

  /** The response is whole. */
  finish(at: Instant): void {
    if (this.#end_ns === null) this.#settle(this.#reader?.end(null) ?? null, at);
  }

  /** The connection is of no more use: what has come is judged. */
  end(cut: Failure, at: Instant): void {
    if (this.#end_ns === null) this.#settle(this.#reader === null ? cut : this.#reader.end(cut), at);
  }

  #settle(failure: Failure | null, at: Instant): void {
    this.#failure = failure;
    this.#end_ns = at;
  }

  /** Text of the answer, where it was wanted and the call ended well; else null. */
  get text(): string | null {
    const wanted = this.#options.keep_text && this.#end_ns !== null && this.#failure === null;
    return wanted ? this.#answer.soFar().content : null;
  }

  /** What came of it, once it has ended. */
  ended(): EndedCall {
    const failure = this.#failure;
    const soFar = this.#answer.soFar();
    const { row, sched_ns, dispatch_ns, bytes_out, streamed } = this.#options;
    const times = streamed ? this.#times : noEventTimes();
    const { icl_ns, event_tokens } = times;
    const counted = failure === null ? countTokens(soFar) : null;
    const { usage } = soFar;
    return {
      row,
      sched_ns,
      dispatch_ns,
      socket_ns: this.#socket_ns,
      sent_ns: this.#sent_ns,
      headers_ns: this.#headers_ns,
      first_event_ns: times.first_event_ns,
      first_any_ns: times.first_any_ns,
      first_content_ns: times.first_content_ns,
      last_content_ns: times.last_content_ns,
      done_ns: times.done_ns,
      end_ns: this.#end_ns,
      status: failure?.status ?? 'ok',
      http_status: this.#http_status,
      finish_reason: soFar.finish_reason,
      error_kind: failure?.kind ?? null,
      error_message: failure?.message ?? null,
      prompt_tokens: usage?.prompt_tokens ?? null,
      completion_tokens: counted?.n_tokens ?? null,
      cached_tokens: usage?.cached_tokens ?? null,
      reasoning_tokens: usage?.reasoning_tokens ?? null,
      token_source: counted?.token_source ?? null,
      events: soFar.events,
      content_events: soFar.content_events,
      reads: this.#reads,
      bytes_in: this.#bytes_in,
      bytes_out,
      conn_reused: this.#conn_reused,
      icl_ns: icl_ns.length === 0 ? null : icl_ns,
      event_tokens: event_tokens.length === 0 ? null : event_tokens,
    };
  }
}

const ignore = (): void => {};
