import type { Clock, LoadEngine, LoadEngineNeeds } from '@perwatt/core';
import { createCallBatch, type EndedCall } from './call-columns.js';
import { createTemplates } from './chunk-template.js';
import type { Failure } from './failure.js';
import { LoadCall } from './load-call.js';
import { type ConnectionParts, headerLines, LoadConnection } from './load-connection.js';
import { type Address, type Api, addressOf, callPath } from './openai-request.js';
import { createReadQueue } from './read-queue.js';

/** Where the load goes, and within which limits. */
export interface LoadEngineOptions extends Partial<LoadEngineNeeds> {
  /** Base address, with or without `/v1`. */
  readonly url: string;
  readonly api: Api;
  readonly clock: Clock;
  /** Most calls in flight, each on a connection of its own. Exact. */
  readonly connections: number;
  /** Sent as a bearer token. */
  readonly apiKey?: string;
  /** Longest wait for response headers once a call is on a connection, ms; 0 waits for ever. Default 10 minutes. */
  readonly headersTimeoutMs?: number;
  /** Longest silence between two reads of a body, ms; 0 waits for ever. Default 2 minutes. */
  readonly idleTimeoutMs?: number;
  /** Headers beside the usual ones. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the bodies ask for streams; else every token time is null. Default true. */
  readonly streamed?: boolean;
}

const closedFailure: Failure = {
  status: 'cancelled',
  kind: 'client_closed',
  message: 'the client was closed',
};

interface Waiting {
  readonly call: LoadCall;
  readonly body: Buffer | string;
}

/**
 * The engine for load: one connection for each call in flight, kept alive and used again last in, first out. It speaks HTTP/1.1
 * on sockets of its own, and reads all that have something before it parses any of it. It keeps no texts, so that memory is
 * bounded by what is in flight and not yet drained. Statuses are those of `openAiClient`; nothing is retried. Throws
 * `INPUT_INVALID` for an address that is not http or https, and for headers that HTTP does not allow.
 */
export function createLoadEngine(options: LoadEngineOptions): LoadEngine {
  const { clock, connections, streamed = true } = options;
  const address = addressOf(options.url);
  const templates = createTemplates();
  const batch = createCallBatch();
  const queue = createQueue<Waiting>();
  const all = new Set<LoadConnection>();
  const free: LoadConnection[] = [];
  let busy = 0;
  let closed = false;

  const tell = (call: LoadCall, { row, status, end_ns }: EndedCall) => {
    options.onEnded?.({ row, ok: status === 'ok', end_ns: end_ns ?? 0n, text: call.text });
  };

  const release = (connection: LoadConnection, open: boolean) => {
    if (!open) all.delete(connection);
    const next = closed ? undefined : queue.shift();
    if (next === undefined) {
      if (open) free.push(connection);
      return;
    }
    busy += 1;
    if (open) connection.take(next.call, next.body);
    else connect(next);
  };

  const parts: ConnectionParts = {
    origin: address.origin,
    clock,
    head: requestHead(address, options),
    known: new Map(),
    reads: createReadQueue((connection, bytes, at) => connection.read(bytes, at)),
    onEnded(connection, call, open) {
      busy -= 1;
      const ended = call.ended();
      batch.add(ended);
      release(connection, open);
      tell(call, ended);
    },
    onLost(connection) {
      all.delete(connection);
      const at = free.indexOf(connection);
      if (at >= 0) free.splice(at, 1);
    },
  };

  const connect = ({ call, body }: Waiting) => {
    all.add(new LoadConnection(parts, call, body));
  };

  const refuse = (call: LoadCall) => {
    call.end(closedFailure, clock.now());
    const ended = call.ended();
    batch.add(ended);
    tell(call, ended);
  };

  const sweep = sweeper(options, clock, all);

  return {
    send({ row, due_ns, body, keep_text = false }) {
      const call = new LoadCall({
        row,
        sched_ns: due_ns,
        dispatch_ns: clock.now(),
        bytes_out: typeof body === 'string' ? Buffer.byteLength(body) : body.length,
        streamed,
        keep_text,
        templates,
      });
      if (closed) return refuse(call);
      if (busy >= connections) {
        queue.push({ call, body });
        return;
      }
      busy += 1;
      const connection = free.pop();
      if (connection === undefined) connect({ call, body });
      else connection.take(call, body);
    },
    drain: () => batch.take(),
    get inFlight() {
      return busy + queue.length();
    },
    get ended() {
      return batch.length;
    },
    async close() {
      sweep.stop();
      if (closed) return;
      closed = true;
      const waiting = queue.clear();
      for (const connection of [...all]) {
        const { call } = connection;
        if (call === null) connection.close();
        else connection.drop(call, closedFailure);
      }
      for (const { call } of waiting) refuse(call);
    },
  };
}

/** First bytes of every request to an address, up to the value of `content-length`. */
function requestHead(address: Address, { api, apiKey, headers }: LoadEngineOptions): string {
  const lines = headerLines({
    host: new URL(address.origin).host,
    connection: 'keep-alive',
    'content-type': 'application/json',
    accept: 'text/event-stream, application/json',
    ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
    ...headers,
  });
  return `POST ${callPath(address, api)} HTTP/1.1\r\n${lines}content-length: `;
}

interface Suspect {
  readonly connection: LoadConnection;
  readonly call: LoadCall;
}

/** Ends calls that wait too long. One timer looks at all of them, so that a read costs none. */
function sweeper(options: LoadEngineOptions, clock: Clock, connections: Iterable<LoadConnection>) {
  const limits = {
    queued: 0,
    sent: options.headersTimeoutMs ?? 600_000,
    body: options.idleTimeoutMs ?? 120_000,
  };
  const positive = Object.values(limits).filter((limit) => limit > 0);
  if (positive.length === 0) return { stop: () => {} };
  const overdue = ({ phase, since_ns }: LoadCall): Failure | null => {
    const limit = limits[phase];
    if (since_ns === null || limit <= 0 || Number(clock.now() - since_ns) / 1e6 < limit) return null;
    return phase === 'sent'
      ? { status: 'timeout', kind: 'headers_timeout', message: `no response headers within ${limit} ms` }
      : { status: 'timeout', kind: 'idle_timeout', message: `nothing arrived for ${limit} ms` };
  };
  // A busy event loop may run the timer before it reads what has already arrived: the reads get one turn first.
  const confirm = (suspects: readonly Suspect[]) => {
    for (const { connection, call } of suspects) {
      const failure = overdue(call);
      if (failure !== null) connection.drop(call, failure);
    }
  };
  const timer = setInterval(
    () => {
      const suspects: Suspect[] = [];
      for (const connection of connections) {
        const { call } = connection;
        if (call !== null && overdue(call) !== null) suspects.push({ connection, call });
      }
      if (suspects.length > 0) setImmediate(confirm, suspects);
    },
    Math.min(1000, Math.max(10, Math.min(...positive) / 8)),
  );
  timer.unref();
  return { stop: () => clearInterval(timer) };
}

/** First in, first out. */
function createQueue<T>() {
  let items: T[] = [];
  let head = 0;
  return {
    length: () => items.length - head,
    push: (item: T) => void items.push(item),
    shift(): T | undefined {
      const item = items[head];
      if (item === undefined) return undefined;
      head += 1;
      if (head > 1024 && head * 2 > items.length) {
        items = items.slice(head);
        head = 0;
      }
      return item;
    },
    /** Takes everything out. */
    clear(): readonly T[] {
      const rest = items.slice(head);
      items = [];
      head = 0;
      return rest;
    },
  };
}
