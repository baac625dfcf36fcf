import {
  type CallOptions,
  type Client,
  type ClientRequest,
  type Clock,
  PerwattError,
  type ProfileName,
} from '@perwatt/core';
import { Pool } from 'undici';
import { profiles } from '../engines/profiles.js';
import { serverReader } from '../engines/server-reader.js';
import { createTemplates } from './chunk-template.js';
import { endpointFacts } from './endpoint-facts.js';
import { Exchange } from './exchange.js';
import { failureOf } from './failure.js';
import { parseJson } from './json.js';
import { type Address, type Api, addressOf, callPath, isStreamed, requestBody } from './openai-request.js';

/** Where the server is, how it is asked and how long it may take. */
export interface OpenAiClientOptions {
  /** Base address, with or without `/v1`. */
  readonly url: string;
  readonly api: Api;
  /** Sent as a bearer token. */
  readonly apiKey?: string;
  readonly clock: Clock;
  /** How the server differs from others. Default `openai`. */
  readonly profile?: ProfileName;
  /**
   * Where the usage of a streamed answer is asked for: in its last event, or `running`, in every one (vLLM's
   * `continuous_usage_stats`), which tells the tokens of each event. Default: as the profile says.
   */
  readonly usage?: 'last' | 'running';
  /** Asks for answers as long as their limit, where the profile knows how. */
  readonly exactLength?: boolean;
  /** Most connections at a time; calls beyond wait, and `socket_ns` shows it. Default: as many as calls in flight. */
  readonly connections?: number;
  /** Model that `open` looks up for its facts. */
  readonly model?: string;
  /** Longest wait for response headers once a call is on a connection, ms; 0 waits for ever. Default 10 minutes. */
  readonly headersTimeoutMs?: number;
  /** Longest silence between two reads of a body, ms; 0 waits for ever. Default 2 minutes. */
  readonly idleTimeoutMs?: number;
}

const CONNECT_TIMEOUT_MS = 10_000;
const OPEN_TIMEOUT_MS = 15_000;

/**
 * A client of an OpenAI-compatible server over HTTP/1.1. Every call is sent once: nothing is retried or redirected.
 *
 * Failed calls: `connect_error` when no response began, `http_error` for a status other than 2xx, `stream_error` for an
 * error object in a 2xx response, `truncated` when the body ended or the connection broke before `[DONE]` or a finish
 * reason, `timeout` (`headers_timeout`, `idle_timeout`), `cancelled`, and `protocol_error` for what is no answer at all.
 * Partial text and stamps are kept. A break after `[DONE]` does no harm.
 *
 * Throws `INPUT_INVALID` for an address that is not http or https, and for `exactLength` where the profile has no field for it; `open` throws `CLIENT_UNREACHABLE` when nothing
 * accepts connections there, and is content with any answer.
 */
export function openAiClient(options: OpenAiClientOptions): Client {
  const { clock, api } = options;
  const address = addressOf(options.url);
  const profile = profiles[options.profile ?? 'openai'];
  if (options.exactLength === true && profile.exact_length === null)
    throw new PerwattError(
      'INPUT_INVALID',
      `servers of profile ${options.profile ?? 'openai'} know no exact length`,
      {
        hint: 'Name the `profile` of the server, or leave `exact_length` out.',
      },
    );
  const observe = serverReader(`${address.origin}/metrics`, options.apiKey);
  const headers = {
    'content-type': 'application/json',
    accept: 'text/event-stream, application/json',
    ...(options.apiKey === undefined ? {} : { authorization: `Bearer ${options.apiKey}` }),
  };
  const limits = {
    headers_timeout_ms: options.headersTimeoutMs ?? 600_000,
    idle_timeout_ms: options.idleTimeoutMs ?? 120_000,
  };
  const pool = new Pool(address.origin, {
    connections: options.connections ?? null,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    connectTimeout: CONNECT_TIMEOUT_MS,
  });
  const inFlight = new Set<Exchange>();
  const templates = createTemplates();
  const isFresh = watchConnections(pool);
  let closed: Promise<void> | null = null;

  const start = (request: ClientRequest, { signal, onDelta, ...own }: CallOptions): Exchange => {
    const dispatch_ns = clock.now();
    const body = Buffer.from(
      requestBody(request, api, { profile, usage: options.usage, exact: options.exactLength }),
    );
    const exchange = new Exchange({
      clock,
      dispatch_ns,
      streamed: isStreamed(request, profile),
      bytes_out: body.length,
      ...limits,
      ...own,
      signal,
      onDelta,
      isFresh,
      templates,
    });
    if (signal?.aborted === true) exchange.cancel();
    else pool.dispatch({ path: callPath(address, api), method: 'POST', headers, body }, exchange);
    return exchange;
  };

  return {
    async open() {
      const models = await readModels(pool, address, headers);
      return endpointFacts(`${address.origin}${address.base}`, options.model, models);
    },
    async call(request, callOptions = {}) {
      const exchange = start(request, callOptions);
      inFlight.add(exchange);
      return exchange.record.finally(() => inFlight.delete(exchange));
    },
    observe,
    close() {
      for (const each of inFlight)
        each.cancel({ status: 'cancelled', kind: 'client_closed', message: 'the client was closed' });
      closed ??= pool.destroy();
      return closed;
    },
  };
}

/** Tells whether the connection being handed to a call has just been made: undici does both in one go. */
function watchConnections(pool: Pool): () => boolean {
  let fresh = false;
  pool.on('connect', () => {
    fresh = true;
    queueMicrotask(() => {
      fresh = false;
    });
  });
  return () => fresh;
}

/** The server's list of models; null when it answers anything else. Throws when it cannot be reached. */
async function readModels(
  pool: Pool,
  { origin, base, query }: Address,
  headers: Readonly<Record<string, string>>,
): Promise<unknown> {
  try {
    const response = await pool.request({
      path: `${base}/models${query}`,
      method: 'GET',
      headers,
      signal: AbortSignal.timeout(OPEN_TIMEOUT_MS),
    });
    const text = await response.body.text();
    return response.statusCode === 200 ? (parseJson(text) ?? null) : null;
  } catch (error) {
    const { status, kind, message } = failureOf(error, 'queued');
    if (status !== 'connect_error' || kind === 'unknown' || kind === 'connection_closed') return null;
    throw new PerwattError('CLIENT_UNREACHABLE', `cannot reach ${origin}: ${message}`, { cause: error });
  }
}
