import type {
  CallOptions,
  CallRecord,
  CallStamps,
  CallStatus,
  Client,
  ClientRequest,
  Clock,
  Instant,
  Usage,
} from '@perwatt/core';
import { type ScriptedAnswer, scriptedAnswer } from './scripted-model.js';

/** What a fake client does with one request: answers, or fails after the tokens it has. */
export type FakeAnswer =
  | ScriptedAnswer
  | {
      readonly status: Exclude<CallStatus, 'ok'>;
      readonly error_message: string;
      readonly tokens?: readonly string[];
    };

/** How a fake client answers, and on what clock. */
export interface FakeClientOptions {
  readonly clock: Clock;
  /** Default: the scripted model. */
  readonly answer?: (request: ClientRequest, seq: number) => FakeAnswer;
  /** Time to the first token, ns; handed to `wait`. Default 0. */
  readonly first_ns?: number;
  /** Time between tokens, ns; handed to `wait`. Default 0. */
  readonly gap_ns?: number;
  /** Lets time pass: for a manual clock, moves it on. Default: gives way to other work once. */
  readonly wait?: (ns: number) => Promise<void>;
}

/** A client without a server, and what it has been asked. */
export interface FakeClient extends Client {
  /** Every request so far. */
  readonly requests: readonly ClientRequest[];
  /** Most calls that were in flight at one time. */
  readonly peak: number;
}

const giveWay = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A client that answers from a script in this process, held to the same contract as the real ones. */
export function fakeClient(options: FakeClientOptions): FakeClient {
  const answer = options.answer ?? scriptedAnswer;
  const requests: ClientRequest[] = [];
  let closed = false;
  let inFlight = 0;
  let peak = 0;
  return {
    requests,
    get peak() {
      return peak;
    },
    open: async () => ({
      kind: 'fake',
      endpoint: 'fake',
      engine: null,
      engine_version: null,
      model: 'scripted',
      model_sha256: null,
      quantisation: null,
      chat_template_sha256: null,
      context_tokens: null,
      threads: null,
      pids: [],
    }),
    async call(request, callOptions = {}) {
      const seq = requests.push(request) - 1;
      inFlight += 1;
      peak = Math.max(peak, inFlight);
      const record = await play(answer(request, seq), {
        request,
        callOptions,
        options,
        isClosed: () => closed,
      });
      inFlight -= 1;
      return record;
    },
    async close() {
      closed = true;
    },
  };
}

interface Play {
  readonly request: ClientRequest;
  readonly callOptions: CallOptions;
  readonly options: FakeClientOptions;
  readonly isClosed: () => boolean;
}

interface Delivered {
  readonly content: string;
  readonly times: readonly Instant[];
  readonly stopped: boolean;
}

/** Hands the tokens out one by one, as long as nobody stops it. */
async function deliver(tokens: readonly string[], play: Play): Promise<Delivered> {
  const { clock, wait = giveWay, first_ns = 0, gap_ns = 0 } = play.options;
  const stopped = () => play.callOptions.signal?.aborted === true || play.isClosed();
  const times: Instant[] = [];
  let content = '';
  if (tokens.length === 0 && !stopped()) await wait(first_ns);
  for (const token of tokens) {
    if (!stopped()) await wait(times.length === 0 ? first_ns : gap_ns);
    if (stopped()) break;
    times.push(clock.now());
    content += token;
    play.callOptions.onDelta?.({ content: token, reasoning: '' });
  }
  return { content, times, stopped: stopped() };
}

const cancelled = { status: 'cancelled', error_message: 'the call was cancelled' } as const;

/** Exactly one of the two: how the call failed, or the answer it got. */
function outcome(script: FakeAnswer, stopped: boolean) {
  if (stopped) return { failure: cancelled, answered: null };
  return 'status' in script ? { failure: script, answered: null } : { failure: null, answered: script };
}

async function play(script: FakeAnswer, context: Play): Promise<CallRecord> {
  const { clock } = context.options;
  const dispatch_ns = clock.now();
  const { content, times, stopped } = await deliver(script.tokens ?? [], context);
  const { failure, answered } = outcome(script, stopped);
  const streamed = context.request.stream ?? true;
  const seen = streamed ? times : [];
  return {
    status: failure?.status ?? 'ok',
    content,
    reasoning: '',
    tool_calls: [],
    finish_reason: answered?.finish_reason ?? null,
    ...counts(answered?.usage ?? null),
    done: answered !== null && streamed,
    events: seen.length,
    content_events: seen.length,
    http_status: null,
    error_kind: failure === null ? null : 'scripted',
    error_message: failure?.error_message ?? null,
    reads: seen.length,
    bytes_in: 0,
    bytes_out: 0,
    conn_reused: null,
    stamps: stampsOf({ dispatch_ns, times: seen, end_ns: clock.now() }),
    icl_ns: seen.slice(1).map((at, i) => Number(at - (seen[i] ?? at))),
  };
}

const counts = (usage: Usage | null): Pick<CallRecord, 'usage' | 'n_tokens' | 'token_source'> => ({
  usage,
  n_tokens: usage?.completion_tokens ?? null,
  token_source: usage === null ? null : 'server_usage',
});

interface Span {
  readonly dispatch_ns: Instant;
  readonly times: readonly Instant[];
  readonly end_ns: Instant;
}

function stampsOf({ dispatch_ns, times, end_ns }: Span): CallStamps {
  const first = times[0] ?? null;
  return {
    dispatch_ns,
    socket_ns: null,
    sent_ns: null,
    headers_ns: null,
    first_event_ns: first,
    first_any_ns: first,
    first_content_ns: first,
    last_content_ns: times.at(-1) ?? null,
    done_ns: null,
    end_ns,
  };
}
