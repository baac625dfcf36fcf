import {
  type EngineAsk,
  type EngineFacts,
  type EngineStatus,
  engineKinds,
  messageOf,
  PerwattError,
  profileNames,
  type RunningEngine,
} from '@perwatt/core';
import { isObject, type Json, list, malformed, object, oneOf, orNull, text } from './agent-fields.js';

/** Which agent starts what, and how long that may take. */
export interface RemoteEngineOptions {
  /** Name of the agent in the matrix, its address and its token. */
  readonly id: string;
  readonly url: string;
  readonly token: string;
  readonly ask: EngineAsk;
  readonly ready_timeout_s: number;
  readonly signal: AbortSignal;
  readonly onProgress?: (text: string) => void;
  /** Time between two looks at it, ms; default 1000. An agent stops what nobody looks at for half a minute. */
  readonly poll_ms?: number;
}

const wait_ms = 10_000;
/** Looks that may fail in a row before the agent is given up. */
const mostMissed = 10;

/**
 * Starts an engine of an agent's own list and waits until it is ready; afterwards looks at it once a second, which keeps it
 * running. Throws `SERVER_FAILED` with the agent's words when it is refused, fails or takes too long. `died` is aborted when
 * the engine ends by itself or its agent can't be reached any more.
 */
export async function startRemoteEngine(options: RemoteEngineOptions): Promise<RunningEngine> {
  const { id, ask, signal, onProgress, poll_ms = 1000 } = options;
  const call = caller(options);
  const failed = (what: string) =>
    new PerwattError('SERVER_FAILED', `agent ${id}, engine "${ask.engine}": ${what}`, {
      hint: 'See the file that the agent was started with by `--allow-engines`, and the logs beside it.',
    });
  const first = await call('start', { ...ask }).catch((error) => {
    throw failed(messageOf(error));
  });
  const { session } = first;
  const died = new AbortController();
  const watching = new AbortController();
  let stopping: Promise<void> | null = null;
  const stop = () => {
    watching.abort();
    stopping ??= call('stop', { session }).then(
      () => {},
      () => {},
    );
    return stopping;
  };
  const deadline = AbortSignal.timeout(Math.ceil(options.ready_timeout_s * 1000));
  try {
    const ready = await untilReady(first, { call, signal, deadline, poll_ms, onProgress, failed });
    const { port, facts, profile } = ready;
    if (port === null || facts === null) throw failed('is ready, but does not say where');
    void watch(session, { call, signal: watching.signal, poll_ms }).then((why) => {
      if (why !== null)
        died.abort(new PerwattError('SERVER_DIED', `agent ${id}, engine "${ask.engine}": ${why}`));
    });
    const { hostname } = new URL(options.url);
    return {
      url: `http://${hostname}:${port}/v1`,
      facts: { ...facts, agent: id },
      profile: profile ?? 'openai',
      pids: [],
      died: died.signal,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Call = (
  verb: 'start' | 'status' | 'stop',
  body: Readonly<Record<string, string>>,
) => Promise<EngineStatus>;

function caller({ url, token }: RemoteEngineOptions): Call {
  return async (verb, body) => {
    const page = new URL(`/v1/engines/${verb}`, url);
    if (verb === 'status') page.searchParams.set('session', body['session'] ?? '');
    const answer = await fetch(page, {
      method: verb === 'status' ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: verb === 'status' ? null : JSON.stringify(body),
      redirect: 'error',
      // An engine is given its time to end before the answer to `stop` comes.
      signal: AbortSignal.timeout(verb === 'stop' ? 30 * wait_ms : wait_ms),
    }).catch((error: Error) => {
      throw new PerwattError('SERVER_FAILED', `no answer: ${messageOf(error.cause ?? error)}`, {
        cause: error,
      });
    });
    const said = await answer.text();
    if (answer.status === 200) return parseEngineStatus(said);
    throw new PerwattError('SERVER_FAILED', refusalOf(answer.status, said));
  };
}

function refusalOf(status: number, body: string): string {
  try {
    return text(object(body)['error'], 'error');
  } catch {
    return `answered ${status}`;
  }
}

interface Waiting {
  readonly call: Call;
  readonly signal: AbortSignal;
  readonly deadline: AbortSignal;
  readonly poll_ms: number;
  readonly onProgress: ((text: string) => void) | undefined;
  readonly failed: (what: string) => PerwattError;
}

async function untilReady(first: EngineStatus, waiting: Waiting): Promise<EngineStatus> {
  const { call, signal, deadline, poll_ms, onProgress, failed } = waiting;
  let status = first;
  while (status.state === 'starting') {
    onProgress?.(status.text);
    await pause(poll_ms, AbortSignal.any([signal, deadline]));
    signal.throwIfAborted();
    if (deadline.aborted) throw failed(`is not ready in time (${status.text})`);
    status = await call('status', { session: first.session });
  }
  if (status.state !== 'ready') throw failed(status.text);
  return status;
}

/** Why the engine is gone; null once `signal` is aborted. */
async function watch(
  session: string,
  { call, signal, poll_ms }: Pick<Waiting, 'call' | 'signal' | 'poll_ms'>,
): Promise<string | null> {
  let missed = 0;
  while (!signal.aborted) {
    await pause(poll_ms, signal);
    if (signal.aborted) return null;
    const status = await call('status', { session }).catch((error: unknown) => messageOf(error));
    if (typeof status !== 'string') {
      missed = 0;
      if (status.state !== 'ready') return status.text;
    } else if (status === 'no such session') return status;
    else if (++missed >= mostMissed) return `the agent can't be reached any more: ${status}`;
  }
  return null;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });
}

/** What an agent says of an engine. Throws `POWER_MALFORMED`. */
export function parseEngineStatus(body: string): EngineStatus {
  const status = object(body);
  const words = (key: string) => text(status[key], key);
  return {
    session: words('session'),
    state: oneOf(status['state'], ['starting', 'ready', 'failed', 'stopped'], 'state'),
    text: words('text'),
    port: orNull(status['port'], portOf),
    facts: orNull(status['facts'], factsOf),
    profile: orNull(status['profile'], (name) => oneOf(name, profileNames, 'profile')),
  };
}

function portOf(value: unknown): number {
  if (typeof value === 'number' && Number.isInteger(value) && value > 0 && value < 65_536) return value;
  throw malformed('port is none');
}

function factsOf(value: unknown): EngineFacts {
  if (!isObject(value)) throw malformed('facts is no object');
  const facts: Json = value;
  const words = (key: string) => text(facts[key], key);
  const maybe = (key: string) => orNull(facts[key], (found) => text(found, key));
  const { ready_ms } = facts;
  if (typeof ready_ms !== 'number' || !(ready_ms >= 0)) throw malformed('ready_ms is no time');
  return {
    id: words('id'),
    kind: oneOf(facts['kind'], engineKinds, 'kind'),
    version: maybe('version'),
    argv: list(facts['argv'], 'argv').map((word) => text(word, 'argv')),
    model: words('model'),
    request_model: words('request_model'),
    image: maybe('image'),
    image_digest: maybe('image_digest'),
    agent: maybe('agent'),
    ready_ms,
    log: maybe('log'),
  };
}
