import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import {
  type CallInput,
  type CallOptions,
  type CallRecord,
  type Client,
  type Clock,
  type EndpointFacts,
  messageOf,
  PerwattError,
} from '@perwatt/core';
import { createStopScanner } from '../embedded/stop-scanner.js';
import { TOOL_CALL } from '../embedded/tool-blocks.js';
import { type AnswerHead, answerJson, chunkJson, finishJson, usageChunkJson } from './answer-json.js';
import { type Api, parseRequest } from './parse-request.js';
import { errorBody, Refusal } from './refusal.js';
import { type ServeCounts, serveCounts } from './serve-metrics.js';

/** Who answers, under which names, and where. */
export interface ServeOptions {
  /** Answers the calls. The caller closes it. */
  readonly client: Client;
  /** Names that the model is served under. */
  readonly models: readonly string[];
  /** Default 127.0.0.1: this machine only. */
  readonly host?: string;
  /** Default 0: any free one. */
  readonly port?: number;
  readonly clock: Clock;
  /** Bearer token that every call must carry. Default: none is asked for. */
  readonly apiKey?: string;
  /** Calls that the client works on at once; those beyond wait, and `/metrics` says so. Default: it takes all. */
  readonly sequences?: number;
  /** Wall time for the `created` fields; without it they are 0. */
  readonly wallTime?: () => Date;
}

/** A running endpoint. */
export interface Served {
  /** Base address with `/v1`. */
  readonly url: string;
  /** Cancels the calls in flight and stops listening. */
  close(): Promise<void>;
}

const MAX_BODY_BYTES = 8 * 1024 * 1024;

/**
 * Puts a client behind an OpenAI-compatible endpoint: `/v1/chat/completions`, `/v1/completions` (both with and without
 * streaming), `/v1/models`, `/health` and `/metrics`. A caller that hangs up cancels its call. Throws `INPUT_INVALID` when the port can't
 * be listened on, and what `client.open` throws.
 */
export async function serveClient(options: ServeOptions): Promise<Served> {
  const facts = await options.client.open();
  const stopping = new AbortController();
  const counts = serveCounts(options.sequences ?? null);
  let seq = 0;
  const server = createServer((request, response) => {
    seq += 1;
    void handle(request, response, { options, facts, counts, id: seq, signal: stopping.signal });
  });
  const { host = '127.0.0.1', port = 0 } = options;
  await listen(server, host, port);
  const address = server.address();
  const bound = typeof address === 'object' && address !== null ? address.port : port;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}/v1`,
    close: () => {
      stopping.abort();
      return new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) =>
      reject(
        new PerwattError('INPUT_INVALID', `cannot listen on ${host}:${port}: ${error.message}`, {
          hint: 'Choose another port with `--port`, or 0 for any free one.',
          cause: error,
        }),
      ),
    );
    server.listen(port, host, resolve);
  });
}

interface Context {
  readonly options: ServeOptions;
  readonly facts: EndpointFacts;
  readonly counts: ServeCounts;
  readonly id: number;
  readonly signal: AbortSignal;
}

async function handle(request: IncomingMessage, response: ServerResponse, context: Context): Promise<void> {
  try {
    await route(request, response, context);
  } catch (error) {
    const refusal = error instanceof Refusal ? error : new Refusal(500, messageOf(error));
    if (response.destroyed) return;
    if (response.headersSent) response.end(`data: ${JSON.stringify(errorBody(refusal))}\n\n`);
    else sendJson(response, refusal.status, errorBody(refusal));
  }
}

async function route(request: IncomingMessage, response: ServerResponse, context: Context): Promise<void> {
  const { pathname } = new URL(request.url ?? '/', 'http://localhost');
  if (pathname === '/health') return only('GET', request, () => sendJson(response, 200, { status: 'ok' }));
  checkKey(request, context.options.apiKey);
  switch (pathname) {
    case '/metrics':
      return only('GET', request, () => sendText(response, context.counts.page()));
    case '/v1/models':
      return only('GET', request, () => sendJson(response, 200, modelsJson(context)));
    case '/v1/chat/completions':
      return only('POST', request, () => answer('chat', request, { response, context }));
    case '/v1/completions':
      return only('POST', request, () => answer('completion', request, { response, context }));
    default:
      throw new Refusal(404, `there is no ${pathname}`, { code: 'not_found' });
  }
}

function only(
  method: string,
  request: IncomingMessage,
  then: () => void | Promise<void>,
): void | Promise<void> {
  if (request.method === method) return then();
  throw new Refusal(405, `use ${method} here, not ${request.method}`, { code: 'method_not_allowed' });
}

function checkKey({ headers }: IncomingMessage, apiKey: string | undefined): void {
  if (apiKey === undefined) return;
  const digest = (text: string) => createHash('sha256').update(text).digest();
  if (!timingSafeEqual(digest(headers.authorization ?? ''), digest(`Bearer ${apiKey}`)))
    throw new Refusal(401, 'the API key is missing or wrong', {
      type: 'authentication_error',
      code: 'invalid_api_key',
    });
}

/** Beside what every such server says, the `perwatt` block holds the facts that records need. */
function modelsJson({ options, facts }: Context) {
  const {
    engine,
    engine_version,
    model_sha256,
    quantisation,
    chat_template_sha256,
    context_tokens,
    threads,
  } = facts;
  const perwatt = {
    engine,
    engine_version,
    model_sha256,
    quantisation,
    chat_template_sha256,
    context_tokens,
    threads,
  };
  return {
    object: 'list',
    data: options.models.map((id) => ({
      id,
      object: 'model',
      created: createdAt(options),
      owned_by: 'perwatt',
      perwatt,
    })),
  };
}

const createdAt = ({ wallTime }: ServeOptions): number =>
  wallTime === undefined ? 0 : Math.floor(wallTime().getTime() / 1000);

interface Answering {
  readonly response: ServerResponse;
  readonly context: Context;
}

async function answer(api: Api, incoming: IncomingMessage, { response, context }: Answering): Promise<void> {
  const { counts, options } = context;
  const { request, include_usage } = parseRequest(api, await bodyOf(incoming), options.models);
  const hungUp = new AbortController();
  response.on('close', () => hungUp.abort());
  const signal = AbortSignal.any([hungUp.signal, context.signal]);
  const prefix = api === 'chat' ? 'chatcmpl' : 'cmpl';
  const of: AnswerHead = {
    api,
    id: `${prefix}-${context.id}`,
    created: createdAt(options),
    model: request.model,
  };
  const ended = counts.begin();
  const call = (more: CallOptions) =>
    options.client.call(request, { signal, ...more }).then(
      (record) => {
        ended(record);
        return record;
      },
      (error: unknown) => {
        ended(null);
        throw error;
      },
    );
  if (!request.stream) {
    const record = await call({});
    refuseFailed(record);
    return sendJson(response, 200, answerJson(of, record));
  }
  const stream = eventStream(response);
  let isFirst: 'first' | 'later' = 'first';
  const told = createStopScanner(offersTools(request.input) ? [TOOL_CALL] : []);
  let sent = 0;
  const tell = (content: string) => {
    if (content === '') return;
    sent += content.length;
    stream.send(chunkJson(of, content, isFirst));
    isFirst = 'later';
  };
  const record = await call({ onDelta: ({ content }) => tell(told.push(content)) });
  refuseFailed(record);
  tell(told.stopped && record.tool_calls.length === 0 ? record.content.slice(sent) : told.end());
  stream.send(finishJson(of, record));
  if (include_usage) stream.send(usageChunkJson(of, record));
  stream.end();
}

const offersTools = (input: CallInput): boolean => input.kind === 'chat' && input.tools !== undefined;

/** The status line waits for the first event, so that a call that fails at once has a status of its own. */
function eventStream(response: ServerResponse) {
  const write = (data: string) => {
    if (!response.headersSent)
      response.writeHead(200, {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-cache',
      });
    response.write(`data: ${data}\n\n`);
  };
  return {
    send: (event: object) => write(JSON.stringify(event)),
    end: () => {
      write('[DONE]');
      response.end();
    },
  };
}

function refuseFailed({ status, error_kind, error_message, http_status }: CallRecord): void {
  if (status === 'ok') return;
  const code = error_kind ?? status;
  const message = error_message ?? status;
  if (status === 'protocol_error') throw new Refusal(400, message, { code });
  if (status === 'cancelled' || status === 'connect_error') throw new Refusal(503, message, { code });
  throw new Refusal(http_status !== null && http_status >= 400 ? http_status : 500, message, { code });
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  if (bytes > MAX_BODY_BYTES)
    throw new Refusal(413, `the body has ${bytes} bytes; at most ${MAX_BODY_BYTES} are taken`, {
      code: 'too_large',
    });
  return Buffer.concat(chunks).toString('utf8');
}

function sendText(response: ServerResponse, text: string): void {
  response.writeHead(200, {
    'content-type': 'text/plain; version=0.0.4',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}
