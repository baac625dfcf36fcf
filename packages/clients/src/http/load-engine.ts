import type { Clock, LoadEngine, LoadEngineNeeds, LoadJob } from '@perwatt/core';
import { Client } from 'undici';
import { createCallBatch, type EndedCall } from './call-columns.js';
import { createTemplates } from './chunk-template.js';
import type { Failure } from './failure.js';
import { LoadCall, readClock } from './load-call.js';
import { type Api, addressOf, callPath } from './openai-request.js';

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

const CONNECT_TIMEOUT_MS = 10_000;
const closedFailure: Failure = {
  status: 'cancelled',
  kind: 'client_closed',
  message: 'the client was closed',
};

interface Connection {
  readonly client: Client;
  readonly takeFresh: () => boolean;
}

/**
 * The engine for load: one connection for each call in flight, kept alive and used again last in, first out. It keeps no
 * texts, so that memory is bounded by what is in flight and not yet drained. Statuses are those of `openAiClient`; nothing is
 * retried. Throws `INPUT_INVALID` for an address that is not http or https.
 */
export function createLoadEngine(options: LoadEngineOptions): LoadEngine {
  const { api, connections } = options;
  const address = addressOf(options.url);
  const path = callPath(address, api);
  const headers = [
    'content-type',
    'application/json',
    'accept',
    'text/event-stream, application/json',
    ...(options.apiKey === undefined ? [] : ['authorization', `Bearer ${options.apiKey}`]),
    ...Object.entries(options.headers ?? {}).flat(),
  ];
  const clock = readClock(options.clock);
  const templates = createTemplates();
  const batch = createCallBatch();
  const queue = createQueue<LoadCall>();
  const jobs = new Map<LoadCall, LoadJob>();
  const taken = new Map<LoadCall, Connection>();
  const free: Connection[] = [];
  const all: Connection[] = [];
  let closed: Promise<unknown> | null = null;

  const connect = (): Connection | null => {
    if (all.length >= connections) return null;
    const client = new Client(address.origin, {
      pipelining: 1,
      headersTimeout: 0,
      bodyTimeout: 0,
      connectTimeout: CONNECT_TIMEOUT_MS,
    });
    let fresh = false;
    client.on('connect', () => {
      fresh = true;
    });
    const takeFresh = () => {
      const was = fresh;
      fresh = false;
      return was;
    };
    const connection = { client, takeFresh };
    all.push(connection);
    return connection;
  };

  const reuse = (connection: Connection) => {
    const next = closed === null ? queue.shift() : undefined;
    if (next === undefined) free.push(connection);
    else put(next, connection);
  };

  const onEnd = (call: LoadCall, ended: EndedCall) => {
    batch.add(ended);
    const connection = taken.get(call);
    taken.delete(call);
    jobs.delete(call);
    // undici must be done with a connection that broke before it is given another call.
    if (connection !== undefined) {
      if (ended.status === 'ok') reuse(connection);
      else setImmediate(reuse, connection);
    }
    options.onEnded?.();
  };

  const put = (call: LoadCall, connection: Connection) => {
    const job = jobs.get(call);
    if (job === undefined) return;
    taken.set(call, connection);
    connection.client.dispatch({ path, method: 'POST', headers, body: job.body }, call);
    jobs.delete(call);
  };

  const sweep = sweeper(options, clock, () => taken.keys());

  return {
    send(job) {
      const call: LoadCall = new LoadCall({
        row: job.row,
        sched_ns: job.due_ns,
        dispatch_ns: clock.now(),
        bytes_out: typeof job.body === 'string' ? Buffer.byteLength(job.body) : job.body.length,
        streamed: options.streamed ?? true,
        clock,
        templates,
        takeFresh: () => taken.get(call)?.takeFresh() ?? false,
        onEnd,
      });
      if (closed !== null) return call.end(closedFailure);
      jobs.set(call, job);
      const connection = free.pop() ?? connect();
      if (connection === null) queue.push(call);
      else put(call, connection);
    },
    drain: () => batch.take(),
    get inFlight() {
      return taken.size + queue.length();
    },
    get ended() {
      return batch.length;
    },
    async close() {
      sweep.stop();
      if (closed === null) {
        closed = Promise.all(all.map(({ client }) => client.destroy()));
        for (const call of [...taken.keys(), ...queue.all()]) call.end(closedFailure);
      }
      await closed;
    },
  };
}

/** Ends calls that wait too long. One timer looks at all of them, so that a read costs none. */
function sweeper(options: LoadEngineOptions, clock: Clock, calls: () => Iterable<LoadCall>) {
  const limits = {
    sent: options.headersTimeoutMs ?? 600_000,
    body: options.idleTimeoutMs ?? 120_000,
  };
  const positive = Object.values(limits).filter((limit) => limit > 0);
  if (positive.length === 0) return { stop: () => {} };
  const overdue = (call: LoadCall): Failure | null => {
    const { since_ns, phase } = call.waiting;
    if (since_ns === null || phase === 'queued') return null;
    const limit = limits[phase];
    if (limit <= 0 || Number(clock.now() - since_ns) / 1e6 < limit) return null;
    return phase === 'sent'
      ? { status: 'timeout', kind: 'headers_timeout', message: `no response headers within ${limit} ms` }
      : { status: 'timeout', kind: 'idle_timeout', message: `nothing arrived for ${limit} ms` };
  };
  // A busy event loop may run the timer before it reads what has already arrived: the reads get one turn first.
  const confirm = (suspects: readonly LoadCall[]) => {
    for (const call of suspects) {
      const failure = overdue(call);
      if (failure !== null) call.end(failure);
    }
  };
  const timer = setInterval(
    () => {
      const suspects = [...calls()].filter((call) => overdue(call) !== null);
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
    all: (): readonly T[] => items.slice(head),
  };
}
