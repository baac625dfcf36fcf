import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, instant } from '@perwatt/core';
import { ggufFixture } from '@perwatt/test-kit';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { recordedIo } from '../io.fixture.js';
import { serveCommand } from './serve.js';

const folder = mkdtempSync(join(tmpdir(), 'perwatt-serve-'));
beforeAll(() => writeFileSync(join(folder, 'fixture.gguf'), ggufFixture()));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const clock: Clock = { now: () => instant(process.hrtime.bigint()) };

function start(args: readonly string[], env: Record<string, string> = {}) {
  const stopping = new AbortController();
  const { io, result } = recordedIo({ env, cwd: folder, signal: stopping.signal });
  const command = serveCommand(io, clock)
    .exitOverride()
    .configureOutput({ writeErr: () => {} });
  const done = command.parseAsync(['--model', './fixture.gguf', '--port', '0', '--threads', '1', ...args], {
    from: 'user',
  });
  return { out: result.out, stop: () => stopping.abort(), done };
}

test('serves a file until it is stopped, then ends engine and server', async () => {
  const { out, stop, done } = start(['--json']);
  await vi.waitFor(() => expect(out).toHaveLength(1), { timeout: 30_000 });
  const { url, facts } = JSON.parse(out[0] ?? '');
  expect(facts).toMatchObject({
    model: 'fixture',
    threads: 1,
    model_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  const response = await fetch(`${url}/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'fixture', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 3 }),
  });
  expect(await response.json()).toMatchObject({ usage: { completion_tokens: 3 } });
  stop();
  await done;
  await expect(fetch(url)).rejects.toThrow();
  expect(() => process.kill(facts.pids[0], 0)).toThrow('ESRCH');
});

test('prints the address for people, under the name that was given', async () => {
  const { out, stop, done } = start(['--name', 'mine']);
  await vi.waitFor(() => expect(out).toHaveLength(1), { timeout: 30_000 });
  expect(out[0]).toMatch(/^serving mine at http:\/\/127\.0\.0\.1:\d+\/v1 with llama\.cpp .*Ctrl-C ends it$/);
  stop();
  await done;
});

function startMock(args: readonly string[]) {
  const stopping = new AbortController();
  const { io, result } = recordedIo({ env: {}, cwd: folder, signal: stopping.signal });
  const command = serveCommand(io, clock)
    .exitOverride()
    .configureOutput({ writeErr: () => {} });
  const done = command.parseAsync(args, { from: 'user' });
  return { out: result.out, stop: () => stopping.abort(), done };
}

test('--mock serves made-up answers in a process of its own, until it is stopped', async () => {
  const args = ['--mock', '--port', '0', '--json', '--ttft-ms', '1', '--name', 'm', '--log', 'mock.log'];
  const { out, stop, done } = startMock(args);
  await vi.waitFor(() => expect(out).toHaveLength(1), { timeout: 30_000 });
  const { url, pid } = JSON.parse(out[0] ?? '');
  expect(await (await fetch(`${url}/models`)).json()).toMatchObject({ data: [{ id: 'm' }] });
  const response = await fetch(`${url}/completions`, {
    method: 'POST',
    body: JSON.stringify({ prompt: 'Hi', max_tokens: 3, stream: true }),
  });
  expect((await response.text()).match(/"at_ns":"\d{19}"/g)).toHaveLength(4);
  await vi.waitFor(() => expect(readFileSync(join(folder, 'mock.log'), 'utf8')).toContain('"sent_ns":["'));
  stop();
  await done;
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
});

test('--mock ends by itself once it has died as told', async () => {
  const { out, done } = startMock(['--mock', '--port', '0', '--json', '--fail', 'death']);
  await vi.waitFor(() => expect(out).toHaveLength(1), { timeout: 30_000 });
  const { url } = JSON.parse(out[0] ?? '');
  await expect(fetch(`${url}/completions`, { method: 'POST', body: '{}' })).rejects.toThrow();
  await done;
});

// biome-ignore format: a table is read in columns
test.each([
  [[],                                              'USAGE',         /neither `--model` nor `--mock`/, 'nothing to serve'],
  [['--mock', '--ttft-ms', 'fast'],                 'INPUT_INVALID', /"fast" is not a delay/,          'no time'],
  [['--mock', '--fail', 'rest:0.1'],                'INPUT_INVALID', /did you mean "reset"/,           'no failure'],
  [['--mock', '--fail', 'reset:2'],                 'INPUT_INVALID', /no rate from 0 to 1/,            'no share'],
  [['--mock', '--fail', 'reset:0.7', 'error:0.6'],  'INPUT_INVALID', /more than 1/,                    'shares beyond all'],
])('%j fails with %s: %s', async (args, code, message) => {
  const rejected = await Promise.resolve()
    .then(() => startMock(args).done)
    .catch((error: unknown) => error);
  expect(rejected).toMatchObject({ code, message: expect.stringMatching(message) });
});

// biome-ignore format: a table is read in columns
test.each([
  [['--model', 'no-such-model'],      'MODEL_UNKNOWN',              'an unknown model'],
  [['--model', './nothing.gguf'],     'FILE_UNREADABLE',            'a file that is not there'],
  [['--api-key-env', 'NO_SUCH_KEY'],  'INPUT_INVALID',              'a key that is not set'],
  [['--port', '70000'],               'commander.invalidArgument',  'a port that is none'],
])('%j fails with %s: %s', async (args, code) => {
  await expect(start(args).done).rejects.toMatchObject({ code });
});
