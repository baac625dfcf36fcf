import { createServer, type Server, type Socket } from 'node:net';
import { createRng, PerwattError, seedFrom, systemCode } from '@perwatt/core';
import { createAlarm } from './alarm.js';
import type { Preassembled } from './mock-bytes.js';
import { failureAt, type MockFailure, type MockLogLine, type MockServerOptions } from './mock-options.js';
import {
  detokenizePage,
  errorPage,
  type MockCounts,
  metricsPage,
  modelsPage,
  noCounts,
  page,
  tokenizePage,
} from './mock-pages.js';
import { type AnswerPlan, planOf } from './mock-plan.js';
import { type AnswerSink, type Play, play, type Stage } from './mock-player.js';
import { createRequestReader, type MockRequest } from './request-reader.js';

/** What the server needs of the world. */
export interface MockEffects {
  /** Now on the host's monotonic clock, ns. */
  readonly nowNs: () => bigint;
  /** Gets a line for each whole answer; null for none. */
  readonly log: ((line: MockLogLine) => void) | null;
  /** Called by a request that makes the server die, after its connections are gone. */
  readonly onDeath: () => void;
}

/** A mock server that listens. */
export interface ListeningMock {
  readonly port: number;
  readonly counts: Readonly<MockCounts>;
  close(): Promise<void>;
}

const REFUSE_MS = 200;
const SLOW_HEADERS_MS = 1000;

interface Connection {
  readonly socket: Socket;
  readonly free: () => void;
  /** Calls that came over it. */
  calls: number;
}

/** Listens in this process. Throws `INPUT_INVALID` where the address can't be taken. */
export async function listenMock(options: MockServerOptions, effects: MockEffects): Promise<ListeningMock> {
  const { host = '127.0.0.1', model = 'mock', seed = 0, slots = Number.POSITIVE_INFINITY } = options;
  const counts = noCounts();
  const alarm = createAlarm(() => Number(effects.nowNs()) / 1e6);
  const sockets = new Set<Socket>();
  const waiting: Play[] = [];
  const stage: Stage = {
    nowNs: effects.nowNs,
    alarm,
    counts,
    seed,
    known: new Map<string, Preassembled>(),
    log: effects.log,
    onEnd: () => {
      counts.running -= 1;
      admit();
    },
  };
  let server: Server;
  let port = options.port ?? 0;
  let closed = false;

  const admit = () => {
    while (counts.running < slots) {
      const next = waiting.shift();
      counts.waiting = waiting.length;
      if (next === undefined) return;
      counts.running += 1;
      play(stage, next);
    }
  };

  const listen = async () => {
    server = createServer({ noDelay: true }, serve);
    port = await listening(server, host, port);
  };

  const closeAll = async () => {
    closed = true;
    alarm.stop();
    const over = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of sockets) socket.destroy();
    await over;
  };

  /** Nobody is let in for a moment. */
  const refuseNew = () => {
    if (!server.listening) return;
    server.close();
    alarm.at(Number(effects.nowNs()) / 1e6 + REFUSE_MS, () => void (closed || listen().catch(() => {})));
  };

  const answer = ({ socket, free }: Connection, given: Play) => {
    const { fail } = given;
    if (fail === null || midway.has(fail)) enqueue(given);
    else if (fail === 'slow_headers')
      alarm.at(Number(effects.nowNs()) / 1e6 + SLOW_HEADERS_MS, () => enqueue({ ...given, fail: null }));
    else if (fail === 'refuse') {
      socket.resetAndDestroy();
      refuseNew();
    } else if (fail === 'death') void closeAll().then(effects.onDeath);
    else if (fail !== 'hang') {
      socket.write(failurePage(fail));
      free();
    }
  };

  const enqueue = (given: Play) => {
    waiting.push(given);
    counts.waiting = waiting.length;
    admit();
  };

  const call = (connection: Connection, request: MockRequest, plan: AnswerPlan) => {
    const n = counts.requests;
    counts.requests += 1;
    counts.prompt_tokens += plan.prompt_tokens;
    connection.calls += 1;
    const luck = options.failures === undefined ? 1 : createRng(seedFrom(seed, 'failures', n))();
    const fail = plan.fail ?? failureAt(options.failures, luck);
    if (fail !== null && !midway.has(fail) && fail !== 'slow_headers') counts.failed += 1;
    answer(connection, {
      n,
      plan,
      fail: fail !== null && midway.has(fail) && !plan.stream ? null : fail,
      request_id: effects.log === null ? null : (request.header('x-request-id') ?? plan.user),
      fresh: connection.calls === 1,
      received_ns: effects.nowNs(),
      sink: sinkOf(connection),
    });
  };

  const route = (connection: Connection, request: MockRequest) => {
    const path = request.path.replace(/\?.*$/, '');
    const chat = path === '/v1/chat/completions';
    if (request.method === 'POST' && (chat || path === '/v1/completions')) {
      const plan = planOf(request, chat, options);
      if (typeof plan !== 'string') return call(connection, request, plan);
      connection.socket.write(errorPage(400, plan));
    } else connection.socket.write(pageOf(path, request, { model, counts }));
    connection.free();
  };

  const serve = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    const connection: Connection = { socket, free: () => reader.next(), calls: 0 };
    const reader = createRequestReader({
      onRequest: (request) => route(connection, request),
      onExpect: () => void socket.write('HTTP/1.1 100 Continue\r\n\r\n'),
      onBad: (status, reason) => void socket.end(errorPage(status, reason, 'connection: close\r\n')),
    });
    socket.on('data', reader.push);
  };

  await listen();
  return {
    get port() {
      return port;
    },
    counts,
    close: async () => {
      if (!closed) await closeAll();
    },
  };
}

/** Failures between two events; a whole answer in one body has no middle. */
const midway: ReadonlySet<MockFailure> = new Set(['reset', 'stall', 'bad_json', 'stream_error', 'truncate']);

const sinkOf = ({ socket, free }: Connection): AnswerSink => ({
  write: (bytes) => void socket.write(bytes),
  free,
  reset: () => void socket.resetAndDestroy(),
  gone: () => socket.destroyed,
});

function failurePage(fail: MockFailure): string {
  if (fail === 'too_many') return errorPage(429, 'too many requests', 'retry-after: 1\r\n');
  if (fail === 'html') return page(200, '<!doctype html><title>Sign in</title>\n', { type: 'text/html' });
  return errorPage(500, 'the mock was told to fail');
}

interface PageContext {
  readonly model: string;
  readonly counts: MockCounts;
}

function pageOf(path: string, request: MockRequest, { model, counts }: PageContext): string {
  switch (path) {
    case '/v1/models':
      return modelsPage(model);
    case '/metrics':
      return metricsPage(counts, model);
    case '/tokenize':
      return tokenizePage(request.body);
    case '/detokenize':
      return detokenizePage(request.body);
    case '/health':
      return page(200, '{}');
    default:
      return errorPage(404, `no such path ${path}`);
  }
}

function listening(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      reject(
        new PerwattError(
          'INPUT_INVALID',
          `cannot listen on ${host}:${port}: ${systemCode(error) ?? error.message}`,
          {
            hint: 'Choose another `--host` or `--port`; port 0 takes any free one.',
            cause: error,
          },
        ),
      );
    });
    server.listen({ port, host, backlog: 4096 }, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}
