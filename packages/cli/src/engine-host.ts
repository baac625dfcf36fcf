import { randomUUID } from 'node:crypto';
import { type LaunchOptions, launchEngine } from '@perwatt/clients';
import {
  type AllowedEngines,
  type Clock,
  didYouMean,
  type EngineAsk,
  type EngineHost,
  type EngineStatus,
  messageOf,
  PerwattError,
  type RunningEngine,
} from '@perwatt/core';

export interface EngineHostOptions {
  /** What may be started. */
  readonly allowed: AllowedEngines;
  readonly env: LaunchOptions['env'];
  readonly cwd: string;
  readonly log_folder: string;
  readonly clock: Clock;
  /** Told of every start and end. */
  readonly onEvent: (line: string) => void;
  /** Time after which a session that nobody asks about is stopped, ms; default 30 s. */
  readonly lease_ms?: number;
}

interface Session {
  readonly id: string;
  readonly ask: EngineAsk;
  readonly stopping: AbortController;
  state: EngineStatus['state'];
  text: string;
  running: RunningEngine | null;
  /** Resolves when it has been started, or failed. */
  began: Promise<void>;
  asked_ns: bigint;
}

/** Sessions that are remembered after their end. */
const MOST_SESSIONS = 100;

/**
 * Starts the engines of an agent's own list. A caller chooses an entry by its name and one of the models that the entry
 * lists, nothing else: no argument, path or environment of a caller's is ever executed. What nobody asks about for half a
 * minute is stopped, so that a caller that was killed leaves nothing running.
 */
export function engineHost(options: EngineHostOptions): EngineHost {
  const { clock, onEvent, lease_ms = 30_000 } = options;
  const sessions = new Map<string, Session>();
  const end = async (session: Session, state: 'failed' | 'stopped', text: string) => {
    if (session.state === 'failed' || session.state === 'stopped') return;
    session.state = state;
    session.text = text;
    onEvent(`engine ${session.ask.engine}: ${text}`);
    session.stopping.abort(new Error('stopped'));
    await session.began;
    await session.running?.stop();
  };
  const leases = setInterval(
    () => {
      for (const session of sessions.values()) {
        if (Number(clock.now() - session.asked_ns) / 1e6 > lease_ms)
          void end(session, 'stopped', `stopped: nobody has asked about it for ${lease_ms / 1000} s`);
      }
    },
    Math.min(lease_ms, 1000),
  );
  leases.unref();
  return {
    start(ask) {
      const entry = entryFor(ask, options.allowed);
      const session: Session = {
        id: randomUUID(),
        ask,
        stopping: new AbortController(),
        state: 'starting',
        text: 'starting',
        running: null,
        began: Promise.resolve(),
        asked_ns: clock.now(),
      };
      const { models: _, ...launched } = entry;
      session.began = launchEngine({
        ...options,
        id: ask.engine,
        entry: launched,
        model: ask.model,
        name: ask.name,
        signal: session.stopping.signal,
        onProgress: (text) => {
          if (session.state === 'starting') session.text = text;
        },
      }).then(
        (running) => {
          session.running = running;
          if (session.state !== 'starting') return;
          session.state = 'ready';
          session.text = 'ready';
          onEvent(`engine ${ask.engine} serves ${ask.model} at ${running.url}`);
          running.died.addEventListener('abort', () => {
            void end(session, 'failed', messageOf(running.died.reason));
          });
        },
        (error: unknown) => {
          if (session.state !== 'starting') return;
          session.state = 'failed';
          session.text = messageOf(error).slice(0, 4000);
          onEvent(`engine ${ask.engine} was not started: ${session.text}`);
        },
      );
      sessions.set(session.id, session);
      forgetOldest(sessions);
      onEvent(`engine ${ask.engine} is started for ${ask.model}`);
      return statusOf(session);
    },
    status(id) {
      const session = sessions.get(id);
      if (session === undefined) return null;
      session.asked_ns = clock.now();
      return statusOf(session);
    },
    async stop(id) {
      const session = sessions.get(id);
      if (session === undefined) return null;
      await end(session, 'stopped', 'stopped');
      return statusOf(session);
    },
    async close() {
      clearInterval(leases);
      await Promise.all([...sessions.values()].map((session) => end(session, 'stopped', 'the agent ends')));
    },
  };
}

function entryFor({ engine, model, name }: EngineAsk, { engines }: AllowedEngines) {
  const entry = Object.hasOwn(engines, engine) ? engines[engine] : undefined;
  if (entry === undefined)
    throw new PerwattError(
      'SERVER_FAILED',
      `engine "${engine}" is not allowed${didYouMean(engine, Object.keys(engines))}`,
    );
  if (!entry.models.includes(model))
    throw new PerwattError('SERVER_FAILED', `engine "${engine}" is not allowed to load "${model}"`);
  if (!/^[A-Za-z0-9][A-Za-z0-9._:+-]{0,79}$/.test(name))
    throw new PerwattError('SERVER_FAILED', `"${name}" is no name for a model`);
  return entry;
}

function forgetOldest(sessions: Map<string, Session>): void {
  for (const [id, { state }] of sessions) {
    if (sessions.size <= MOST_SESSIONS) return;
    if (state === 'failed' || state === 'stopped') sessions.delete(id);
  }
}

const statusOf = ({ id, state, text, running }: Session): EngineStatus => ({
  session: id,
  state,
  text: text.slice(0, 4000),
  port: state === 'ready' && running !== null ? Number(new URL(running.url).port) : null,
  facts: running?.facts ?? null,
  profile: running?.profile ?? null,
});
