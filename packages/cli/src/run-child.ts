import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { systemCode } from '@perwatt/core';
import type { Io } from './io.js';

/** How a command ended. */
export interface ChildEnd {
  /** What a shell would say: the command's own code, 128 + the signal that ended it, 127 or 126 when it didn't start. */
  readonly exit_code: number;
  readonly signal: NodeJS.Signals | null;
  /** Why it could not be started; null when it was. */
  readonly problem: string | null;
}

/**
 * Runs a command on our own input and output until it ends. Signals that reach us go on to it, except a Ctrl-C at a
 * terminal, which has reached it already.
 */
export async function runChild(io: Io, [command = '', ...args]: readonly string[]): Promise<ChildEnd> {
  const child = spawn(command, args, { cwd: io.cwd, env: { ...io.env }, stdio: 'inherit' });
  const forward = () => {
    const name = signalOf(io.signal.reason);
    if (name !== 'SIGINT' || !isTerminal(io.stdin)) child.kill(name);
  };
  const end = () => void child.kill();
  io.signal.addEventListener('abort', forward);
  process.once('exit', end);
  try {
    if (io.signal.aborted) forward();
    return await endOf(child, command);
  } finally {
    io.signal.removeEventListener('abort', forward);
    process.removeListener('exit', end);
  }
}

const endOf = (child: ChildProcess, command: string): Promise<ChildEnd> =>
  new Promise((resolve) => {
    child.once('error', (error) => {
      const missing = systemCode(error) === 'ENOENT';
      const problem = missing ? `no command is called ${command}` : `cannot run ${command}: ${error.message}`;
      resolve({ exit_code: missing ? 127 : 126, signal: null, problem });
    });
    child.once('exit', (code, signal) => {
      const number = signal === null ? 0 : (constants.signals[signal] ?? 0);
      resolve({ exit_code: code ?? 128 + number, signal, problem: null });
    });
  });

const signalOf = (reason: unknown): 'SIGINT' | 'SIGTERM' =>
  reason instanceof Error && reason.message === 'SIGINT' ? 'SIGINT' : 'SIGTERM';

const isTerminal = (stdin: Io['stdin']): boolean => 'isTTY' in stdin && stdin.isTTY === true;
