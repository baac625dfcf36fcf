import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ClientRequest } from '@perwatt/core';
import { scriptedAnswer } from './scripted-model.js';

/** One request as it reached the mock server, and the means to answer it byte by byte. */
export interface MockExchange {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The body's JSON; null when it is none. */
  readonly body: unknown;
  /** Number of the connection, from 0. */
  readonly connection: number;
  /** Resolves when the other side goes away before the answer has ended. */
  readonly gone: Promise<void>;
  /** Sends status and headers at once. Default: 200 and an event stream, in chunked transfer. */
  head(status?: number, headers?: Readonly<Record<string, string>>): void;
  /** Sends one segment of the body; resolves when it has been handed to the socket. */
  write(segment: string | Uint8Array): Promise<void>;
  /** Ends the body as HTTP demands. */
  end(): void;
  /** Closes the connection in order, but without an end of the body. */
  drop(): void;
  /** Resets the connection: unread bytes are lost. */
  reset(): void;
  /** Sends bytes past HTTP, for answers that are none. */
  raw(bytes: string): void;
}

export type MockAnswer = (exchange: MockExchange) => void | Promise<void>;

export interface MockServer {
  /** Base address with `/v1`. */
  readonly url: string;
  /** Every request so far, in order of arrival. */
  readonly requests: readonly MockExchange[];
  close(): Promise<void>;
}

/**
 * A real HTTP server on a free loopback port that answers as `answer` says; without it, as `scriptedOpenAi` does. What an
 * answer leaves open stays open until the server is closed.
 */
export async function mockOpenAiServer(answer: MockAnswer = scriptedOpenAi): Promise<MockServer> {
  const requests: MockExchange[] = [];
  const connections = new Map<object, number>();
  const server = createServer(async (request, response) => {
    const exchange = await receive(request, response, connections);
    requests.push(exchange);
    await answer(exchange);
  });
  server.on('connection', (socket) => {
    connections.set(socket, connections.size);
    socket.on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function receive(
  request: IncomingMessage,
  response: ServerResponse,
  connections: ReadonlyMap<object, number>,
): Promise<MockExchange> {
  const { socket } = request;
  const gone = new Promise<void>((resolve) => {
    response.on('close', () => {
      if (!response.writableFinished) resolve();
    });
  });
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return {
    method: request.method ?? '',
    path: request.url ?? '',
    headers: request.headers,
    body: jsonOf(Buffer.concat(chunks).toString('utf8')),
    connection: connections.get(socket) ?? -1,
    gone,
    head(status = 200, headers = { 'content-type': 'text/event-stream' }) {
      response.writeHead(status, headers);
      response.flushHeaders();
    },
    write: (segment) =>
      new Promise((resolve) => {
        if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(segment, () => resolve());
      }),
    end: () => response.end(),
    drop: () => socket.end(),
    reset: () => socket.resetAndDestroy(),
    raw: (bytes) => socket.write(bytes),
  };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The bytes of one event with this payload. */
export const sseEvent = (payload: unknown): string => `data: ${JSON.stringify(payload)}\n\n`;
export const sseDone = 'data: [DONE]\n\n';

/** One event with a delta of the chat API, or the end of the answer. */
export const chatChunk = (delta: object, finish_reason: string | null = null): string =>
  sseEvent({ object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] });

/** Answers with one whole body of JSON. */
export async function answerJson(exchange: MockExchange, status: number, body: unknown): Promise<void> {
  exchange.head(status, { 'content-type': 'application/json' });
  await exchange.write(JSON.stringify(body));
  exchange.end();
}

/** Answers like an OpenAI-compatible server with the scripted model behind it: chat, completion, list of models. */
export async function scriptedOpenAi(exchange: MockExchange): Promise<void> {
  if (exchange.path === '/v1/models')
    return answerJson(exchange, 200, { object: 'list', data: [{ id: 'scripted', owned_by: 'tests' }] });
  const chat = exchange.path === '/v1/chat/completions';
  if (!chat && exchange.path !== '/v1/completions')
    return answerJson(exchange, 404, { error: { message: `no such path ${exchange.path}` } });
  const wire = exchange.body as WireRequest;
  if (wire.model !== 'scripted')
    return answerJson(exchange, 404, { error: { message: `no such model ${wire.model}` } });
  const { tokens, finish_reason, usage } = scriptedAnswer(requestOf(wire));
  const choice = (text: string, finish: string | null, key: 'delta' | 'message') =>
    chat
      ? { index: 0, [key]: { content: text }, finish_reason: finish }
      : { index: 0, text, finish_reason: finish };
  if (!wire.stream)
    return answerJson(exchange, 200, { choices: [choice(tokens.join(''), finish_reason, 'message')], usage });
  exchange.head();
  for (const token of tokens) await exchange.write(sseEvent({ choices: [choice(token, null, 'delta')] }));
  await exchange.write(sseEvent({ choices: [choice('', finish_reason, 'delta')] }));
  if (wire.stream_options?.include_usage === true) await exchange.write(sseEvent({ choices: [], usage }));
  await exchange.write(sseDone);
  exchange.end();
}

interface WireRequest {
  readonly model: string;
  readonly messages?: readonly { readonly role: 'user'; readonly content: string }[];
  readonly prompt?: string;
  readonly max_tokens: number;
  readonly temperature: number;
  readonly top_p: number;
  readonly stop?: readonly string[];
  readonly stream?: boolean;
  readonly stream_options?: { readonly include_usage?: boolean };
}

function requestOf({ model, messages, prompt, stop, ...wire }: WireRequest): ClientRequest {
  return {
    model,
    input:
      messages === undefined
        ? { kind: 'completion', prompt: prompt ?? '' }
        : { kind: 'chat', messages: [...messages] },
    sampling: {
      temperature: wire.temperature,
      top_p: wire.top_p,
      max_tokens: wire.max_tokens,
      ...(stop === undefined ? {} : { stop }),
    },
  };
}
