import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AllowedEngines, type EngineAsk, instant } from '@perwatt/core';
import { expect, onTestFinished, test, vi } from 'vitest';
import { engineHost } from './engine-host.js';

const clock = { now: () => instant(process.hrtime.bigint()) };

const server = `#!/usr/bin/env node
import { createServer } from 'node:http';
const port = Number(process.argv[process.argv.indexOf('--port') + 1]);
console.log('pid', process.pid, process.argv.slice(2).join(' '));
createServer((request, response) => {
  request.resume();
  request.on('end', () => response.end(JSON.stringify({ data: [], choices: [{ message: { content: 'a' } }] })));
}).listen(port, '127.0.0.1');
`;

function world(lease_ms = 30_000) {
  const folder = mkdtempSync(join(tmpdir(), 'perwatt-host-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const program = join(folder, 'server.mjs');
  writeFileSync(program, server);
  chmodSync(program, 0o755);
  const events: string[] = [];
  const host = engineHost({
    allowed: AllowedEngines.parse({
      engines: {
        v: { kind: 'vllm', command: [program], models: ['org/m'], stop_timeout_s: 1, ready_timeout_s: 30 },
      },
    }),
    env: process.env,
    cwd: folder,
    log_folder: join(folder, 'logs'),
    clock,
    onEvent: (line) => events.push(line),
    lease_ms,
  });
  onTestFinished(() => host.close());
  return {
    host,
    events,
    logs: () => (existsSync(join(folder, 'logs')) ? readdirSync(join(folder, 'logs')) : []),
    pid: () => Number(/pid (\d+)/.exec(readFileSync(join(folder, 'logs', 'v-0.log'), 'utf8'))?.[1]),
  };
}

const isAlive = (pid: number): boolean => {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
};

const good: EngineAsk = { engine: 'v', model: 'org/m', name: 'mine' };

// biome-ignore format: a table is read in columns
test.each([
  [{ ...good, engine: 'w' }, 'engine "w" is not allowed', 'an entry that is not in the file'],
  [{ ...good, engine: 'constructor' }, 'engine "constructor" is not allowed', 'a name that every object has'],
  [{ ...good, model: 'org/other' }, 'engine "v" is not allowed to load "org/other"', 'a model that is not listed'],
  [{ ...good, model: '--trust-remote-code' }, 'engine "v" is not allowed to load "--trust-remote-code"', 'a flag in the place of a model'],
  [{ ...good, name: '--flag' }, '"--flag" is no name for a model', 'a flag in the place of a name'],
  [{ ...good, name: 'a b' }, '"a b" is no name for a model', 'two words'],
])('%j is refused, and nothing is executed', (ask, message, _why) => {
  const { host, events, logs } = world();
  expect(() => host.start(ask)).toThrow(message);
  expect([events, logs()]).toEqual([[], []]);
});

test('an allowed engine is started, says where it is, and ends when told', async () => {
  const { host, pid } = world();
  const { session, state } = host.start(good);
  expect(state).toBe('starting');
  await vi.waitFor(() => expect(host.status(session)?.state).toBe('ready'), 20_000);
  expect(host.status(session)).toMatchObject({
    port: expect.any(Number),
    profile: 'vllm',
    facts: { model: 'org/m', request_model: 'mine' },
  });
  expect(isAlive(pid())).toBe(true);
  expect(await host.stop(session)).toMatchObject({ state: 'stopped' });
  expect(isAlive(pid())).toBe(false);
  expect(host.status('other')).toBeNull();
  expect(await host.stop('other')).toBeNull();
});

test('an engine that dies is told as failed', async () => {
  const { host, pid } = world();
  const { session } = host.start(good);
  await vi.waitFor(() => expect(host.status(session)?.state).toBe('ready'), 20_000);
  process.kill(pid(), 'SIGKILL');
  await vi.waitFor(() => expect(host.status(session)?.state).toBe('failed'), 10_000);
  expect(host.status(session)?.text).toMatch(/^engine "v" ended by SIGKILL; the end of its log/);
});

test('an engine that nobody asks about is stopped', async () => {
  const { host, events, pid } = world(1500);
  const { session } = host.start(good);
  await vi.waitFor(() => expect(host.status(session)?.state).toBe('ready'), 20_000);
  await vi.waitFor(() => expect(events.at(-1)).toContain('nobody has asked about it for 1.5 s'), 10_000);
  await vi.waitFor(() => expect(isAlive(pid())).toBe(false), 10_000);
  expect(host.status(session)?.state).toBe('stopped');
});

test('the end of the agent ends its engines, those that are starting too', async () => {
  const { host, pid } = world();
  host.start(good);
  await vi.waitFor(() => expect(isAlive(pid())).toBe(true), 20_000);
  await host.close();
  expect(isAlive(pid())).toBe(false);
});
