import { getEventListeners } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import type { CallOptions, ClientRequest } from '@perwatt/core';
import {
  answerJson,
  chatChunk,
  deliver,
  type MockAnswer,
  type MockExchange,
  manualClock,
  mockOpenAiServer,
  scriptedOpenAi,
  sseDone,
  sseEvent,
  tickingClock,
  watchedClock,
} from '@perwatt/test-kit';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { type OpenAiClientOptions, openAiClient } from './openai-client.js';

const request: ClientRequest = {
  model: 'scripted',
  input: { kind: 'chat', messages: [{ role: 'user', content: 'Say the word apple.' }] },
  sampling: { temperature: 0, top_p: 1, max_tokens: 5 },
};

async function start(answer?: MockAnswer, options: Partial<OpenAiClientOptions> = {}) {
  const server = await mockOpenAiServer(answer);
  onTestFinished(server.close);
  const client = openAiClient({ url: server.url, api: 'chat', clock: tickingClock(), ...options });
  onTestFinished(client.close);
  const call = (own: Partial<ClientRequest> = {}, callOptions: CallOptions = {}) =>
    client.call({ ...request, ...own }, callOptions);
  return { server, client, call };
}

/** A port on which nothing listens. */
async function deadUrl(): Promise<string> {
  const server = await mockOpenAiServer();
  await server.close();
  return server.url;
}

const token = (text: string) => chatChunk({ content: text });
const finish = chatChunk({}, 'stop');
const usage = (n: number) => sseEvent({ choices: [], usage: { prompt_tokens: 5, completion_tokens: n } });
const noTimes = { first_any_ns: null, first_content_ns: null, last_content_ns: null };

const body =
  (text: string, type = 'text/event-stream', status = 200): MockAnswer =>
  async (exchange) => {
    exchange.head(status, { 'content-type': type });
    if (text !== '') await exchange.write(text);
    exchange.end();
  };

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
      const record = await call({ stream, sampling: { ...request.sampling, max_tokens: 1000 } });
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
      Array.from({ length: 100 }, () => call({ sampling: { ...request.sampling, max_tokens: 1000 } })),
    );
    expect(new Set(records.map(({ status, n_tokens }) => `${status} ${n_tokens}`))).toEqual(
      new Set(['http_error null']),
    );
  });

  test('a server that refuses connections', async () => {
    const client = openAiClient({ url: await deadUrl(), api: 'chat', clock: tickingClock() });
    onTestFinished(client.close);
    const record = await client.call(request);
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

describe('timelines', () => {
  type Timeline = readonly (readonly [at_ms: number, bytes: string])[];

  /** Plays a timeline (ms after dispatch) and gives the record with its times in ms after dispatch. */
  async function play(timeline: Timeline) {
    const manual = manualClock();
    const clock = watchedClock(manual);
    let now = 0;
    const { call } = await start(
      async (exchange) => {
        const segments = timeline.map(([at_ms, bytes]) => ({
          bytes,
          before: () => {
            manual.advance(Math.round((at_ms - now) * 1e6));
            now = at_ms;
          },
        }));
        await deliver(exchange, clock, segments);
        exchange.end();
      },
      { clock },
    );
    const record = await call({ sampling: { ...request.sampling, max_tokens: 100 } });
    const { dispatch_ns, first_any_ns, first_content_ns, last_content_ns, done_ns, end_ns } = record.stamps;
    const ms = (at: bigint | null) => (at === null ? null : Number(at - dispatch_ns) / 1e6);
    const [first, last] = [ms(first_any_ns), ms(last_content_ns)];
    return {
      status: record.status,
      n: record.n_tokens,
      ttft_any: first,
      ttft_content: ms(first_content_ns),
      last,
      tpot:
        first === null || last === null || !record.n_tokens ? null : (last - first) / (record.n_tokens - 1),
      icl: record.icl_ns.map((gap) => gap / 1e6),
      done: ms(done_ns),
      end: ms(end_ns),
    };
  }

  const steps = (count: number, from: number, gap: number, make: (i: number) => string): Timeline =>
    Array.from({ length: count }, (_, i) => [from + i * gap, make(i)]);
  const reasoning = (name: string) => () => chatChunk({ [name]: 'x' });

  // biome-ignore format: a table is read in columns
  test.each<[name: string, timeline: Timeline, expected: object]>([
    ['a role is no token',
      [[0, chatChunk({ role: 'assistant', content: '' })], [900, token('a')], [910, token('b')], [911, finish]],
      { ttft_any: 900, ttft_content: 900, icl: [10] }],
    ['reasoning counts as a first token, but not as content',
      [...steps(20, 100, 10, reasoning('reasoning_content')), [300, finish], [301, usage(20)], [302, sseDone]],
      { ttft_any: 100, ttft_content: null, n: 20, last: 290 }],
    ['reasoning under its other name',
      [...steps(10, 500, 10, reasoning('reasoning')), [600, token('a')], [601, finish + usage(11) + sseDone]],
      { ttft_any: 500, ttft_content: 600, tpot: 10, n: 11 }],
    ['a late usage block does not move the end of the tokens',
      [[100, token('a')], [110, token('b')], [120, token('c')], [120, finish], [420, usage(3)], [421, sseDone]],
      { last: 120, tpot: 10, done: 421, end: 421 }],
    ['tokens that came are counted, not those asked for',
      [...steps(10, 200, 10, () => token('x')), [291, finish], [292, sseDone]],
      { n: 10, tpot: 10 }],
    ['a chunk of several tokens is one gap',
      [...steps(8, 100, 12.8, (i) => sseEvent({ choices: [{ delta: { content: 'abcd' } }], usage: { prompt_tokens: 5, completion_tokens: 4 * (i + 1) } })), [200, finish + sseDone]],
      { icl: Array(7).fill(12.8), n: 32, tpot: 89.6 / 31 }],
    ['the time per token leaves out the first token',
      [[500, token('a')], [540, token('b')], [580, token('c')], [580, finish], [590, usage(12)], [590, sseDone]],
      { tpot: 80 / 11, icl: [40, 40] }],
    ['no content at all',
      [[5, chatChunk({ role: 'assistant' })], [6, finish], [7, sseDone]],
      { status: 'ok', ttft_any: null, ttft_content: null, last: null, tpot: null, icl: [] }],
  ])('%s', async (_, timeline, expected) => {
    expect(await play(timeline)).toMatchObject({ status: 'ok', ...expected });
  });
});

describe('one read', () => {
  test('has one stamp, whatever it brings', async () => {
    const clock = watchedClock();
    const { call } = await start(
      async (exchange) => {
        await deliver(exchange, clock, [
          { bytes: token('a') },
          { bytes: token('b') + token('c') + finish + sseDone },
        ]);
        exchange.end();
      },
      { clock },
    );
    const { stamps, icl_ns, reads, bytes_in } = await call();
    expect(reads).toBe(2);
    expect(bytes_in).toBe([token('a'), token('b'), token('c'), finish, sseDone].join('').length);
    expect(stamps.last_content_ns).toBe(stamps.done_ns);
    expect(icl_ns).toEqual([Number(stamps.last_content_ns! - stamps.first_any_ns!), 0]);
  });

  test('is one, however many chunks of the transfer it holds', async () => {
    const { call } = await start((exchange) => {
      const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
      const chunks = [token('a'), token('b'), finish, sseDone].map(chunk).join('');
      exchange.raw(
        `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`,
      );
    });
    const { status, reads, icl_ns, stamps } = await call();
    expect({ status, reads, icl_ns }).toEqual({ status: 'ok', reads: 1, icl_ns: [0] });
    expect([stamps.headers_ns, stamps.first_any_ns, stamps.end_ns]).toEqual(
      Array(3).fill(stamps.last_content_ns),
    );
  });
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
