import type { Clock, Instant } from '@perwatt/core';
import type { Dispatcher } from 'undici';
import { type BodyReader, noEventTimes } from './body-reader.js';
import { bodyReaderFor, type ResponseHeaders } from './body-reader-for.js';
import type { EndedCall } from './call-columns.js';
import type { ChunkTemplates } from './chunk-template.js';
import { countTokens } from './count-tokens.js';
import { createAnswer } from './delta.js';
import { type Failure, failureOf, type Phase } from './failure.js';

/** One stamp for everything that a socket read brings. */
export interface ReadClock extends Clock {
  /** Now, or the same as before where the read at hand has a stamp already. */
  read(): Instant;
}

/** All callbacks of one socket read run before the next microtask. */
export function readClock(clock: Clock): ReadClock {
  let at: Instant | null = null;
  const forget = () => {
    at = null;
  };
  return {
    now: () => clock.now(),
    read() {
      if (at !== null) return at;
      at = clock.now();
      queueMicrotask(forget);
      return at;
    },
  };
}

/** What a call of the load engine needs to know beside its body. */
export interface LoadCallOptions {
  readonly row: number;
  readonly sched_ns: bigint | null;
  readonly dispatch_ns: Instant;
  readonly bytes_out: number;
  readonly streamed: boolean;
  readonly clock: ReadClock;
  readonly templates: ChunkTemplates;
  /** Whether the connection has just been made; asked once, when the call is put on it. */
  readonly takeFresh: () => boolean;
  readonly onEnd: (call: LoadCall, ended: EndedCall) => void;
}

/**
 * One request of the load engine from dispatch to its row: like the client's exchange, without texts, promises and timers of its
 * own. No method throws.
 */
export class LoadCall implements Dispatcher.DispatchHandler {
  readonly #options: LoadCallOptions;
  readonly #answer = createAnswer();
  readonly #times = noEventTimes();
  #phase: Phase = 'queued';
  #over = false;
  #controller: Dispatcher.DispatchController | null = null;
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

  /** When it last got anywhere, or null while it waits for a connection; and what it waits for. */
  get waiting(): { readonly since_ns: Instant | null; readonly phase: Phase } {
    return { since_ns: this.#read_ns ?? this.#headers_ns ?? this.#socket_ns, phase: this.#phase };
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#over) {
      controller.abort(new Error('the call was cancelled'));
      return;
    }
    this.#controller = controller;
    this.#phase = 'sent';
    this.#socket_ns = this.#options.clock.now();
    this.#conn_reused = !this.#options.takeFresh();
    // undici writes the whole request right after this call returns.
    queueMicrotask(this.#onSent);
  }

  readonly #onSent = (): void => {
    if (!this.#over) this.#sent_ns = this.#options.clock.now();
  };

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: ResponseHeaders,
  ): void {
    if (this.#over || status < 200) return;
    this.#phase = 'body';
    this.#headers_ns = this.#options.clock.read();
    this.#http_status = status;
    const { streamed, templates } = this.#options;
    this.#reader = bodyReaderFor(
      { status, headers },
      { streamed, answer: this.#answer, times: this.#times, onDelta: ignore, templates, keepText: false },
    );
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#over) return;
    const at = this.#options.clock.read();
    if (this.#read_ns !== at) this.#reads += 1;
    this.#read_ns = at;
    this.#bytes_in += chunk.length;
    const failure = this.#reader?.take(chunk, at) ?? null;
    if (failure !== null) this.#abandon(failure, at);
  }

  onResponseEnd(): void {
    if (!this.#over) this.#settle(this.#reader?.end(null) ?? null, this.#options.clock.read());
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (!this.#over) this.end(failureOf(error, this.#phase));
  }

  /** Ends the call as if the connection had broken. */
  end(cut: Failure): void {
    if (this.#over) return;
    this.#abandon(this.#reader === null ? cut : this.#reader.end(cut), this.#options.clock.now());
  }

  #abandon(failure: Failure | null, end_ns: Instant): void {
    const controller = this.#controller;
    this.#settle(failure, end_ns);
    controller?.abort(new Error(failure?.message ?? 'the answer is complete'));
  }

  #settle(failure: Failure | null, end_ns: Instant): void {
    this.#over = true;
    this.#options.onEnd(this, this.#endedCall(failure, end_ns));
  }

  #endedCall(failure: Failure | null, end_ns: Instant): EndedCall {
    const soFar = this.#answer.soFar();
    const { row, sched_ns, dispatch_ns, bytes_out, streamed } = this.#options;
    const { icl_ns, event_tokens, ...times } = streamed ? this.#times : noEventTimes();
    const counted = failure === null ? countTokens(soFar) : null;
    const { usage } = soFar;
    return {
      row,
      sched_ns,
      dispatch_ns,
      socket_ns: this.#socket_ns,
      sent_ns: this.#sent_ns,
      headers_ns: this.#headers_ns,
      ...times,
      end_ns,
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
