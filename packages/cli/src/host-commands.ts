import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { systemCode } from '@perwatt/core';
import type { CommandEnd, Commands } from '@perwatt/harness';

/** Most of an output that is kept, characters. */
const MOST = 65_536;

/**
 * Programs of the user's on this host, without a shell. They get a group of their own, so that a Ctrl-C at the terminal does not
 * end them half-way; one that takes too long is killed with its children.
 */
export const hostCommands = (place: {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}): Commands => ({
  run: ([program = '', ...args], { timeout_ms }) =>
    new Promise((resolve) => {
      const child = spawn(program, args, {
        ...place,
        env: { ...place.env },
        detached: true,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const out = collected(child.stdout);
      const err = collected(child.stderr);
      let late = false;
      const timer = setTimeout(() => {
        late = true;
        killGroup(child);
      }, timeout_ms);
      const end = (exit_code: CommandEnd['exit_code'], problem = '') => {
        clearTimeout(timer);
        resolve({ exit_code, stdout: out(), stderr: err() + problem });
      };
      child.once('error', (error) => end(systemCode(error) === 'ENOENT' ? 127 : 126, error.message));
      child.once('close', (code) => end(late ? null : (code ?? 128)));
    }),
  atExit([program = '', ...args]) {
    const run = () => {
      spawnSync(program, args, { ...place, env: { ...place.env }, stdio: 'ignore', timeout: 10_000 });
    };
    process.once('exit', run);
    return () => void process.removeListener('exit', run);
  },
});

function collected(stream: ChildProcess['stdout']): () => string {
  let text = '';
  stream?.setEncoding('utf8').on('data', (piece: string) => {
    if (text.length < MOST) text += piece.slice(0, MOST - text.length);
  });
  return () => text;
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It ended by itself just before.
  }
}
