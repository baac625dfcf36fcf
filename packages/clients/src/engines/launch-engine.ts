import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Clock,
  type LaunchedEntry,
  PerwattError,
  type ProfileName,
  type RunningEngine,
} from '@perwatt/core';
import { imageDigest, inContainer, removal } from './container.js';
import { type EngineCommand, engineCommand } from './engine-command.js';
import { type EngineExit, type EngineProcess, startEngineProcess } from './engine-process.js';
import { engineVersion, warmUp } from './first-call.js';
import { freePort } from './free-port.js';
import { logTail } from './log-tail.js';
import { profileOfKind } from './profiles.js';
import { runTool } from './run-tool.js';
import { waitReady } from './wait-ready.js';

/** What an engine is launched for, and where. */
export interface LaunchOptions {
  readonly id: string;
  readonly entry: LaunchedEntry;
  /** What it loads, and the name that callers use where it can be chosen. */
  readonly model: string;
  readonly name: string;
  /** Environment that the entry's own is laid over. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Folder of its log; made where it is not there. */
  readonly log_folder: string;
  readonly clock: Clock;
  /** Ends the start. */
  readonly signal: AbortSignal;
  /** Told what the start waits for. */
  readonly onProgress?: (text: string) => void;
  /** Key that the server asks for. */
  readonly api_key?: string;
}

/**
 * Starts a serving engine, waits until it is ready and sends it one call. It runs in a session of its own, and is ended
 * with all its processes by `stop`, and when this process is gone, even by a kill. Throws `SERVER_FAILED` with the end of
 * its log when it can't be executed, ends, is not ready in time or refuses the call; `INPUT_INVALID` for an entry that can't
 * be made a command. Nothing is left running when it throws.
 */
export async function launchEngine(options: LaunchOptions): Promise<RunningEngine> {
  const { id, entry, model, name, clock } = options;
  const port = await freePort(entry.host, entry.port);
  const plain = engineCommand(id, entry, { model, name, port });
  const box = `perwatt-${id.toLowerCase().replace(/[^a-z0-9_.-]/g, '-')}-${port}`;
  const { container } = entry;
  const command = container === undefined ? plain : inContainer(plain, container, box);
  const { path: log, file } = logFile(options.log_folder, id);
  const env = definedOf({ ...options.env, ...command.env });
  const processes = await startEngineProcess({
    argv: command.argv,
    env,
    cwd: options.cwd,
    log,
    stop_ms: entry.stop_timeout_s * 1000,
    cleanup: command.daemon?.stop ?? (container === undefined ? null : removal(container, box)),
    leaves: command.daemon !== undefined,
  });
  const began = clock.now();
  const sinceStart = () => Number(clock.now() - began) / 1e6;
  const watched = watch(processes, { what: id, log, leaves: command.daemon !== undefined });
  try {
    const origin = `http://${reachable(entry.host)}:${port}`;
    const profile = entry.profile ?? profileOfKind(entry.kind);
    await makeReady(options, { command, origin, profile, env, watched, sinceStart, log });
    return {
      url: `${origin}/v1`,
      profile,
      facts: {
        id,
        kind: entry.kind,
        version: await engineVersion(origin, profile),
        argv: command.argv,
        model,
        request_model: command.request_model,
        image: container?.image ?? null,
        image_digest: container === undefined ? null : await imageDigest(container, options.env),
        agent: null,
        ready_ms: Math.round(sinceStart()),
        log: file,
      },
      pids: await processes.members(),
      died: watched.died,
      stop: watched.stop,
    };
  } catch (error) {
    await watched.stop();
    throw error;
  }
}

interface Watched {
  readonly died: AbortSignal;
  readonly stop: () => Promise<void>;
}

/** Tells an end that nobody asked for from one that somebody did. */
function watch(
  processes: EngineProcess,
  { what, log, leaves }: { readonly what: string; readonly log: string; readonly leaves: boolean },
): Watched {
  const died = new AbortController();
  let asked = false;
  void processes.exited.then((exit) => {
    if (asked || (leaves && exit.code === 0)) return;
    died.abort(new PerwattError('SERVER_DIED', `engine "${what}" ended ${exitText(exit)}${tailText(log)}`));
  });
  return {
    died: died.signal,
    stop() {
      asked = true;
      return processes.stop();
    },
  };
}

interface Starting {
  readonly command: EngineCommand;
  readonly origin: string;
  readonly profile: ProfileName;
  readonly env: Readonly<Record<string, string>>;
  readonly watched: Watched;
  readonly sinceStart: () => number;
  readonly log: string;
}

async function makeReady(options: LaunchOptions, starting: Starting): Promise<void> {
  const { id, entry, onProgress } = options;
  const { command, origin, profile, env, watched, sinceStart, log } = starting;
  const signal = AbortSignal.any([options.signal, watched.died]);
  const deadline_ms = entry.ready_timeout_s * 1000;
  const left_ms = () => Math.max(1000, Math.ceil(deadline_ms - sinceStart()));
  const fail = (what: string) => new PerwattError('SERVER_FAILED', `engine "${id}" ${what}${tailText(log)}`);
  const stopped = () => {
    if (watched.died.aborted) throw fail('ended before it was ready'.concat(diedText(watched.died)));
    options.signal.throwIfAborted();
  };
  const progress = (text: string) => {
    const line = logTail(log, 1)?.slice(0, 120);
    onProgress?.(`starting ${id}, ${text}${line === undefined ? '' : `: ${line}`}`);
  };
  const late = await waitReady({
    health: `${origin}${command.health}`,
    deadline_ms,
    sinceStart,
    signal,
    onProgress: progress,
  });
  stopped();
  if (late !== null) throw fail(`was not ready within ${entry.ready_timeout_s} s (${late})`);
  if (command.daemon !== undefined) {
    const loaded = await runTool(command.daemon.load, { env, timeout_ms: left_ms(), signal });
    stopped();
    if (loaded.code !== 0) throw fail(`did not load ${options.model}: ${loaded.output.trim().slice(-500)}`);
  }
  progress('first call');
  const refused = await warmUp(origin, {
    api: entry.api,
    profile,
    model: command.request_model,
    timeout_ms: left_ms(),
    signal,
  });
  stopped();
  if (refused !== null)
    throw fail(`is up but refused its first call for ${command.request_model} (${refused})`);
}

const diedText = (died: AbortSignal): string => {
  const { reason } = died;
  const text = reason instanceof PerwattError ? (/ended (.*?)(;|$)/.exec(reason.message)?.[1] ?? '') : '';
  return text === '' ? '' : `, ${text}`;
};

const exitText = ({ code, signal }: EngineExit): string =>
  code !== null ? `with code ${code}` : signal !== null ? `by ${signal}` : 'with its keeper';

const tailText = (log: string): string => {
  const tail = logTail(log);
  return tail === null
    ? `; its log ${log} is empty`
    : `; the end of its log ${log}:\n${tail.replaceAll(/^/gm, '    ')}`;
};

/** A log of its own for every start. */
function logFile(folder: string, id: string): { path: string; file: string } {
  mkdirSync(folder, { recursive: true });
  const stem = id.replaceAll(/[^A-Za-z0-9._+-]/g, '_');
  for (let n = 0; ; n++) {
    const file = `${stem}-${n}.log`;
    if (!existsSync(join(folder, file))) return { path: join(folder, file), file };
  }
}

/** An address that listens everywhere is called at home. */
const reachable = (host: string): string => {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
};

const definedOf = (env: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
