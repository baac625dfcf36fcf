import type { EngineHost, EngineStatus, PerwattError } from '@perwatt/core';
import { steadyPowerSource, testDomain } from '@perwatt/test-kit';
import { expect, onTestFinished, test, vi } from 'vitest';
import { clock } from '../clock.js';
import { parseEngineStatus, startRemoteEngine } from './agent-engine.js';
import { serveAgent } from './serve-agent.js';

const token = 'a token';
const ask = { engine: 'v', model: 'org/m', name: 'mine' };

const status = (more: Partial<EngineStatus> = {}): EngineStatus => ({
  session: 's1',
  state: 'ready',
  text: 'ready',
  port: 8123,
  facts: {
    id: 'v',
    kind: 'vllm',
    version: '1.2',
    argv: ['vllm', 'serve'],
    model: 'org/m',
    request_model: 'mine',
    image: null,
    image_digest: null,
    agent: null,
    ready_ms: 12,
    log: 'v-0.log',
  },
  profile: 'vllm',
  ...more,
});

/** A host whose engine goes through the given states, the last of which stays. */
function scriptedHost(states: EngineStatus[]) {
  const log: string[] = [];
  const host: EngineHost = {
    start(asked) {
      log.push(`start ${JSON.stringify(asked)}`);
      return states[0]!;
    },
    status() {
      if (states.length > 1) states.shift();
      return states[0]!;
    },
    async stop(session) {
      log.push(`stop ${session}`);
      return status({ state: 'stopped' });
    },
    async close() {
      log.push('close');
    },
  };
  return { host, log, states };
}

async function agent(engines?: EngineHost) {
  const served = await serveAgent({
    host: '127.0.0.1',
    port: 0,
    token,
    sources: [
      steadyPowerSource({
        name: 'fake',
        domains: [testDomain({ id: 'fake:0', source: 'fake' })],
        clock,
        period_ns: 5_000_000,
        watts: () => 10,
      }),
    ],
    hostname: 'host',
    bootId: null,
    facts: {},
    clock,
    ...(engines === undefined ? {} : { engines }),
  });
  onTestFinished(() => served.close());
  return served.url;
}

const start = (url: string, more: Partial<Parameters<typeof startRemoteEngine>[0]> = {}) =>
  startRemoteEngine({
    id: 'far',
    url,
    token,
    ask,
    ready_timeout_s: 10,
    signal: new AbortController().signal,
    poll_ms: 10,
    ...more,
  });

const failureOf = async (started: Promise<unknown>) => {
  const error = await started.then(
    () => null,
    (reason: PerwattError) => reason,
  );
  expect(error?.code).toBe('SERVER_FAILED');
  return error!.message;
};

test('an agent that was not allowed to starts nothing, whoever asks', async () => {
  expect(await failureOf(start(await agent()))).toBe(
    'agent far, engine "v": this agent starts no engines: it was started without `--allow-engines`',
  );
});

test('without the token nothing is started', async () => {
  const { host, log } = scriptedHost([status()]);
  const url = await agent(host);
  expect(await failureOf(start(url, { token: 'guess' }))).toContain('the token is missing or wrong');
  for (const [method, page] of [
    ['POST', 'start'],
    ['POST', 'stop'],
    ['GET', 'status'],
  ] as const) {
    const answer = await fetch(`${url}/v1/engines/${page}`, { method });
    expect(answer.status).toBe(401);
  }
  expect(log).toEqual([]);
});

test('an engine is started, waited for, called where it is, looked at, and stopped', async () => {
  const { host, log } = scriptedHost([
    status({ state: 'starting', text: 'starting v, 1 s', port: null, facts: null, profile: null }),
    status({ state: 'starting', text: 'starting v, 2 s', port: null, facts: null, profile: null }),
    status(),
  ]);
  const told: string[] = [];
  const engine = await start(await agent(host), { onProgress: (text) => told.push(text) });
  expect(engine).toMatchObject({
    url: 'http://127.0.0.1:8123/v1',
    profile: 'vllm',
    pids: [],
    facts: { agent: 'far', version: '1.2' },
  });
  expect(told).toEqual(['starting v, 1 s', 'starting v, 2 s']);
  expect(engine.died.aborted).toBe(false);
  await engine.stop();
  await engine.stop();
  expect(log).toEqual([`start ${JSON.stringify(ask)}`, 'stop s1']);
});

test('an engine that ends there is known here, with its words', async () => {
  const { host, states } = scriptedHost([status()]);
  const engine = await start(await agent(host));
  states[0] = status({ state: 'failed', text: 'engine "v" ended with code 70; the end of its log …' });
  await vi.waitFor(() => expect(engine.died.aborted).toBe(true), 5000);
  expect(engine.died.reason).toMatchObject({
    code: 'SERVER_DIED',
    message: 'agent far, engine "v": engine "v" ended with code 70; the end of its log …',
  });
});

test('an engine that fails to start says why, and one that takes too long is stopped', async () => {
  const failing = scriptedHost([
    status({ state: 'failed', text: 'ValueError: no such model', port: null, facts: null }),
  ]);
  expect(await failureOf(start(await agent(failing.host)))).toContain('ValueError: no such model');
  const slow = scriptedHost([
    status({ state: 'starting', text: 'starting v, 9 s', port: null, facts: null }),
  ]);
  expect(await failureOf(start(await agent(slow.host), { ready_timeout_s: 0.1 }))).toContain(
    'is not ready in time (starting v, 9 s)',
  );
  expect(slow.log.at(-1)).toBe('stop s1');
});

// biome-ignore format: a table is read in columns
test.each([
  ['POST', 'start', '{"engine":"v"}', 400, 'a body without its fields'],
  ['POST', 'start', 'no json', 400, 'a body that is none'],
  ['POST', 'start', `"${'x'.repeat(70_000)}"`, 400, 'a body that is too long'],
  ['POST', 'stop', '{"session":7}', 400, 'a session that is no text'],
  ['GET', 'start', null, 404, 'the wrong method'],
  ['POST', 'constructor', '{}', 404, 'a page that every object has'],
])('%s %s is refused without harm', async (method, page, body, code, _why) => {
  const { host, log } = scriptedHost([status()]);
  const answer = await fetch(`${await agent(host)}/v1/engines/${page}`, {
    method,
    body,
    headers: { authorization: `Bearer ${token}` },
  });
  expect(answer.status).toBe(code);
  expect(log).toEqual([]);
});

// biome-ignore format: a table is read in columns
test.each([
  ['{"session":"s","state":"happy","text":"","port":null,"facts":null,"profile":null}', 'state'],
  ['{"session":"s","state":"ready","text":"","port":70000,"facts":null,"profile":null}', 'port'],
  ['{"session":"s","state":"ready","text":"","port":1,"facts":{"id":"v"},"profile":null}', 'ready_ms'],
  ['[]', 'object'],
])('a status that is none is refused: %s', (body, what) => {
  expect(() => parseEngineStatus(body)).toThrow(what);
});
