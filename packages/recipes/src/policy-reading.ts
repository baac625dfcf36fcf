import { setImmediate } from 'node:timers/promises';
import type { CallOptions, CallRecord, CallStamps, ClientRequest, Clock } from '@perwatt/core';
import type { PolicyWriting } from './recipe.js';

/** What a policy says, to be read. */
export interface PolicyReading extends PolicyWriting {
  /** Tokens of an answer that comes in one piece; null where each piece is a token. */
  readonly whole_tokens: number | null;
}

/** A call that a policy is read for. */
export interface PolicyCall {
  readonly request: ClientRequest;
  readonly options: CallOptions;
  readonly now: Clock['now'];
  readonly isClosed: () => boolean;
}

type At = CallStamps['dispatch_ns'];

/** How far a reading has come. */
interface Read {
  /** What was told. */
  readonly content: string;
  readonly tokens: number;
  readonly pieces: number;
  /** When the first piece came, and when each part of the content was told. */
  readonly first: At | null;
  readonly told_at: readonly At[];
  readonly ending: 'stop' | 'length' | 'cancelled';
}

/**
 * Reads what a policy says until it ends, meets a stop text, has spent the tokens of the call, or is cancelled. Others have
 * their turn before each piece. Null from `start` makes a failed call.
 */
export async function readPolicy(start: () => PolicyReading | null, call: PolicyCall): Promise<CallRecord> {
  const { now } = call;
  const dispatch_ns = now();
  const isOver = () => call.options.signal?.aborted === true || call.isClosed();
  if (!isOver()) await setImmediate();
  if (isOver()) return failed(dispatch_ns, now(), { status: 'cancelled', text: 'the call was cancelled' });
  const reading = start();
  if (reading === null)
    return failed(dispatch_ns, now(), {
      status: 'protocol_error',
      text: 'the prompt is no item of the recipe',
    });
  const read = withheld(reading, call) ?? (await readPieces(reading, call, isOver));
  return recordOf(read, { reading, call, dispatch_ns, end_ns: now() });
}

/** Tells an answer as it is written: what may yet be the beginning of a stop text is held back until more is known. */
function createTeller({ request, options, now }: PolicyCall) {
  const { stop = [] } = request.sampling;
  const held = Math.max(0, ...stop.map((own) => own.length - 1));
  const told_at: At[] = [];
  let [text, told] = ['', 0];
  const tell = (end: number) => {
    if (end <= told) return;
    told_at.push(now());
    const content = text.slice(told, end);
    told = end;
    options.onDelta?.({ content, reasoning: '' });
  };
  return {
    told_at,
    /** Adds a piece; true where a stop text is complete, which is cut off. */
    add(piece: string): boolean {
      text += piece;
      const cut = firstOf(stop, text);
      text = text.slice(0, cut ?? text.length);
      if (cut === null && request.stream !== false) tell(text.length - held);
      return cut !== null;
    },
    /** Tells the rest. */
    end: () => tell(text.length),
    content: () => text.slice(0, told),
  };
}

/** A whole answer that takes more tokens than may be spent is not given; null for one that is. */
function withheld({ whole_tokens }: PolicyReading, { request }: PolicyCall): Read | null {
  const { max_tokens } = request.sampling;
  if (whole_tokens === null || whole_tokens <= max_tokens) return null;
  return { content: '', tokens: max_tokens, pieces: 0, first: null, told_at: [], ending: 'length' };
}

async function readPieces(
  { pieces, whole_tokens }: PolicyReading,
  call: PolicyCall,
  isOver: () => boolean,
): Promise<Read> {
  const { max_tokens } = call.request.sampling;
  const teller = createTeller(call);
  let [count, tokens, first]: [number, number, At | null] = [0, 0, null];
  const readAs = (ending: Read['ending']): Read => {
    if (ending !== 'cancelled') teller.end();
    return { content: teller.content(), tokens, pieces: count, first, told_at: teller.told_at, ending };
  };
  const reader = pieces[Symbol.iterator]();
  while (tokens < max_tokens) {
    if (count > 0) await setImmediate();
    if (isOver()) return readAs('cancelled');
    const next = reader.next();
    if (next.done === true) break;
    first ??= call.now();
    count += 1;
    tokens += whole_tokens ?? 1;
    if (teller.add(next.value.text) || next.value.ends) return readAs('stop');
  }
  return readAs('length');
}

/** Where the first of some texts begins; null for none. */
function firstOf(texts: readonly string[], text: string): number | null {
  const places = texts.map((own) => (own === '' ? -1 : text.indexOf(own))).filter((at) => at >= 0);
  return places.length === 0 ? null : Math.min(...places);
}

const noTransport = {
  reasoning: '',
  tool_calls: [],
  http_status: null,
  reads: 0,
  bytes_in: 0,
  bytes_out: 0,
  conn_reused: null,
} as const;

const noStamps = {
  socket_ns: null,
  sent_ns: null,
  headers_ns: null,
  first_event_ns: null,
  first_any_ns: null,
  first_content_ns: null,
  last_content_ns: null,
  done_ns: null,
} as const;

const noTokens = {
  finish_reason: null,
  usage: null,
  done: false,
  n_tokens: null,
  token_source: null,
} as const;

function failed(
  dispatch_ns: At,
  end_ns: At,
  { status, text }: { readonly status: 'cancelled' | 'protocol_error'; readonly text: string },
): CallRecord {
  return {
    ...noTransport,
    ...noTokens,
    status,
    content: '',
    events: 0,
    content_events: 0,
    error_kind: status,
    error_message: text,
    stamps: { ...noStamps, dispatch_ns, end_ns },
    icl_ns: [],
  };
}

interface Recording {
  readonly reading: PolicyReading;
  readonly call: PolicyCall;
  readonly dispatch_ns: At;
  readonly end_ns: At;
}

function recordOf(read: Read, { reading, call, dispatch_ns, end_ns }: Recording): CallRecord {
  const { content, tokens, told_at, ending } = read;
  const streams = call.request.stream !== false;
  const [first = null, last = null] = [told_at[0], told_at.at(-1)];
  const shared = {
    ...noTransport,
    content,
    events: streams ? read.pieces : 1,
    content_events: told_at.length,
    stamps: {
      ...noStamps,
      dispatch_ns,
      ...(streams && {
        first_event_ns: read.first,
        first_any_ns: first,
        first_content_ns: first,
        last_content_ns: last,
      }),
      end_ns,
    },
    icl_ns: streams ? told_at.slice(1).map((at, i) => Number(at - (told_at[i] ?? at))) : [],
  };
  if (ending === 'cancelled')
    return {
      ...shared,
      ...noTokens,
      status: ending,
      error_kind: ending,
      error_message: 'the call was cancelled',
    };
  return {
    ...shared,
    status: 'ok',
    finish_reason: ending,
    usage: { prompt_tokens: reading.prompt_tokens, completion_tokens: tokens },
    done: true,
    n_tokens: tokens,
    token_source: 'server_usage',
    error_kind: null,
    error_message: null,
  };
}
