import type { CallOptions, CallRecord, Clock, Instant } from '@perwatt/core';
import type { Dispatcher } from 'undici';
import { type BodyReader, noEventTimes } from './body-reader.js';
import { bodyReaderFor, type ResponseHeaders } from './body-reader-for.js';
import type { ChunkTemplates } from './chunk-template.js';
import { countTokens } from './count-tokens.js';
import { createAnswer } from './delta.js';
import { type Failure, failureOf, type Phase } from './failure.js';
import { startWatch, type Watch } from './watch.js';

/** What an exchange needs to know beside the request itself. */
export interface ExchangeOptions {
  readonly clock: Clock;
  readonly dispatch_ns: Instant;
  /** Whether a stream was asked for; else every token time is null. */
  readonly streamed: boolean;
  readonly bytes_out: number;
  readonly headers_timeout_ms: number;
  readonly idle_timeout_ms: number;
  readonly signal?: AbortSignal | undefined;
  readonly onDelta?: CallOptions['onDelta'] | undefined;
  /** Whether the connection being taken has just been made. */
  readonly isFresh: () => boolean;
  /** Forms of events that the server has been seen to send. */
  readonly templates: ChunkTemplates;
}

const cancelled: Failure = { status: 'cancelled', kind: 'aborted', message: 'the call was cancelled' };

/**
 * One request from dispatch to its record, as a handler of undici's `dispatch`. One stamp is taken per socket read, before
 * parsing, and given to everything the read brought. No method throws; `record` rejects only with what the caller's own
 * `onDelta` threw.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly record: Promise<CallRecord>;
  readonly #options: ExchangeOptions;
  #resolve: (record: CallRecord) => void = () => {};
  #reject: (error: unknown) => void = () => {};
  readonly #answer = createAnswer();
  readonly #times = noEventTimes();
  #phase: Phase = 'queued';
  #over = false;
  #controller: Dispatcher.DispatchController | null = null;
  #reader: BodyReader | null = null;
  #watch: Watch | null = null;
  #http_status: number | null = null;
  #conn_reused: boolean | null = null;
  #socket_ns: Instant | null = null;
  #sent_ns: Instant | null = null;
  #headers_ns: Instant | null = null;
  #read_ns: Instant | null = null;
  #counted_ns: Instant | null = null;
  #reads = 0;
  #bytes_in = 0;

  constructor(options: ExchangeOptions) {
    this.#options = options;
    this.record = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    options.signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#over) {
      controller.abort(new Error(cancelled.message));
      return;
    }
    this.#controller = controller;
    this.#phase = 'sent';
    this.#socket_ns = this.#options.clock.now();
    this.#conn_reused = !this.#options.isFresh();
    // undici writes the whole request right after this call returns.
    queueMicrotask(() => {
      this.#sent_ns = this.#over ? null : this.#options.clock.now();
    });
    const { headers_timeout_ms: limit } = this.#options;
    this.#watchFor(limit, 'headers_timeout', `no response headers within ${limit} ms`);
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: ResponseHeaders,
  ): void {
    if (this.#over || status < 200) return;
    this.#phase = 'body';
    this.#headers_ns = this.#stamp();
    this.#http_status = status;
    this.#reader = this.#readerFor(status, headers);
    const { idle_timeout_ms: limit } = this.#options;
    this.#watchFor(limit, 'idle_timeout', `nothing arrived for ${limit} ms`);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#over) return;
    const at = this.#stamp();
    if (this.#counted_ns === null) this.#reads += 1;
    this.#counted_ns = at;
    this.#bytes_in += chunk.length;
    this.#watch?.feed();
    const failure = this.#reader?.take(chunk, at) ?? null;
    if (failure !== null) this.#fail(failure, at);
  }

  onResponseEnd(): void {
    if (!this.#over) this.#settle(this.#reader?.end(null) ?? null, this.#stamp());
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (!this.#over) this.#break(failureOf(error, this.#phase));
  }

  /** Ends the call as if the connection had broken: the partial answer is kept. */
  cancel(failure: Failure = cancelled): void {
    if (!this.#over) this.#break(failure);
  }

  readonly #onAbort = (): void => this.cancel();

  /** The stamp of the socket read being handled: all its callbacks run before the next microtask. */
  #stamp(): Instant {
    if (this.#read_ns === null) {
      this.#read_ns = this.#options.clock.now();
      queueMicrotask(() => {
        this.#read_ns = null;
        this.#counted_ns = null;
      });
    }
    return this.#read_ns;
  }

  #watchFor(limitMs: number, kind: string, message: string): void {
    this.#watch?.stop();
    this.#watch = startWatch(limitMs, () => this.#break({ status: 'timeout', kind, message }));
  }

  #readerFor(status: number, headers: ResponseHeaders): BodyReader {
    return bodyReaderFor(
      { status, headers },
      {
        streamed: this.#options.streamed,
        answer: this.#answer,
        times: this.#times,
        onDelta: (delta) => this.#tell(delta),
        templates: this.#options.templates,
      },
    );
  }

  #tell(delta: { readonly content: string; readonly reasoning: string }): void {
    try {
      this.#options.onDelta?.(delta);
    } catch (error) {
      this.#finish();
      this.#controller?.abort(new Error('the listener failed'));
      this.#reject(error);
    }
  }

  /** The connection is of no more use: judges what has arrived, then lets it go. */
  #break(cut: Failure): void {
    const failure = this.#reader === null ? cut : this.#reader.end(cut);
    this.#fail(failure, this.#options.clock.now());
  }

  #fail(failure: Failure | null, end_ns: Instant): void {
    this.#settle(failure, end_ns);
    this.#controller?.abort(new Error(failure?.message ?? 'the answer is complete'));
  }

  #finish(): void {
    this.#over = true;
    this.#watch?.stop();
    this.#options.signal?.removeEventListener('abort', this.#onAbort);
  }

  #settle(failure: Failure | null, end_ns: Instant): void {
    if (this.#over) return;
    this.#finish();
    const record = this.#recordOf(failure, end_ns);
    // undici frees a connection in an immediate of its own; a call made before that would open another one.
    setImmediate(() => setImmediate(() => this.#resolve(record)));
  }

  #recordOf(failure: Failure | null, end_ns: Instant): CallRecord {
    const soFar = this.#answer.soFar();
    const { icl_ns, event_tokens, ...times } = this.#options.streamed ? this.#times : noEventTimes();
    const counted = failure === null ? countTokens(soFar) : null;
    return {
      status: failure?.status ?? 'ok',
      ...soFar,
      n_tokens: counted?.n_tokens ?? null,
      token_source: counted?.token_source ?? null,
      http_status: this.#http_status,
      error_kind: failure?.kind ?? null,
      error_message: failure?.message ?? null,
      reads: this.#reads,
      bytes_in: this.#bytes_in,
      bytes_out: this.#options.bytes_out,
      conn_reused: this.#conn_reused,
      stamps: {
        dispatch_ns: this.#options.dispatch_ns,
        socket_ns: this.#socket_ns,
        sent_ns: this.#sent_ns,
        headers_ns: this.#headers_ns,
        ...times,
        end_ns,
      },
      icl_ns,
      event_tokens: event_tokens.length === 0 ? null : event_tokens,
    };
  }
}
