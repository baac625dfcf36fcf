import {
  type CallRecord,
  type Client,
  type EndpointFacts,
  PerwattError,
  type RunningEngine,
} from '@perwatt/core';
import { pause } from './pause.js';

export interface EngineClientOptions {
  /** Starts the engine. Throws what it throws. */
  readonly start: () => Promise<RunningEngine>;
  /** A client of the started engine. Not opened yet. */
  readonly connect: (engine: RunningEngine) => Client;
}

/** A call that breaks off may be the first sign of an engine's end; so long the end itself is waited for. */
const SETTLE_MS = 250;

interface Open {
  readonly engine: RunningEngine;
  readonly client: Client;
  readonly facts: EndpointFacts;
}

/**
 * A client whose server is started by `open` and ended by `close`, with all its processes. `ended` is aborted when the
 * server ends by itself. Calls give the name that the engine knows its model by; a call that breaks off is not answered before that is known.
 */
export function engineClient({ start, connect }: EngineClientOptions): Client {
  const ended = new AbortController();
  let opening: Promise<Open> | null = null;

  const begin = async (): Promise<Open> => {
    const engine = await start();
    const client = connect(engine);
    const follow = () => ended.abort(engine.died.reason);
    engine.died.addEventListener('abort', follow, { once: true });
    if (engine.died.aborted) follow();
    try {
      return { engine, client, facts: withEngine(await client.open(), engine) };
    } catch (error) {
      await client.close();
      await engine.stop();
      throw error;
    }
  };
  const opened = async (): Promise<Open> => {
    if (opening === null)
      throw new PerwattError('SERVER_FAILED', 'a call was made before its engine was started');
    return opening;
  };

  return {
    ended: ended.signal,
    async open() {
      opening ??= begin();
      return (await opening).facts;
    },
    async call(request, options) {
      const { client, engine } = await opened();
      const record = await client.call({ ...request, model: engine.facts.request_model }, options);
      if (brokenOff(record)) await pause(SETTLE_MS, ended.signal);
      return record;
    },
    async observe() {
      return (await (await opened()).client.observe?.()) ?? null;
    },
    async close() {
      const open = await opening?.catch(() => null);
      await open?.client.close();
      await open?.engine.stop();
    },
  };
}

const brokenOff = ({ status, error_kind }: CallRecord): boolean =>
  status === 'connect_error' || (status === 'truncated' && error_kind !== 'empty_body');

const withEngine = (facts: EndpointFacts, { facts: server, pids }: RunningEngine): EndpointFacts => ({
  ...facts,
  engine: facts.engine ?? (server.kind === 'command' ? null : server.kind),
  engine_version: facts.engine_version ?? server.version,
  pids,
  server,
});
