import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type Clock,
  type EngineHost,
  messageOf,
  PerwattError,
  type PowerSource,
  type Recorder,
  type RecorderStatus,
} from '@perwatt/core';
import { checkPeriod } from '../feed-recorder.js';
import {
  AGENT_VERSION,
  type AgentFacts,
  type AgentSource,
  beginLine,
  pong,
  samplesLine,
} from './agent-protocol.js';
import { channelsLine, statusLine } from './agent-status.js';
import { engineAnswer, isEnginePage } from './serve-engines.js';

export interface ServeAgentOptions {
  readonly host: string;
  /** 0 takes any free one. */
  readonly port: number;
  /** What callers must send as a bearer token. */
  readonly token: string;
  readonly sources: readonly PowerSource[];
  readonly hostname: string;
  readonly bootId: string | null;
  /** Facts of the host, passed on as they are. */
  readonly facts: Readonly<Record<string, unknown>>;
  readonly clock: Clock;
  /** Starts engines for callers. Default: none is started, whatever is asked for. */
  readonly engines?: EngineHost;
}

export interface ServedAgent {
  readonly url: string;
  readonly sources: readonly AgentSource[];
  /** Ends every stream, every engine and the server. */
  close(): Promise<void>;
}

/** Time between two lines of a stream, ms: that of two readings, within limits, so that the listener is never far behind. */
const flushMs = (period_ns: number) => Math.min(Math.max(period_ns / 1e6, 10), 250);
/** Bytes a slow reader may be behind before its stream is ended. */
const mostBehind = 16 << 20;

/**
 * Serves a host's facts, its clock and the samples of its sources. A source is read only while somebody listens; each
 * stream has a recorder of its own. Throws what the sources throw when they can't be read, and `INPUT_INVALID` when the
 * address can't be listened on.
 */
export async function serveAgent(options: ServeAgentOptions): Promise<ServedAgent> {
  const described = options.sources.map(describe);
  const facts: AgentFacts = {
    agent_version: AGENT_VERSION,
    hostname: options.hostname,
    boot_id: options.bootId,
    facts: options.facts,
    sources: described,
  };
  const streams = new Set<() => void>();
  const expected = digest(options.token);
  const pages = (url: URL, response: ServerResponse) => {
    if (url.pathname === '/v1/ping') return answer(response, pong(options.clock.now()));
    if (url.pathname === '/v1/facts') return answer(response, JSON.stringify(facts));
    if (url.pathname === '/v1/samples') return stream(url, response, { sources: options.sources, streams });
    refuse(response, 404, 'no such page; there are /v1/ping, /v1/facts and /v1/samples');
  };
  const server = createServer((request, response) => {
    if (!timingSafeEqual(digest(bearer(request)), expected))
      return refuse(response, 401, 'the token is missing or wrong');
    const url = new URL(request.url ?? '/', 'http://agent');
    if (isEnginePage(url.pathname)) return void answerEngines(request, url, { response, options });
    if (request.method !== 'GET') return refuse(response, 405, 'only GET is answered');
    pages(url, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => {
      const where = `${options.host}:${options.port}`;
      reject(
        new PerwattError('INPUT_INVALID', `cannot listen on ${where}: ${error.message}`, { cause: error }),
      );
    });
    server.listen(options.port, options.host, resolve);
  });
  const { port, family, address } = server.address() as AddressInfo;
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    sources: described,
    async close() {
      for (const end of streams) end();
      await options.engines?.close();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

interface Answering {
  readonly response: ServerResponse;
  readonly options: ServeAgentOptions;
}

async function answerEngines(request: IncomingMessage, url: URL, { response, options }: Answering) {
  const { status, body } = await engineAnswer(request, url, options.engines ?? null);
  response.statusCode = status;
  answer(response, JSON.stringify(body));
}

/** Domains are known only to a recorder. */
function describe(source: PowerSource): AgentSource {
  const recorder = source.start();
  recorder.stop();
  const { name, default_period_ns } = source;
  const { domains, raw_units, channels = [] } = recorder;
  return { name, default_period_ns, domains, raw_units, channels };
}

const digest = (text: string) => createHash('sha256').update(text).digest();

const bearer = ({ headers }: IncomingMessage): string =>
  /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1] ?? '';

function answer(response: ServerResponse, body: string) {
  response.setHeader('content-type', 'application/json');
  response.end(body);
}

function refuse(response: ServerResponse, status: number, error: string) {
  response.statusCode = status;
  answer(response, JSON.stringify({ error }));
}

type Write = (line: string) => void;

function tellChannels(write: Write, recorder: Recorder): void {
  const columns = recorder.drainChannels?.();
  if (columns !== undefined && columns.at_ns.length > 0) write(channelsLine(columns));
}

/** Writes a status as soon as it has news, and once a second. */
function statusTeller(write: Write, period_ns: number) {
  const perSecond = Math.ceil(1000 / flushMs(period_ns));
  let told = '';
  let looks = 0;
  return (status: RecorderStatus) => {
    const news = JSON.stringify([status.flags, status.missing_reason]);
    if (looks++ % perSecond !== 0 && news === told) return;
    told = news;
    write(statusLine(status));
  };
}

interface Streaming {
  readonly sources: readonly PowerSource[];
  readonly streams: Set<() => void>;
}

function stream({ searchParams }: URL, response: ServerResponse, { sources, streams }: Streaming) {
  const source = sources.find(({ name }) => name === searchParams.get('source'));
  if (source === undefined) return refuse(response, 404, 'no such source');
  let recorder: Recorder;
  try {
    const period_ns = Number(searchParams.get('period_ns') ?? source.default_period_ns);
    checkPeriod(period_ns);
    recorder = source.start({ period_ns });
  } catch (error) {
    return refuse(response, 400, messageOf(error));
  }
  response.setHeader('content-type', 'application/x-ndjson');
  const write = (line: string) => response.write(`${line}\n`);
  write(beginLine(recorder));
  const tellStatus = statusTeller(write, recorder.period_ns);
  const send = () => {
    const columns = recorder.drain();
    write(columns.at_ns.length > 0 ? samplesLine(columns) : JSON.stringify({ kind: 'alive' }));
    tellChannels(write, recorder);
    const status = recorder.status();
    const { state, reason } = status;
    tellStatus(status);
    if (state === 'failed') {
      write(JSON.stringify({ kind: 'failed', reason }));
      end();
    } else if (response.writableLength > mostBehind) end();
  };
  const end = () => {
    if (!streams.delete(end)) return;
    clearInterval(timer);
    recorder.stop();
    response.end();
  };
  streams.add(end);
  const timer = setInterval(send, flushMs(recorder.period_ns));
  response.on('close', end);
  send();
}
