import { type Client, PerwattError, type RunningEngine } from '@perwatt/core';
import { fakeClient, tickingClock } from '@perwatt/test-kit';
import { expect, test } from 'vitest';
import { engineClient } from './engine-client.js';

const request = {
  model: 'axis-name',
  input: { kind: 'chat' as const, messages: [{ role: 'user' as const, content: 'hi' }] },
  sampling: { temperature: 0, top_p: 1, max_tokens: 2 },
};

function world(more: Partial<Client> = {}) {
  const died = new AbortController();
  const log: string[] = [];
  const engine: RunningEngine = {
    url: 'http://127.0.0.1:1/v1',
    facts: {
      id: 'v',
      kind: 'vllm',
      version: '1.2',
      argv: ['vllm'],
      model: 'org/m',
      request_model: 'served-name',
      image: null,
      image_digest: null,
      agent: null,
      ready_ms: 5,
      log: 'v-0.log',
    },
    profile: 'vllm',
    pids: [41, 42],
    died: died.signal,
    stop: async () => void log.push('stop'),
  };
  const inner = fakeClient({ clock: tickingClock() });
  const client = engineClient({
    start: async () => {
      log.push('start');
      return engine;
    },
    connect: () => ({
      ...inner,
      call: (asked, options) => {
        log.push(`call ${asked.model}`);
        return inner.call(asked, options);
      },
      close: async () => void log.push('close'),
      ...more,
    }),
  });
  return { client, died, log, inner };
}

test('the engine is started once, called by its own name, and ended after the client', async () => {
  const { client, log } = world();
  expect(log).toEqual([]);
  const [facts] = await Promise.all([client.open(), client.open()]);
  expect(facts).toMatchObject({
    pids: [41, 42],
    server: { id: 'v', version: '1.2' },
    engine_version: expect.anything(),
  });
  await client.call(request);
  await client.close();
  expect(log).toEqual(['start', 'call served-name', 'close', 'stop']);
});

test('an engine whose client can not be opened is ended', async () => {
  const { client, log } = world({ open: () => Promise.reject(new Error('no models')) });
  await expect(client.open()).rejects.toThrow('no models');
  expect(log).toEqual(['start', 'close', 'stop']);
});

test('a call that breaks off with its engine is not answered before the end is known', async () => {
  const { client, died, inner } = world({
    call: async (asked) => {
      const record = await inner.call(asked);
      setTimeout(() => died.abort(new PerwattError('SERVER_DIED', 'gone')), 20);
      return { ...record, status: 'connect_error', error_kind: 'ECONNREFUSED' };
    },
  });
  await client.open();
  const { status } = await client.call(request);
  expect(status).toBe('connect_error');
  expect(client.ended?.aborted).toBe(true);
  expect(client.ended?.reason).toMatchObject({ code: 'SERVER_DIED' });
});

test('a call that breaks off while its engine lives is answered all the same', async () => {
  const { client, inner } = world({
    call: async (asked) => ({
      ...(await inner.call(asked)),
      status: 'truncated',
      error_kind: 'connection_closed',
    }),
  });
  await client.open();
  expect((await client.call(request)).status).toBe('truncated');
  expect(client.ended?.aborted).toBe(false);
});
