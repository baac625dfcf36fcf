import { elapsed, type Instant } from '@perwatt/core';
import { type ChunkTemplates, createTemplates } from './chunk-template.js';
import type { AnswerBuilder, Step } from './delta.js';
import { type Failure, httpFailure } from './failure.js';
import { createSseParser } from './sse.js';

/** Reads one response body, a socket read at a time. */
export interface BodyReader {
  /** Takes what one read brought at `at`, of which it keeps nothing but copies; a failure ends the call. */
  take(bytes: Uint8Array, at: Instant): Failure | null;
  /** The body has ended: the failure it amounts to, or null for an answer. `cut` says how the connection broke, if it did. */
  end(cut: Failure | null): Failure | null;
}

/** Times of a stream's events, each the stamp of the read that completed the event. Null until it happens. */
export interface EventTimes {
  first_event_ns: Instant | null;
  first_any_ns: Instant | null;
  first_content_ns: Instant | null;
  last_content_ns: Instant | null;
  done_ns: Instant | null;
  /** Gaps between successive non-empty events, ns. */
  readonly icl_ns: number[];
  /**
   * Tokens that each non-empty event brought, by the server's running usage; empty where it does not run. What was counted
   * beside them, in empty events, is the next one's.
   */
  readonly event_tokens: number[];
}

export const noEventTimes = (): EventTimes => ({
  first_event_ns: null,
  first_any_ns: null,
  first_content_ns: null,
  last_content_ns: null,
  done_ns: null,
  icl_ns: [],
  event_tokens: [],
});

export interface StreamTarget {
  readonly answer: AnswerBuilder;
  readonly times: EventTimes;
  readonly onDelta: (delta: { readonly content: string; readonly reasoning: string }) => void;
  /** Whether the response calls itself an event stream. */
  readonly declared: boolean;
  /** Forms of events that are known already. Default: none. */
  readonly templates?: ChunkTemplates;
  /** False leaves texts out where the answer is not needed: a delta then has '' for its text. Default true. */
  readonly keepText?: boolean;
}

const MAX_KEPT_BYTES = 1 << 20;

/**
 * Reads an event stream into `answer` and `times`. Nothing is read after an error or `[DONE]`. A stream that ends without
 * `[DONE]` is an answer when a finish reason was seen, else truncated. Bytes that held no event at all are judged as one
 * JSON text unless they were declared a stream and look like one, so that an error body or a web page is told apart.
 */
export function streamReader(target: StreamTarget): BodyReader {
  const { answer, templates = createTemplates(), keepText = true } = target;
  const kept = keptBytes();
  let failure: Failure | null = null;
  let at: Instant | null = null;
  let ended = false;

  const countTokens = tokenSteps(target.times);

  const follow = (step: Step) => {
    markTimes(target.times, step, at);
    countTokens(step);
    if (step.kind === 'failed') failure = step.failure;
    if (step.kind === 'delta' && (step.content !== '' || step.reasoning !== ''))
      target.onDelta({ content: step.content, reasoning: step.reasoning });
  };

  const takeWhole = (bytes: Uint8Array, start: number): number => {
    if (failure !== null || ended) return -1;
    const end = templates.match(bytes, start);
    if (end < 0) return -1;
    const { found } = templates;
    follow(answer.takeMatched(found, keepText ? textAt(bytes, found.text_start, found.text_end) : ''));
    return end;
  };

  const parser = createSseParser((event) => {
    if (failure !== null || ended) return;
    const step = answer.takeEvent(event);
    if (step.kind === 'delta' && !step.empty && event.terminated) templates.learn(event.data);
    follow(step);
  }, takeWhole);

  const judge = (cut: Failure | null): Failure | null => {
    const { done, finish_reason, events } = answer.soFar();
    if (done) return null;
    if (cut !== null && !endsBody(cut)) return cut;
    if (finish_reason !== null) return null;
    const text = kept.text().trim();
    const looksLikeStream = target.declared && !/^[{<]/.test(text);
    return events > 0 || looksLikeStream ? (cut ?? truncated(events)) : judgeBody(answer, text, cut);
  };

  return {
    take(bytes, now) {
      at = now;
      parser.push(bytes);
      if (target.times.first_event_ns === null) kept.add(bytes);
      return failure;
    },
    end(cut) {
      parser.end();
      ended = true;
      return failure ?? judge(cut);
    },
  };
}

const textAt = (bytes: Uint8Array, start: number, end: number): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8');

/** Whether a break of the connection is like an end of the body: what came before it counts as it stands. */
const endsBody = (cut: Failure): boolean => cut.status === 'truncated';

function markTimes(times: EventTimes, step: Step, at: Instant | null): void {
  if (at === null || step.kind === 'none') return;
  if (step.kind === 'done') {
    times.done_ns = at;
    return;
  }
  times.first_event_ns ??= at;
  if (step.kind === 'failed' || step.empty) return;
  if (times.last_content_ns !== null) times.icl_ns.push(elapsed(times.last_content_ns, at));
  times.last_content_ns = at;
  times.first_any_ns ??= at;
  if (step.answers) times.first_content_ns ??= at;
}

/** Follows the running count of a stream: the tokens of each non-empty event. A stream that leaves one uncounted has none. */
function tokenSteps({ event_tokens }: EventTimes): (step: Step) => void {
  let before = 0;
  let runs = true;
  return (step) => {
    if (!runs || step.kind !== 'delta' || step.empty) return;
    runs = step.counted !== null && step.counted >= before;
    if (runs) {
      event_tokens.push((step.counted ?? 0) - before);
      before = step.counted ?? 0;
    } else event_tokens.length = 0;
  };
}

const truncated = (events: number): Failure => ({
  status: 'truncated',
  kind: events === 0 ? 'empty_stream' : 'no_finish_reason',
  message: `the stream ended after ${events} events without [DONE] or a finish reason`,
});

/** Reads a body that is one JSON text: an answer that was not streamed, or an error object. */
export function wholeReader(answer: AnswerBuilder): BodyReader {
  const kept = keptBytes(Number.POSITIVE_INFINITY);
  return {
    take(bytes) {
      kept.add(bytes);
      return null;
    },
    end: (cut) => judgeBody(answer, kept.text(), cut),
  };
}

function judgeBody(answer: AnswerBuilder, text: string, cut: Failure | null): Failure | null {
  const failure = answer.takeBody(text);
  return failure !== null && failure.status !== 'stream_error' ? (cut ?? failure) : failure;
}

/** Reads the body of a response with a status other than 2xx, for its message. */
export function errorReader(status: number, location: string | null): BodyReader {
  const kept = keptBytes();
  return {
    take(bytes) {
      kept.add(bytes);
      return null;
    },
    end: (cut) => (cut?.status === 'cancelled' ? cut : httpFailure(status, kept.text(), location)),
  };
}

function keptBytes(limit = MAX_KEPT_BYTES) {
  const parts: Uint8Array[] = [];
  let size = 0;
  return {
    add(bytes: Uint8Array) {
      if (size < limit) parts.push(new Uint8Array(bytes));
      size += bytes.length;
    },
    text: (): string =>
      Buffer.concat(parts)
        .toString('utf8')
        .replace(/^\uFEFF/, ''),
  };
}
