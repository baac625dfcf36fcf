import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { messageOf, PerwattError } from '@perwatt/core';
import { type CodeOutcome, runSandboxed } from './run-sandboxed.js';

/** What a program may take. */
export interface CodeLimits {
  /** CPU time of a process, s. Default 3. */
  readonly cpu_s: number;
  /** By the clock, s: a program that waits, and a machine that is busy. Default 15. */
  readonly wall_s: number;
  /** Address space of a process, bytes. Default 512 MiB. */
  readonly memory_bytes: number;
  /** Processes and threads at a time. Default 16. */
  readonly processes: number;
  /** What it may write to its `/tmp`, which is in memory. Default 16 MiB. */
  readonly files_bytes: number;
}

export const defaultLimits: CodeLimits = {
  cpu_s: 3,
  wall_s: 15,
  memory_bytes: 512 * 1024 * 1024,
  processes: 16,
  files_bytes: 16 * 1024 * 1024,
};

/** Python, as the sandbox starts it. */
export interface Interpreter {
  readonly path: string;
  /** Folder that must be visible beside `/usr`; '' for none. */
  readonly prefix: string;
  readonly version: string;
}

/** A place where programs nobody trusts can run. */
export interface Sandbox {
  readonly python: Interpreter;
  /** Runs a Python program to its end or its limits. Rejects only when `signal` ends it. */
  run(
    program: string,
    options?: { readonly limits?: Partial<CodeLimits>; readonly signal?: AbortSignal },
  ): Promise<CodeOutcome>;
}

export interface SandboxPlace {
  /** Command or path of the interpreter. Default `python3`. */
  readonly python?: string;
  /** Folder for empty mount points. */
  readonly tmp: string;
  /** Where commands are looked for. */
  readonly path: string;
  /** Whether this process is root: then programs run as a user of their own instead of in a user namespace. */
  readonly root: boolean;
}

const execute = promisify(execFile);

/**
 * Opens a sandbox: Linux namespaces for users, mounts, processes, network and messages by `unshare`, one fresh set for every program. It is tried
 * out with a program that looks for a way out before anything else is run in it. Throws `SANDBOX_UNAVAILABLE` with the reason where
 * this machine permits none.
 */
export async function openSandbox(place: SandboxPlace): Promise<Sandbox> {
  const missing = missingTools(place.path);
  if (missing !== null) throw unavailable(missing);
  const python = await findPython(place);
  const sandbox: Sandbox = {
    python,
    run: (program, { limits, signal } = {}) =>
      runSandboxed(program, {
        place,
        python,
        limits: { ...defaultLimits, ...limits },
        ...(signal === undefined ? {} : { signal }),
      }),
  };
  const outcome = await sandbox.run(selfTest(place.tmp), { limits: { cpu_s: 10, wall_s: 60 } });
  if (outcome.status !== 'passed') throw unavailable(`its trial ended with: ${reasonOf(outcome)}`);
  return sandbox;
}

const reasonOf = (outcome: CodeOutcome): string =>
  outcome.status === 'passed' ? 'passed' : `${outcome.status.replace('_', ' ')}: ${outcome.reason}`;

const unavailable = (why: string): PerwattError =>
  new PerwattError('SANDBOX_UNAVAILABLE', `programs cannot be isolated here: ${why}`);

function missingTools(path: string): string | null {
  if (process.platform !== 'linux') return `${process.platform} has no Linux namespaces`;
  const folders = path.split(':').filter((folder) => folder !== '');
  const has = (name: string) => folders.some((folder) => existsSync(join(folder, name)));
  const wanted = ['unshare', 'mount', 'chroot'].filter((name) => !has(name));
  const fixed = ['/usr/bin/setpriv', '/usr/bin/prlimit'].filter((file) => !existsSync(file));
  const missing = [...wanted, ...fixed];
  return missing.length === 0 ? null : `missing ${missing.join(', ')}`;
}

async function findPython({ python = 'python3', path }: SandboxPlace): Promise<Interpreter> {
  const ask =
    'import sys, os; print(os.path.realpath(sys.executable), sys.base_prefix, sys.version.split()[0], sep="\\n")';
  const tries = python === 'python3' ? [python, '/usr/bin/python3'] : [python];
  const problems: string[] = [];
  for (const command of tries) {
    try {
      const { stdout } = await execute(command, ['-I', '-c', ask], { env: { PATH: path }, timeout: 60_000 });
      const [executable = '', prefix = '', version = ''] = stdout.trim().split('\n');
      return { path: executable, prefix: /^\/usr(?:\/|$)/.test(prefix) ? '' : prefix, version };
    } catch (error) {
      problems.push(messageOf(error).split('\n')[0] ?? '');
    }
  }
  throw unavailable(`no-python: ${problems.join('; ')}`);
}

/** Fails unless files outside are hidden or read-only, the network is down and no other process can be seen. */
const selfTest = (tmp: string): string => `
import os, socket
assert not os.path.exists('/proc/1'), '/proc is visible'
for folder in ('/root/.ssh', '/home', '/etc', '/var', ${JSON.stringify(`${tmp}/`)} if ${JSON.stringify(tmp)} != '/tmp' else '/mnt'):
    assert not os.path.exists(folder), folder + ' is visible'
for folder in ('/', '/usr', '/usr/bin'):
    try:
        open(os.path.join(folder, 'perwatt-trial'), 'w')
    except OSError:
        continue
    raise AssertionError(folder + ' is writable')
try:
    socket.create_connection(('127.0.0.1', 9), 1)
    raise AssertionError('there is a network')
except OSError:
    pass
`;
