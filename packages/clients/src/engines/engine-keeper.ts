import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { messageOf } from '@perwatt/core';
import type { FromKeeper, ToKeeper } from './keeper-messages.js';
import { groupMembers } from './process-group.js';
import { runTool } from './run-tool.js';

/**
 * The process that owns one serving engine. It starts it in a session of its own, and ends all its processes when told to, when
 * the engine's first process ends, and when its parent is gone, however that went: the channel closes even on a kill.
 */
type Start = Extract<ToKeeper, { kind: 'start' }>;

let engine: { readonly child: ChildProcess; readonly start: Start; readonly leader: number } | null = null;
let stopping: Promise<void> | null = null;

for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => {});
process.on('disconnect', () => void stop().finally(() => process.exit(0)));
process.on('message', (message: ToKeeper) => take(message));

function send(message: FromKeeper): void {
  if (process.connected) process.send?.(message, () => {});
}

function take(message: ToKeeper): void {
  if (message.kind === 'start') start(message);
  else if (message.kind === 'members') send({ kind: 'members', pids: members() });
  else void stop().then(leave);
}

function leave(): void {
  if (!process.connected) process.exit(0);
  process.send?.({ kind: 'stopped', left: members() } satisfies FromKeeper, () => process.disconnect());
}

function start(message: Start): void {
  const [program = '', ...args] = message.argv;
  let log: number;
  try {
    log = openSync(message.log, 'a');
  } catch (error) {
    send({ kind: 'failed', message: `its log can't be written: ${messageOf(error)}` });
    return;
  }
  const child = spawn(program, args, {
    cwd: message.cwd,
    env: message.env,
    detached: true,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  child.on('error', (error) => {
    if (child.pid === undefined) send({ kind: 'failed', message: messageOf(error) });
  });
  child.on('spawn', () => {
    engine = { child, start: message, leader: child.pid ?? 0 };
    send({ kind: 'started', pid: engine.leader });
  });
  child.on('exit', (code, signal) => {
    send({ kind: 'exited', code, signal });
    if (!message.leaves) void stop();
  });
}

const members = (): number[] => (engine === null ? [] : groupMembers(engine.leader, '/proc'));

function stop(): Promise<void> {
  stopping ??= end();
  return stopping;
}

async function end(): Promise<void> {
  if (engine === null) return;
  const { start: how } = engine;
  if (how.leaves && how.cleanup !== null) await runTool(how.cleanup, { env: how.env });
  const until = process.hrtime.bigint() + BigInt(Math.round(how.stop_ms * 1e6));
  tell('SIGTERM');
  while (members().length > 0 && process.hrtime.bigint() < until) await pause(20);
  for (let tries = 0; members().length > 0 && tries < 100; tries++) {
    tell('SIGKILL');
    await pause(20);
  }
  if (!how.leaves && how.cleanup !== null) await runTool(how.cleanup, { env: how.env });
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** The whole group at once, then each by its id: some may have left the group, and not every system can list them. */
function tell(signal: 'SIGTERM' | 'SIGKILL'): void {
  const leader = engine?.leader ?? 0;
  for (const pid of [...(leader > 0 ? [-leader] : []), ...members()]) {
    try {
      process.kill(pid, signal);
    } catch {
      // It has just ended.
    }
  }
}
