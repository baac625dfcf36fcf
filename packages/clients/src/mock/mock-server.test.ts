import { connect } from 'node:net';
import { createRng } from '@perwatt/core';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createAlarm } from './alarm.js';
import { delayMs, parseMockDelay } from './mock-delay.js';
import { failureAt, type MockLogLine, type MockServerOptions, parseMockFailure } from './mock-options.js';
import { listenMock } from './mock-server.js';
import { createRequestReader } from './request-reader.js';
import { startMockServer } from './start-mock-server.js';

const nowNs = () => process.hrtime.bigint();

async function start(options: MockServerOptions = {}) {
  const lines: MockLogLine[] = [];
  const died = vi.fn();
  const mock = await listenMock(options, { nowNs, log: (line) => lines.push(line), onDeath: died });
  onTestFinished(mock.close);
  const ask = (path: string, body?: object, headers: Record<string, string> = {}) =>
    fetch(`http://127.0.0.1:${mock.port}${path}`, {
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      headers,
    });
  return { mock, lines, died, ask };
}

const eventsOf = (text: string) =>
  text
    .split('\n\n')
    .filter((event) => event.startsWith('data: {'))
    .map((event) => JSON.parse(event.slice(6)));

describe('answers', () => {
  const streamed = { prompt: 'Hello there', max_tokens: 4, stream: true };
  const forms: readonly MockServerOptions[] = [
    {},
    { tpot: { kind: 'constant', ms: 1 } },
    { ttft: { kind: 'constant', ms: 1 } },
  ];

  test.each(forms)(
    '%j: a stream is the words, their stamps in order, a finish reason, usage and [DONE]',
    async (options) => {
      const { ask, lines } = await start(options);
      const before = nowNs();
      const text = await (
        await ask('/v1/completions', { ...streamed, stream_options: { include_usage: true } })
      ).text();
      const events = eventsOf(text);
      expect(events.map(({ choices }) => choices[0]?.text)).toEqual([
        ' red',
        ' oak',
        ' sun',
        ' tea',
        '',
        undefined,
      ]);
      expect(events.map(({ choices }) => choices[0]?.finish_reason)).toEqual([
        null,
        null,
        null,
        null,
        'length',
        undefined,
      ]);
      expect(events.at(-1)).toMatchObject({
        choices: [],
        usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
      });
      expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
      expect(new Set(events.map(({ id }) => id))).toEqual(new Set(['mock-000000000000']));
      const stamps = events.map(({ at_ns }) => BigInt(at_ns));
      expect(stamps).toEqual([...stamps].sort((a, b) => (a < b ? -1 : 1)));
      expect(stamps[0]).toBeGreaterThan(before);
      expect(lines).toHaveLength(1);
      expect(lines[0]?.fresh).toBe(true);
      expect(lines[0]?.sent_ns.map(BigInt)).toEqual(stamps.slice(0, 4));
      expect(BigInt(lines[0]?.received_ns ?? 0)).toBeGreaterThan(before);
    },
  );

  // biome-ignore format: a table is read in columns
  test.each<[options: MockServerOptions, body: object, tokens: number, reason: string, why: string]>([
    [{},            { max_tokens: 3 },                            3,  'length', 'as many as are asked for'],
    [{},            { max_completion_tokens: 5 },                 5,  'length', 'under its other name'],
    [{},            {},                                           16, 'stop',   'nothing is asked for'],
    [{ tokens: 2 }, { max_tokens: 3 },                            2,  'stop',   'the server has fewer'],
    [{ tokens: 9 }, { max_tokens: 3 },                            3,  'length', 'the server has more'],
    [{ tokens: 9 }, { max_tokens: 30, mock: { tokens: 11 } },     11, 'stop',   'the request has its own'],
    [{},            { max_tokens: 0 },                            0,  'length', 'none at all'],
  ])('%j, %j: %i tokens, %s (%s)', async (options, body, tokens, reason) => {
    const { ask } = await start(options);
    for (const stream of [false, true]) {
      const response = await ask('/v1/chat/completions', { ...body, stream, stream_options: { include_usage: true }, messages: [{ role: 'user', content: 'Hi' }] });
      const answers = stream ? eventsOf(await response.text()) : [await response.json()];
      expect(answers.at(-1).usage).toMatchObject({ completion_tokens: tokens });
      expect(answers.map(({ choices }) => choices[0]?.finish_reason ?? null)).toContain(reason);
      const text = answers.map(({ choices }) => choices[0]?.message?.content ?? choices[0]?.delta?.content ?? '').join('');
      expect(text.split(' ').length - 1).toBe(tokens);
    }
  });

  test('events hold as many tokens as told, and running usage counts them', async () => {
    const { ask } = await start({ tokens_per_event: 3 });
    const stream_options = { continuous_usage_stats: true };
    const events = eventsOf(
      await (
        await ask('/v1/completions', { prompt: '', max_tokens: 7, stream: true, stream_options })
      ).text(),
    );
    expect(events.map(({ usage }) => usage?.completion_tokens)).toEqual([3, 6, 7, undefined]);
  });

  test('the header of a request changes its answer alone', async () => {
    const { ask } = await start();
    const answer = async (headers: Record<string, string>) =>
      (await ask('/v1/completions', { prompt: 'a', max_tokens: 2 }, headers)).status;
    expect(await answer({ 'x-mock': '{"fail":"too_many"}' })).toBe(429);
    expect(await answer({ 'x-mock': '{"fail":"no_such"}' })).toBe(400);
    expect(await answer({ 'x-mock': 'fail' })).toBe(400);
    expect(await answer({})).toBe(200);
  });

  test('a 429 says when to come again', async () => {
    const { ask } = await start({ failures: { too_many: 1 } });
    const response = await ask('/v1/completions', { prompt: 'a' });
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '1']);
  });

  test('the same seed fails the same calls', async () => {
    const statuses = async (seed: number) => {
      const { ask } = await start({ failures: { error: 0.5 }, seed });
      const found: number[] = [];
      for (let i = 0; i < 20; i++)
        found.push((await ask('/v1/completions', { prompt: 'a', max_tokens: 1 })).status);
      return found.join();
    };
    expect(await statuses(1)).toBe(await statuses(1));
    expect(await statuses(1)).not.toBe(await statuses(2));
    expect(await statuses(1)).toMatch(/200.*500|500.*200/);
  });

  test('calls beyond the slots wait in line', async () => {
    const { ask, mock } = await start({ slots: 1, ttft: { kind: 'constant', ms: 400 } });
    const all = [1, 2, 3].map(() => ask('/v1/completions', { prompt: 'a', max_tokens: 1 }));
    await vi.waitFor(() => expect(mock.counts).toMatchObject({ running: 1, waiting: 2 }));
    await Promise.all(all);
    expect(mock.counts).toMatchObject({ running: 0, waiting: 0, finished_length: 3 });
  });

  test('after a refusal nobody is let in for a moment, and then they are', async () => {
    const { ask } = await start();
    await expect(ask('/v1/completions', { prompt: 'a', mock: { fail: 'refuse' } })).rejects.toThrow();
    await expect(ask('/health')).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
    await vi.waitFor(async () => expect((await ask('/health')).status).toBe(200), { timeout: 5000 });
  });

  test('death ends it', async () => {
    const { ask, died } = await start();
    await expect(ask('/v1/completions', { prompt: 'a', mock: { fail: 'death' } })).rejects.toThrow();
    await vi.waitFor(() => expect(died).toHaveBeenCalledOnce());
  });
});

describe('other pages', () => {
  test('models, metrics, health and what there is not', async () => {
    const { ask } = await start({ model: 'm' });
    await (await ask('/v1/completions', { prompt: 'Hello there', max_tokens: 4 })).text();
    expect(await (await ask('/v1/models')).json()).toMatchObject({
      data: [{ id: 'm', max_model_len: 1048576 }],
    });
    const metrics = await (await ask('/metrics')).text();
    expect(metrics).toContain('vllm:num_requests_running{engine="0",model_name="m"} 0\n');
    expect(metrics).toContain('vllm:prompt_tokens_total{engine="0",model_name="m"} 3\n');
    expect(metrics).toContain('vllm:generation_tokens_total{engine="0",model_name="m"} 4\n');
    expect((await ask('/health')).status).toBe(200);
    expect((await ask('/v2')).status).toBe(404);
    expect((await ask('/v1/completions', [1])).status).toBe(400);
  });

  test('tokens there and back', async () => {
    const { ask } = await start();
    const prompt = 'Hello, 你好 🙂 x';
    const { count, tokens } = (await (await ask('/tokenize', { prompt })).json()) as {
      readonly count: number;
      readonly tokens: readonly number[];
    };
    expect(count).toBe(Math.ceil(Buffer.byteLength(prompt) / 4));
    expect(tokens).toHaveLength(count);
    expect(await (await ask('/detokenize', { tokens })).json()).toEqual({ prompt });
  });
});

describe('requests', () => {
  /** What a connection answers to these bytes, sent as they are. */
  async function raw(port: number, bytes: string): Promise<string> {
    const socket = connect(port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    let said = '';
    socket.setEncoding('utf8').on('data', (text) => {
      said += text;
    });
    socket.write(bytes);
    await vi.waitFor(() => expect(said).toMatch(/\}$/));
    return said;
  }

  // biome-ignore format: a table is read in columns
  test.each([
    ['GET /health HTTP/1.1\r\n\r\nGET /v1/models HTTP/1.1\r\n\r\n', /200 OK[\s\S]*200 OK[\s\S]*"data"/, 'two in one write'],
    ['POST /tokenize HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 15\r\n\r\n{"prompt":"ab"}', /^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 OK/, 'leave to send a body'],
    ['POST /tokenize HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n', /^HTTP\/1.1 411 /, 'a body of unknown length'],
    ['SSH-2.0\r\n\r\n',                                              /^HTTP\/1.1 400 /, 'no HTTP'],
    ['POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n',                /^HTTP\/1.1 400 /, 'no length'],
  ])('%j gives %s (%s)', async (bytes, answer) => {
    const { mock } = await start();
    expect(await raw(mock.port, bytes)).toMatch(answer);
  });

  test('may come in any pieces', () => {
    const bytes = Buffer.from(
      'POST /a HTTP/1.1\r\nContent-Length: 3\r\nX-Name: v\r\n\r\nabcGET /b HTTP/1.1\r\n\r\n',
    );
    for (let size = 1; size <= bytes.length; size++) {
      const found: string[] = [];
      const reader = createRequestReader({
        onRequest: ({ path, body, header }) => {
          found.push(`${path} ${body} ${header('x-name')}`);
          queueMicrotask(() => reader.next());
        },
        onExpect: () => {},
        onBad: (status) => found.push(String(status)),
      });
      for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size));
      expect(found[0]).toBe('/a abc v');
      reader.next();
      expect(found).toEqual(['/a abc v', '/b  null']);
    }
  });
});

describe('times', () => {
  // biome-ignore format: a table is read in columns
  test.each([
    ['20',          20],
    ['0.5',         0.5],
    ['batch:8:0.5', 10],
    ['prompt:5:0.1', 15],
  ])('%s is %d ms for 4 answers at a time and a prompt of 100 tokens', (text, ms) => {
    expect(delayMs(parseMockDelay(text), { rng: createRng(1), active: 4, prompt_tokens: 100 })).toBe(ms);
  });

  test.each(['', 'x', '-1', '1:2', 'gamma:5', 'gamma:5:0', 'batch:1', 'uniform:1:2', '1.2.3', 'gamma:1:2:3'])(
    '%j is no time',
    (text) => expect(() => parseMockDelay(text)).toThrow('is not a delay'),
  );

  test.each([0.5, 1, 4])('gamma delays of shape %d have their mean and spread', (shape) => {
    const rng = createRng(7);
    const delay = parseMockDelay(`gamma:20:${shape}`);
    const drawn = Array.from({ length: 20_000 }, () => delayMs(delay, { rng, active: 1, prompt_tokens: 0 }));
    const mean = drawn.reduce((sum, x) => sum + x, 0) / drawn.length;
    const variance = drawn.reduce((sum, x) => sum + (x - mean) ** 2, 0) / drawn.length;
    expect(mean / 20).toBeCloseTo(1, 1);
    expect(Math.sqrt(variance) / 20).toBeCloseTo(1 / Math.sqrt(shape), 1);
  });

  test('alarms go off in order of their times', async () => {
    const alarm = createAlarm(() => performance.now());
    const went: number[] = [];
    const now = performance.now();
    for (const ms of [9, 3, 7, 1, 5, 3]) alarm.at(now + ms, () => went.push(ms));
    await vi.waitFor(() => expect(went).toEqual([1, 3, 3, 5, 7, 9]));
    alarm.at(performance.now() + 1, () => went.push(0));
    alarm.stop();
    expect(went).not.toContain(0);
  });
});

test('failures are told by name and share', () => {
  expect(parseMockFailure('reset:0.01')).toEqual(['reset', 0.01]);
  expect(parseMockFailure('hang')).toEqual(['hang', 1]);
  for (const text of ['hangs', 'hang:2', 'hang:x', 'hang:0.1:1', 'hang:-1'])
    expect(() => parseMockFailure(text)).toThrow();
  const failures = { reset: 0.2, error: 0.3 };
  expect([0, 0.19, 0.21, 0.49, 0.5, 0.99].map((luck) => failureAt(failures, luck))).toEqual([
    'reset',
    'reset',
    'error',
    'error',
    null,
    null,
  ]);
});

test('in a process of its own it counts, logs nothing unasked, and is gone once closed', async () => {
  const mock = await startMockServer({ tokens: 2 });
  const body = JSON.stringify({ prompt: 'Hi', stream: true });
  await (await fetch(`${mock.url}/completions`, { method: 'POST', body })).text();
  expect(await mock.stats()).toMatchObject({
    counts: { requests: 1, generated_tokens: 2 },
    cpu_ns: expect.any(Number),
  });
  await expect(startMockServer({ port: mock.port })).rejects.toMatchObject({
    code: 'INPUT_INVALID',
    message: expect.stringContaining('EADDRINUSE'),
  });
  await mock.close();
  await mock.close();
  expect(await mock.stats()).toBeNull();
  expect(() => process.kill(mock.pid, 0)).toThrow('ESRCH');
});
