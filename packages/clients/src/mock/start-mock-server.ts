import { type ChildProcess, fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { PerwattError } from '@perwatt/core';
import type { FromMock, ToMock } from './mock-messages.js';
import type { MockServerOptions } from './mock-options.js';
import type { MockCounts } from './mock-pages.js';

/** Built file of the mock's process; found alike from the sources and from the built client. */
const childPath = fileURLToPath(new URL('../../dist/mock/mock-child.js', import.meta.url));

/** A mock server in a process of its own. */
export interface MockServerProcess {
  /** Base address with `/v1`. */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Resolves when the process has ended, for whatever reason. */
  readonly ended: Promise<void>;
  /** What it has done so far and the CPU time it took, ns; null once it has ended. */
  stats(): Promise<{ readonly counts: MockCounts; readonly cpu_ns: number } | null>;
  /** Ends the process at once. Safe to call twice. */
  close(): Promise<void>;
}

/**
 * Starts a server that answers like an OpenAI-compatible one, without a model: with prefill and decode times and
 * failures as told. Every event carries `at_ns`, the time it was handed to the socket on `CLOCK_MONOTONIC`, as text of 19
 * digits. It shares no event loop with its callers. Throws `BUILD_MISSING` where the built file is not there, and
 * `INPUT_INVALID` where the address can't be taken.
 */
export async function startMockServer(options: MockServerOptions = {}): Promise<MockServerProcess> {
  if (!existsSync(childPath)) throw new PerwattError('BUILD_MISSING', `${childPath} is not there`);
  const child = fork(childPath, [], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'], execArgv: [] });
  const ended = new Promise<void>((resolve) => {
    child.on('error', () => resolve());
    child.on('close', () => resolve());
  });
  const reply = await ask(child, { kind: 'listen', options }, ended);
  if (reply?.kind !== 'listening') {
    child.kill('SIGKILL');
    const failed = reply?.kind === 'failed' ? reply : null;
    throw new PerwattError(
      failed?.code ?? 'INPUT_INVALID',
      failed?.message ?? 'the mock server did not start',
    );
  }
  const { host = '127.0.0.1' } = options;
  const { port } = reply;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}/v1`,
    port,
    pid: child.pid ?? 0,
    ended,
    async stats() {
      const said = await ask(child, { kind: 'stats' }, ended);
      if (said?.kind !== 'stats' || said.counts === null) return null;
      return { counts: said.counts, cpu_ns: said.cpu_us * 1000 };
    },
    close() {
      child.kill('SIGKILL');
      return ended;
    },
  };
}

/** The child's next message; null once it has ended. Ask one thing at a time. */
async function ask(child: ChildProcess, message: ToMock, ended: Promise<void>): Promise<FromMock | null> {
  const reply = new Promise<FromMock>((resolve) => {
    child.once('message', (said) => resolve(said as FromMock));
  });
  if (child.connected) child.send(message, () => {});
  return Promise.race([reply, ended.then(() => null)]);
}
