import { getEventListeners } from 'node:events';
import {
  deadUrl,
  type MockExchange,
  scriptedOpenAi,
  sseDone,
  sseEvent,
  tickingClock,
  watchedClock,
} from '@perwatt/test-kit';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { openAiClient } from './openai-client.js';
import { body, finish, noTimes, start, token, usage } from './scripted-answers.fixture.js';

test('running usage, where it is asked for, gives the tokens of each event', async () => {
  const counted = (text: string, completion_tokens: number) =>
    sseEvent({ choices: [{ delta: { content: text } }], usage: { prompt_tokens: 5, completion_tokens } });
  const answer = body(counted('ab', 2) + counted('cdef', 6) + finish + usage(6) + sseDone);
  const asks = { include_usage: true, continuous_usage_stats: true };
  const running = await start(answer, { usage: 'running' });
  expect(await running.call()).toMatchObject({ status: 'ok', n_tokens: 6, event_tokens: [2, 4] });
  expect(running.server.requests[0]?.body).toMatchObject({ stream_options: asks });
  const last = await start(body(token('a') + finish + usage(1) + sseDone));
  expect(await last.call()).toMatchObject({ status: 'ok', n_tokens: 1, event_tokens: null });
  expect(last.server.requests[0]?.body).toMatchObject({ stream_options: { include_usage: true } });
});

describe('answers in one piece', () => {
  const answer = (choice: object, more: object = {}) =>
    body(JSON.stringify({ choices: [choice], ...more }), 'application/json');
  const counted = { usage: { prompt_tokens: 5, completion_tokens: 2 } };

  test("a message, with the server's count", async () => {
    const message = {
      content: 'Hello',
      reasoning_content: 'hm',
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
    };
    const { call } = await start(answer({ message, finish_reason: 'stop' }, counted));
    expect(await call({ stream: false })).toMatchObject({
      status: 'ok',
      content: 'Hello',
      reasoning: 'hm',
      tool_calls: [{ index: 0, id: 'c', name: 'f', arguments: '{}' }],
      finish_reason: 'stop',
      n_tokens: 2,
      token_source: 'server_usage',
      events: 0,
      done: false,
      stamps: noTimes,
    });
  });

  test('without a count there is none', async () => {
    const { call } = await start(answer({ text: 'Hello', finish_reason: 'length' }));
    expect(await call({ stream: false })).toMatchObject({
      status: 'ok',
      content: 'Hello',
      n_tokens: null,
      token_source: null,
    });
  });

  test('a server that does not stream when asked to gives an answer without times', async () => {
    const { call } = await start(
      answer(
        {
          message: {
            content: [
              { type: 'text', text: 'Hel' },
              { type: 'text', text: 'lo' },
            ],
          },
        },
        counted,
      ),
    );
    expect(await call()).toMatchObject({ status: 'ok', content: 'Hello', n_tokens: 2, stamps: noTimes });
  });

  test('a server that streams when not asked to gives an answer without times', async () => {
    const { call } = await start(body(token('Hel') + token('lo') + finish + usage(2) + sseDone));
    const record = await call({ stream: false });
    expect(record).toMatchObject({ status: 'ok', content: 'Hello', n_tokens: 2, icl_ns: [] });
    expect(record.stamps).toMatchObject(noTimes);
  });
});

describe('connections', () => {
  test('are used again, and the record says so', async () => {
    const { call, server } = await start();
    const records = [await call(), await call(), await call()];
    expect(records.map(({ conn_reused }) => conn_reused)).toEqual([false, true, true]);
    expect(server.requests.map(({ connection }) => connection)).toEqual([0, 0, 0]);
  });

  test('are as many as calls in flight', async () => {
    const { call, server } = await start(async (exchange) => {
      await vi.waitFor(() => expect(server.requests.length).toBe(4));
      await scriptedOpenAi(exchange);
    });
    const records = await Promise.all([call(), call(), call(), call()]);
    expect(records.map(({ status, conn_reused }) => [status, conn_reused])).toEqual(
      Array(4).fill(['ok', false]),
    );
  });

  test('can be limited: then calls wait, and their stamps show it', async () => {
    const { call } = await start(undefined, { connections: 1 });
    const [first, second] = await Promise.all([call(), call()]);
    expect(second!.stamps.dispatch_ns < first!.stamps.end_ns).toBe(true);
    expect(second!.stamps.socket_ns! > first!.stamps.end_ns).toBe(true);
    expect(second!.conn_reused).toBe(true);
  });

  test('a call cancelled while it waits is never sent', async () => {
    const aborting = new AbortController();
    const { call, server } = await start(
      async (exchange) => {
        aborting.abort();
        await scriptedOpenAi(exchange);
      },
      { connections: 1 },
    );
    const [first, second] = await Promise.all([call(), call({}, { signal: aborting.signal })]);
    expect([first!.status, second!.status]).toEqual(['ok', 'cancelled']);
    expect((await call()).status).toBe('ok');
    expect(server.requests).toHaveLength(2);
  });

  test('a cancelled call lets go of its connection', async () => {
    const aborting = new AbortController();
    const { call, server } = await start(async (exchange) => {
      await exchange.write(token('Hel'));
    });
    const record = await call({}, { signal: aborting.signal, onDelta: () => aborting.abort() });
    expect(record).toMatchObject({ status: 'cancelled', error_kind: 'aborted', content: 'Hel' });
    await server.requests[0]?.gone;
  });
});

test('a request has its key, its path and its own length', async () => {
  const { call, server } = await start(undefined, { apiKey: 'secret' });
  const record = await call();
  const { method, path, headers } = server.requests[0]!;
  expect([method, path, headers.authorization]).toEqual(['POST', '/v1/chat/completions', 'Bearer secret']);
  expect(Number(headers['content-length'])).toBe(record.bytes_out);
});

describe('a cancelled call', () => {
  test('takes nothing more, not even from the same read', async () => {
    const aborting = new AbortController();
    const deltas: string[] = [];
    const { call } = await start(body(token('a') + token('b') + token('c') + finish + sseDone));
    const onDelta = ({ content }: { content: string }) => {
      deltas.push(content);
      aborting.abort();
    };
    const record = await call({}, { signal: aborting.signal, onDelta });
    expect(record).toMatchObject({
      status: 'cancelled',
      content: 'a',
      content_events: 1,
      icl_ns: [],
      done: false,
    });
    expect(deltas).toEqual(['a']);
  });

  test('is cancelled in the middle of an error body, too', async () => {
    const aborting = new AbortController();
    const clock = watchedClock();
    const { call } = await start(
      async (exchange) => {
        const read = clock.next();
        exchange.head(500, { 'content-type': 'text/plain' });
        await read;
        aborting.abort();
      },
      { clock },
    );
    expect(await call({}, { signal: aborting.signal })).toMatchObject({
      status: 'cancelled',
      http_status: 500,
    });
  });

  test('and every other leave nothing on their signal', async () => {
    const { call } = await start();
    const { signal } = new AbortController();
    await Promise.all([call({}, { signal }), call({ model: 'absent' }, { signal })]);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});

test('early hints are no answer', async () => {
  const { call: waiting } = await start((exchange) => exchange.raw('HTTP/1.1 103 Early Hints\r\n\r\n'), {
    headersTimeoutMs: 30,
  });
  expect(await waiting()).toMatchObject({ error_kind: 'headers_timeout', http_status: null });
  const { call } = await start((exchange) => {
    const events = token('Hel') + finish + sseDone;
    exchange.raw(
      'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n' +
        `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: ${events.length}\r\n\r\n${events}`,
    );
  });
  expect(await call()).toMatchObject({ status: 'ok', http_status: 200, content: 'Hel' });
});

test('an error of the listener reaches the caller, and the client serves on', async () => {
  const { call } = await start();
  const fail = () => {
    throw new Error('listener broke');
  };
  await expect(call({}, { onDelta: fail })).rejects.toThrow('listener broke');
  expect((await call()).status).toBe('ok');
});

describe('opening', () => {
  test('says what the server lists', async () => {
    const { client, server } = await start();
    expect(await client.open()).toMatchObject({
      kind: 'http',
      endpoint: server.url,
      model: 'scripted',
      engine: null,
    });
  });

  test.each([
    ['no such path', body('no', 'text/plain', 404)],
    ['a page', body('<html>', 'text/html')],
    ['no HTTP', (exchange: MockExchange) => exchange.raw('hello\r\n\r\n')],
  ])('is content with %s', async (_, answer) => {
    const { client } = await start(answer, { model: 'm' });
    expect(await client.open()).toMatchObject({ model: 'm', engine: null });
  });

  test('fails when nothing listens', async () => {
    const url = await deadUrl();
    const client = openAiClient({ url, api: 'chat', clock: tickingClock() });
    onTestFinished(client.close);
    await expect(client.open()).rejects.toMatchObject({
      code: 'CLIENT_UNREACHABLE',
      message: expect.stringContaining(`cannot reach ${new URL(url).origin}: connect ECONNREFUSED`),
    });
  });
});
