import { Readable } from 'node:stream';
import type { PowerSource } from '@perwatt/core';
import { manualClock, steadyPowerSource, testDomain } from '@perwatt/test-kit';
import { expect, test, vi } from 'vitest';
import type { Io } from '../io.js';
import { agentCommand } from './agent.js';

const steady = (): readonly PowerSource[] => [
  steadyPowerSource({
    clock: manualClock(),
    domains: [testDomain({ id: 'd', source: 'steady' })],
    watts: () => 5,
  }),
];

function start(args: readonly string[], env: Record<string, string> = {}) {
  const out: string[] = [];
  const stopping = new AbortController();
  const io: Io = {
    print: (line) => void out.push(line),
    printError: () => {},
    draw: () => {},
    stdin: Readable.from([]),
    env,
    cwd: '/',
    columns: null,
    wallTime: () => new Date(0),
    signal: stopping.signal,
    setExitCode: () => {},
  };
  const command = agentCommand(io, steady)
    .exitOverride()
    .configureOutput({ writeErr: () => {} });
  const done = command.parseAsync(['--port', '0', ...args], { from: 'user' });
  return { out, stop: () => stopping.abort(), done };
}

test('makes a token up, prints it, and serves on loopback until it is stopped', async () => {
  const { out, stop, done } = start(['--json']);
  await vi.waitFor(() => expect(out).toHaveLength(1));
  const { url, token, sources } = JSON.parse(out[0] ?? '');
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(token).toMatch(/^[\w-]{32}$/);
  expect(sources).toEqual([{ name: 'steady', domains: ['d'] }]);
  expect((await fetch(`${url}/v1/facts`)).status).toBe(401);
  const facts = await fetch(`${url}/v1/facts`, { headers: { authorization: `Bearer ${token}` } });
  expect(await facts.json()).toMatchObject({ hostname: expect.any(String), sources: [{ name: 'steady' }] });
  stop();
  await done;
  await expect(fetch(url)).rejects.toThrow();
});

test('takes its token from the environment, and doesn’t print it', async () => {
  const { out, stop, done } = start(['--token-env', 'T'], { T: 'hush' });
  await vi.waitFor(() => expect(out).toHaveLength(1));
  expect(out[0]).toMatch(/^serving steady at http:\/\/127\.0\.0\.1:\d+; Ctrl-C ends it$/);
  expect(out.join()).not.toContain('hush');
  stop();
  await done;
});

// biome-ignore format: a table is read in columns
test.each([
  [['--token-env', 'NO_SUCH'],  'INPUT_INVALID',              'a token that is not set'],
  [['--port', '70000'],         'commander.invalidArgument',  'a port that is none'],
])('%j fails with %s: %s', async (args, code) => {
  await expect(start(args).done).rejects.toMatchObject({ code });
});
