import { setTimeout } from 'node:timers/promises';
import {
  answerJson,
  deadUrl,
  deliver,
  greedyRequest,
  type MockAnswer,
  type MockExchange,
  sseDone,
  tickingClock,
  watchedClock,
} from '@perwatt/test-kit';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openAiClient } from './openai-client.js';
import { body, finish, noTimes, start, token, usage } from './scripted-answers.fixture.js';

/** Sends the tokens, waits until the client has them, then does the last thing. */
const sendThen =
  (segments: readonly string[], last: (exchange: MockExchange) => void, clock = watchedClock()) =>
  () =>
    start(
      async (exchange) => {
        await deliver(
          exchange,
          clock,
          segments.map((bytes) => ({ bytes })),
        );
        last(exchange);
      },
      { clock },
    );

describe('what is no answer', () => {
  const boom = '{"error":{"message":"boom","code":500}}';
  // biome-ignore format: a table is read in columns
  test.each<[name: string, answer: MockAnswer, expected: object]>([
    ['an error object instead of a stream',      body(boom, 'application/json'),           { status: 'stream_error', http_status: 200, error_message: 'boom' }],
    ['an empty body',                            body(''),                                 { status: 'truncated', events: 0 }],
    ['an empty body of JSON',                    body('', 'application/json'),             { status: 'truncated', error_kind: 'empty_body' }],
    ['a page',                                   body('<html>data: x</html>', 'text/html'), { status: 'protocol_error', http_status: 200 }],
    ['a page that calls itself a stream',        body('<html></html>'),                    { status: 'protocol_error' }],
    ['an error object under a type in capitals', body(boom, 'Application/Problem+JSON; charset=utf-8'), { status: 'stream_error', error_message: 'boom' }],
    ['plain text',                               body('busy', 'text/plain'),               { status: 'protocol_error', error_message: 'not a JSON object: busy' }],
    ['JSON without an answer',                   body('{"id":1}', 'application/json'),     { status: 'protocol_error', error_kind: 'bad_payload' }],
    ['JSON with an empty list of answers',       body('{"choices":[]}', 'application/json'), { status: 'protocol_error' }],
    ['JSON that breaks off',                     body('{"choices":[', 'application/json'), { status: 'protocol_error', error_kind: 'bad_json' }],
    ['a refusal of the key',                     body(boom, 'application/json', 401),      { status: 'http_error', http_status: 401, error_kind: 'http_401', error_message: 'boom' }],
    ['a crash without a word',                   body('', 'text/plain', 500),              { status: 'http_error', http_status: 500, error_message: 'status 500 without a body' }],
    ['a status that forbids a body',             (exchange) => { exchange.head(204, {}); exchange.end(); }, { status: 'truncated', http_status: 204 }],
    ['no HTTP',                                  (exchange) => exchange.raw('SSH-2.0-x\r\n\r\n'), { status: 'protocol_error', error_kind: 'not_http', http_status: null }],
    ['a connection closed without a word',       (exchange) => exchange.drop(),            { status: 'connect_error', error_kind: 'connection_closed' }],
    ['a connection reset without a word',        (exchange) => exchange.reset(),           { status: 'connect_error', error_kind: 'ECONNRESET' }],
  ])('%s fails, and has no count and no times', async (_, answer, expected) => {
    for (const stream of [true, false]) {
      const { call, server } = await start(answer);
      const record = await call({ stream, sampling: { ...greedyRequest.sampling, max_tokens: 1000 } });
      expect(record).toMatchObject({ ...expected, content: '', n_tokens: null, token_source: null, stamps: noTimes });
      expect(server.requests).toHaveLength(1);
    }
  });

  test('a redirect is not followed', async () => {
    const { call, server } = await start((exchange) => {
      exchange.head(307, { location: 'http://elsewhere/v1' });
      exchange.end();
    });
    expect(await call()).toMatchObject({
      status: 'http_error',
      http_status: 307,
      error_message: 'redirect to http://elsewhere/v1',
    });
    expect(server.requests).toHaveLength(1);
  });

  test('a server that rejects every prompt gives no token at all', async () => {
    const { call } = await start((exchange) => answerJson(exchange, 400, { error: { message: 'too long' } }));
    const records = await Promise.all(
      Array.from({ length: 100 }, () => call({ sampling: { ...greedyRequest.sampling, max_tokens: 1000 } })),
    );
    expect(new Set(records.map(({ status, n_tokens }) => `${status} ${n_tokens}`))).toEqual(
      new Set(['http_error null']),
    );
  });

  test('a server that refuses connections', async () => {
    const client = openAiClient({ url: await deadUrl(), api: 'chat', clock: tickingClock() });
    onTestFinished(client.close);
    const record = await client.call(greedyRequest);
    expect(record).toMatchObject({
      status: 'connect_error',
      error_kind: 'ECONNREFUSED',
      http_status: null,
      conn_reused: null,
      bytes_in: 0,
      reads: 0,
    });
    expect(record.stamps).toMatchObject({ socket_ns: null, sent_ns: null, headers_ns: null, ...noTimes });
  });
});

describe('a stream that breaks', () => {
  const reset = (exchange: MockExchange) => exchange.reset();
  const drop = (exchange: MockExchange) => exchange.drop();
  const half = token('lo').slice(0, 20);
  // biome-ignore format: a table is read in columns
  test.each<[name: string, segments: string[], last: (exchange: MockExchange) => void, expected: object]>([
    ['reset within a token',            [token('Hel'), half],            reset, { status: 'truncated', error_kind: 'ECONNRESET', content: 'Hel', n_tokens: null }],
    ['reset after the finish reason',   [token('Hel'), finish],          reset, { status: 'ok', content: 'Hel', done: false, n_tokens: 1, error_kind: null }],
    ['reset after [DONE]',              [token('Hel'), finish, sseDone], reset, { status: 'ok', content: 'Hel', done: true, n_tokens: 1, error_kind: null }],
    ['closed within a token',           [token('Hel'), half],            drop,  { status: 'truncated', error_kind: 'connection_closed', content: 'Hel', n_tokens: null }],
    ['closed after the finish reason',  [token('Hel'), finish],          drop,  { status: 'ok', content: 'Hel', done: false, n_tokens: 1, error_kind: null }],
    ['closed with whole usage pending', [token('Hel'), finish, usage(3).trimEnd()], drop, { status: 'ok', n_tokens: 3, token_source: 'server_usage' }],
  ])('%s', async (_, segments, last, expected) => {
    const { call, server } = await sendThen(segments, last)();
    const record = await call();
    expect(record).toMatchObject({ ...expected, reads: segments.length });
    expect(record.stamps.first_content_ns).not.toBeNull();
    expect(server.requests).toHaveLength(1);
  });

  const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n';
  // biome-ignore format: a table is read in columns
  test.each<[name: string, raw: string, expected: object]>([
    ['within a chunk',           `${head}transfer-encoding: chunked\r\n\r\n1000\r\n${token('Hel')}`, { status: 'truncated', error_kind: 'connection_closed', content: 'Hel' }],
    ['before the stated length', `${head}content-length: 1000\r\n\r\n${token('Hel')}`,               { status: 'truncated', error_kind: 'connection_closed', content: 'Hel' }],
    ['where a close is the end', `${head}\r\n${token('Hel')}`,                                        { status: 'truncated', error_kind: 'no_finish_reason', content: 'Hel' }],
    ['where that is the end, in order', `${head}\r\n${token('Hel')}${finish}`,                       { status: 'ok', content: 'Hel' }],
    ['within broken framing',    `${head}transfer-encoding: chunked\r\n\r\nzz\r\n${token('Hel')}`, { status: 'protocol_error', error_kind: 'not_http', content: '' }],
  ])('a connection that is not kept, closed %s', async (_, raw, expected) => {
    const { call } = await start((exchange) => {
      exchange.raw(raw);
      exchange.drop();
    });
    expect(await call()).toMatchObject(expected);
  });

  test('a whole body that breaks off is truncated', async () => {
    const { call } = await start(async (exchange) => {
      exchange.head(200, { 'content-type': 'application/json', 'content-length': '999' });
      await exchange.write('{"choices":[{"mess');
      exchange.drop();
    });
    expect(await call({ stream: false })).toMatchObject({
      status: 'truncated',
      error_kind: 'connection_closed',
    });
  });
});

describe('time limits', () => {
  const hang = () => {};

  test('a server that hangs before its headers', async () => {
    const { call, server } = await start(hang, { headersTimeoutMs: 20 });
    const record = await call();
    expect(record).toMatchObject({
      status: 'timeout',
      error_kind: 'headers_timeout',
      error_message: 'no response headers within 20 ms',
      http_status: null,
    });
    expect(record.stamps.sent_ns).not.toBeNull();
    await server.requests[0]?.gone;
  });

  test('a stream that falls silent keeps what had come', async () => {
    const { call, server } = await sendThen([token('Hel')], hang)();
    const record = await call({}, { idle_timeout_ms: 30 });
    expect(record).toMatchObject({
      status: 'timeout',
      error_kind: 'idle_timeout',
      error_message: 'nothing arrived for 30 ms',
      content: 'Hel',
      n_tokens: null,
    });
    await server.requests[0]?.gone;
  });

  test('a limit of the call goes before that of the client', async () => {
    const { call } = await start(hang, { headersTimeoutMs: 600_000 });
    expect(await call({}, { headers_timeout_ms: 20 })).toMatchObject({ error_kind: 'headers_timeout' });
  });

  test('silence after [DONE] does no harm', async () => {
    const { call } = await sendThen([token('Hel'), finish + sseDone], hang)();
    expect(await call({}, { idle_timeout_ms: 30 })).toMatchObject({
      status: 'ok',
      content: 'Hel',
      n_tokens: 1,
    });
  });

  test('a slow stream is not a silent one', async () => {
    const { call } = await start(
      async (exchange) => {
        for (let i = 0; i < 6; i++) {
          await exchange.write(token('x'));
          await setTimeout(100);
        }
        await exchange.write(finish + sseDone);
        exchange.end();
      },
      { idleTimeoutMs: 450 },
    );
    expect(await call()).toMatchObject({ status: 'ok', content: 'xxxxxx' });
  });

  test('silence in an error body leaves the error', async () => {
    const { call } = await start(
      async (exchange) => {
        exchange.head(503, { 'content-type': 'text/plain' });
        await exchange.write('busy');
      },
      { idleTimeoutMs: 30 },
    );
    expect(await call()).toMatchObject({ status: 'http_error', http_status: 503, error_message: 'busy' });
  });
});
