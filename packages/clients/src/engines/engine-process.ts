import { type ChildProcess, fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { PerwattError } from '@perwatt/core';
import type { FromKeeper, ToKeeper } from './keeper-messages.js';

/** Built file of the keeper; found alike from the sources and from the built client. */
const keeperPath = fileURLToPath(new URL('../../dist/engines/engine-keeper.js', import.meta.url));

/** How an engine's first process ended. */
export interface EngineExit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** An engine's processes, watched over by a process that outlives this one long enough to end them. */
export interface EngineProcess {
  readonly pid: number;
  /** Resolves when the first process ends by itself or is ended. */
  readonly exited: Promise<EngineExit>;
  /** Ids of its living processes. */
  members(): Promise<readonly number[]>;
  /** Ends them all. Throws `SERVER_FAILED` when some can't be killed. Safe to call twice. */
  stop(): Promise<void>;
}

type Start = Omit<Extract<ToKeeper, { kind: 'start' }>, 'kind'>;

/** Starts a program as an engine. Throws `SERVER_FAILED` when it can't be executed, `BUILD_MISSING` without the built keeper. */
export async function startEngineProcess(start: Start): Promise<EngineProcess> {
  if (!existsSync(keeperPath)) throw new PerwattError('BUILD_MISSING', `${keeperPath} is not there`);
  const keeper = fork(keeperPath, [], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    execArgv: [],
    detached: true,
  });
  const gone = new Promise<null>((resolve) => {
    keeper.on('error', () => resolve(null));
    keeper.on('close', () => resolve(null));
  });
  const exited = heard(keeper, 'exited').then(({ code, signal }) => ({ code, signal }));
  const ask = <K extends FromKeeper['kind']>(message: ToKeeper, kind: K) => {
    const reply = heard(keeper, kind);
    if (keeper.connected) keeper.send(message, () => {});
    return Promise.race([reply, gone]);
  };
  const began = await Promise.race([
    ask({ kind: 'start', ...start }, 'started'),
    heard(keeper, 'failed').then(({ message }) => message),
  ]);
  if (began === null || typeof began === 'string') {
    keeper.kill('SIGKILL');
    const said = began ?? 'the process that watches over it ended';
    const why = /\bENOENT$/.test(said) ? 'there is no such program on the PATH' : said;
    throw new PerwattError('SERVER_FAILED', `cannot run ${start.argv[0] ?? ''}: ${why}`, {
      hint: 'Check that the program is installed and on the PATH; `command` of the engine says which is run.',
    });
  }
  const { pid } = began;
  const ended = Promise.race([exited, gone.then(() => ({ code: null, signal: null }))]);
  let stopped: Promise<void> | null = null;
  const stop = async () => {
    const said = await ask({ kind: 'stop' }, 'stopped');
    await gone;
    const left = said?.left ?? [];
    if (left.length > 0)
      throw new PerwattError('SERVER_FAILED', `processes ${left.join(', ')} can't be killed`);
    if (said === null) killGroup(pid);
  };
  return {
    pid,
    exited: ended,
    members: async () => (await ask({ kind: 'members' }, 'members'))?.pids ?? [],
    stop() {
      stopped ??= stop();
      return stopped;
    },
  };
}

/** The keeper's next message of a kind. */
const heard = <K extends FromKeeper['kind']>(keeper: ChildProcess, kind: K) =>
  new Promise<Extract<FromKeeper, { kind: K }>>((resolve) => {
    const take = (message: FromKeeper) => {
      if (message.kind !== kind) return;
      keeper.off('message', take);
      resolve(message as Extract<FromKeeper, { kind: K }>);
    };
    keeper.on('message', take);
  });

/** For when the keeper itself was killed. */
function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Nothing is left of it.
  }
}
