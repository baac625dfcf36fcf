import { createHash } from 'node:crypto';
import { engineClient, engineCommand, launchEngine, openAiClient, profileOfKind } from '@perwatt/clients';
import {
  type AgentEngineEntry,
  type Client,
  type Clock,
  type EngineEntry,
  type LaunchedEntry,
  type ModelEntry,
  PerwattError,
  type ProfileName,
  type RunningEngine,
} from '@perwatt/core';
import type { ClientPlace, NamedEngine, PreparedModel } from '@perwatt/harness';
import { startRemoteEngine } from '@perwatt/native-power';
import type { Io } from './io.js';

export interface EngineModelOptions {
  readonly io: Io;
  readonly clock: Clock;
}

/**
 * A model whose server is started where a cell needs it, and ended when a cell comes that does not. Throws `INPUT_INVALID`
 * at once for an engine that can't be made a command; nothing is started before its client is opened.
 */
export function engineModel(
  model: ModelEntry,
  engine: NamedEngine,
  options: EngineModelOptions,
): PreparedModel {
  const { id, entry } = engine;
  const target: Target = { model: model.path ?? model.model ?? model.id, name: model.id };
  const made = createHash('sha256')
    .update(JSON.stringify([id, entry, target]))
    .digest('hex');
  return {
    sha256: null,
    request_model: requestName(engine, target, options),
    weight_bytes: null,
    keep: `${model.id} by ${id} (${made.slice(0, 12)})`,
    client: (place) =>
      engineClient({
        start: () =>
          entry.kind === 'agent'
            ? remote(entry, { place, target, engine, options })
            : local(entry, { place, target, engine, options }),
        connect: (running) => connect(entry, running, options),
      }),
  };
}

interface Target {
  readonly model: string;
  readonly name: string;
}

/** The name that calls will give, as far as it is known before the start. Finds mistakes of the entry on the way. */
function requestName({ id, entry }: NamedEngine, target: Target, options: EngineModelOptions): string {
  if (entry.kind === 'agent') return target.name;
  const command = engineCommand(id, entry, { ...target, port: entry.port ?? 0 });
  const profile = entry.profile ?? profileOfKind(entry.kind);
  void connect(entry, { url: 'http://127.0.0.1', profile }, options).close();
  return command.request_model;
}

interface Starting {
  readonly place: ClientPlace;
  readonly target: Target;
  readonly engine: NamedEngine;
  readonly options: EngineModelOptions;
}

const local = (entry: LaunchedEntry, { place, target, engine, options }: Starting): Promise<RunningEngine> =>
  launchEngine({
    ...target,
    id: engine.id,
    entry,
    env: options.io.env,
    cwd: options.io.cwd,
    log_folder: place.log_folder,
    clock: options.clock,
    signal: place.signal,
    onProgress: place.onProgress,
  });

function remote(entry: AgentEngineEntry, starting: Starting): Promise<RunningEngine> {
  const { place, target, engine, options } = starting;
  const agent = engine.agents.find(({ id }) => id === entry.agent);
  if (agent === undefined)
    throw new PerwattError(
      'INPUT_INVALID',
      `engine "${engine.id}" names agent "${entry.agent}", which is not there`,
    );
  const token = options.io.env[agent.token_env];
  if (token === undefined || token === '')
    throw new PerwattError('INPUT_INVALID', `environment variable ${agent.token_env} is not set`, {
      hint: `Set ${agent.token_env} to the token of agent ${agent.id}.`,
    });
  return startRemoteEngine({
    id: agent.id,
    url: agent.url,
    token,
    ask: { engine: entry.engine, ...target },
    ready_timeout_s: entry.ready_timeout_s,
    signal: place.signal,
    onProgress: place.onProgress,
  });
}

interface At {
  readonly url: string;
  readonly profile: ProfileName;
}

const connect = (entry: EngineEntry, { url, profile }: At, { clock }: EngineModelOptions): Client =>
  openAiClient({
    url,
    api: entry.api,
    clock,
    profile: entry.profile ?? profile,
    headersTimeoutMs: entry.headers_timeout_s * 1000,
    idleTimeoutMs: entry.idle_timeout_s * 1000,
    ...(entry.exact_length === undefined ? {} : { exactLength: entry.exact_length }),
  });
