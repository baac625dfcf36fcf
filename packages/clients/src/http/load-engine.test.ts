import { type Clock, calls, instant } from '@perwatt/core';
import { deadUrl, mockOpenAiServer, sseDone, sseEvent } from '@perwatt/test-kit';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { MockServerOptions } from '../mock/mock-options.js';
import { listenMock } from '../mock/mock-server.js';
import { createLoadEngine, type LoadEngineOptions } from './load-engine.js';
import { decoded, oneCall, rowsOf } from './load-rows.fixture.js';
import { finish, token } from './scripted-answers.fixture.js';

const clock: Clock = { now: () => instant(process.hrtime.bigint()) };
const nowNs = () => process.hrtime.bigint();

async function startMock(options: MockServerOptions = {}) {
  const mock = await listenMock(options, { nowNs, log: null, onDeath: () => {} });
  onTestFinished(mock.close);
  return { mock, url: `http://127.0.0.1:${mock.port}/v1` };
}

function engineOf(url: string, options: Partial<LoadEngineOptions> = {}) {
  const engine = createLoadEngine({ url, api: 'completion', clock, connections: 4, ...options });
  onTestFinished(engine.close);
  return engine;
}

const body = (more: object = {}) =>
  JSON.stringify({
    prompt: 'Hello there',
    max_tokens: 8,
    stream: true,
    stream_options: { include_usage: true },
    ...more,
  });

test('a call is a row of the columns of the table of calls', async () => {
  const { url } = await startMock();
  const engine = engineOf(url);
  engine.send({ row: 3, due_ns: 17n, body: body() });
  const [row] = await rowsOf(engine, 1);
  expect(row).toMatchObject({
    row: 3,
    sched_ns: 17n,
    status: 'ok',
    http_status: 200,
    finish_reason: 'length',
    error_kind: null,
    error_message: null,
    prompt_tokens: 3,
    completion_tokens: 8,
    token_source: 'server_usage',
    events: 10,
    content_events: 8,
    bytes_out: BigInt(body().length),
    conn_reused: 0,
    event_tokens: null,
  });
  expect(row?.['icl_ns']).toHaveLength(7);
  const stamps = [
    'dispatch_ns',
    'socket_ns',
    'sent_ns',
    'headers_ns',
    'first_any_ns',
    'last_content_ns',
    'done_ns',
    'end_ns',
  ];
  const seen = stamps.map((name) => row?.[name] as bigint);
  expect(seen).toEqual([...seen].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0)));
  for (const name of Object.keys(row ?? {})) if (name !== 'row') expect(Object.keys(calls)).toContain(name);
  expect(engine.drain().length).toBe(0);
});

test.each([2, 45])(
  '%i connections: so many calls are in flight at most, and all are made',
  async (connections) => {
    let open = 0;
    let most = 0;
    let full = () => {};
    const allOpen = new Promise<void>((resolve) => {
      full = resolve;
    });
    const server = await mockOpenAiServer(async (exchange) => {
      open += 1;
      most = Math.max(most, open);
      if (open === connections) full();
      await allOpen;
      open -= 1;
      await exchange.write(token('a') + finish + sseDone);
      exchange.end();
    });
    onTestFinished(server.close);
    const engine = engineOf(server.url, { connections });
    for (let row = 0; row < 100; row++) engine.send({ row, due_ns: null, body: body() });
    expect(engine.inFlight).toBe(100);
    const rows = await rowsOf(engine, 100);
    expect(most).toBe(connections);
    expect(rows.map(({ row }) => row).sort((a, b) => Number(a) - Number(b))).toEqual(
      Array.from({ length: 100 }, (_, i) => i),
    );
    expect(rows.filter(({ conn_reused }) => conn_reused === 0)).toHaveLength(connections);
    expect(engine.inFlight).toBe(0);
  },
);

test('a call that has to wait shows it between dispatch and socket', async () => {
  const { url } = await startMock({ ttft: { kind: 'constant', ms: 30 } });
  const engine = engineOf(url, { connections: 1 });
  for (const row of [0, 1]) engine.send({ row, due_ns: null, body: body() });
  const [first, second] = await rowsOf(engine, 2);
  const waited = (row?: Record<string, unknown>) =>
    Number((row?.['socket_ns'] as bigint) - (row?.['dispatch_ns'] as bigint));
  expect(waited(second)).toBeGreaterThan(25e6);
  expect(second?.['dispatch_ns']).toBeLessThan(Number(first?.['end_ns']));
});

test('running usage gives the tokens of each event', async () => {
  const { url } = await startMock({ tokens_per_event: 4, tpot: { kind: 'constant', ms: 1 } });
  const stream_options = { include_usage: true, continuous_usage_stats: true };
  const { row } = await oneCall(engineOf(url), body({ max_tokens: 30, stream_options }));
  expect(row).toMatchObject({
    completion_tokens: 30,
    content_events: 8,
    event_tokens: [4, 4, 4, 4, 4, 4, 4, 2],
  });
  expect(row['icl_ns']).toHaveLength(7);
});

test('one event without a count leaves none of the stream', async () => {
  const counted = (text: string, n: number) =>
    sseEvent({ choices: [{ delta: { content: text } }], usage: { prompt_tokens: 1, completion_tokens: n } });
  const server = await mockOpenAiServer(async (exchange) => {
    await exchange.write(counted('a', 1) + token('b') + counted('c', 3) + finish + sseDone);
    exchange.end();
  });
  onTestFinished(server.close);
  const { row } = await oneCall(engineOf(server.url));
  expect(row).toMatchObject({ status: 'ok', content_events: 3, completion_tokens: 3, event_tokens: null });
});

describe('failures', () => {
  // biome-ignore format: a table is read in columns
  test.each<[fail: string, expected: object]>([
    ['refuse',       { status: 'connect_error', http_status: null, completion_tokens: null, first_any_ns: null }],
    ['reset',        { status: 'truncated', http_status: 200, content_events: 4, completion_tokens: null }],
    ['hang',         { status: 'timeout', error_kind: 'headers_timeout', http_status: null }],
    ['stall',        { status: 'timeout', error_kind: 'idle_timeout', content_events: 4, completion_tokens: null }],
    ['slow_headers', { status: 'timeout', error_kind: 'headers_timeout' }],
    ['too_many',     { status: 'http_error', http_status: 429, error_message: 'too many requests' }],
    ['error',        { status: 'http_error', http_status: 500, error_message: 'the mock was told to fail' }],
    ['html',         { status: 'protocol_error', http_status: 200 }],
    ['bad_json',     { status: 'protocol_error', error_kind: 'bad_json', content_events: 4 }],
    ['stream_error', { status: 'stream_error', error_message: 'the mock was told to fail', content_events: 4 }],
    ['truncate',     { status: 'truncated', error_kind: 'no_finish_reason', content_events: 4 }],
    ['death',        { status: 'connect_error', http_status: null }],
  ])('%s under load: its row says so, the others are well', async (fail, expected) => {
    const { url } = await startMock({ tpot: { kind: 'constant', ms: 5 } });
    const engine = engineOf(url, { headersTimeoutMs: 600, idleTimeoutMs: 300, connections: 8 });
    const others = ['refuse', 'death'].includes(fail) ? 0 : 7;
    for (let row = 1; row <= others; row++) engine.send({ row, due_ns: null, body: body() });
    engine.send({ row: 0, due_ns: null, body: body({ mock: { fail } }) });
    const rows = await rowsOf(engine, others + 1);
    expect(rows.find(({ row }) => row === 0)).toMatchObject({ ...expected, token_source: null });
    expect(rows.filter(({ status }) => status === 'ok')).toHaveLength(others);
    expect(engine.inFlight).toBe(0);
  });

  test('nothing listens', async () => {
    const { row } = await oneCall(engineOf(await deadUrl()));
    expect(row).toMatchObject({
      status: 'connect_error',
      error_kind: 'ECONNREFUSED',
      socket_ns: null,
      conn_reused: null,
    });
  });

  test('a server that dies takes the calls in flight with it, and none hangs', async () => {
    const { url, mock } = await startMock({ tpot: { kind: 'constant', ms: 20 } });
    const engine = engineOf(url, { connections: 16 });
    for (let row = 0; row < 40; row++) engine.send({ row, due_ns: null, body: body({ max_tokens: 1000 }) });
    await vi.waitFor(() => expect(mock.counts.running).toBe(16));
    await mock.close();
    const rows = await rowsOf(engine, 40);
    expect(new Set(rows.map(({ status }) => status))).toEqual(new Set(['truncated', 'connect_error']));
    expect(rows.filter(({ error_kind }) => error_kind === 'ECONNREFUSED')).not.toHaveLength(0);
  });

  test('closing ends what is in flight and what waits, and what comes later', async () => {
    const { url } = await startMock({ ttft: { kind: 'constant', ms: 60_000 } });
    const engine = engineOf(url, { connections: 2 });
    for (const row of [0, 1, 2]) engine.send({ row, due_ns: null, body: body() });
    await engine.close();
    await engine.close();
    engine.send({ row: 3, due_ns: null, body: body() });
    const rows = decoded(engine.drain());
    expect(rows.map(({ row }) => row)).toEqual([0, 1, 2, 3]);
    for (const row of rows) expect(row).toMatchObject({ status: 'cancelled', error_kind: 'client_closed' });
  });
});

test('a refusal of one call in ten leaves the times of the other ninety', async () => {
  const { url } = await startMock({ failures: { error: 0.1 }, seed: 4 });
  const engine = engineOf(url, { connections: 10 });
  for (let row = 0; row < 100; row++) engine.send({ row, due_ns: null, body: body() });
  const rows = await rowsOf(engine, 100);
  const failed = rows.filter(({ status }) => status !== 'ok');
  expect(failed.length).toBeGreaterThan(2);
  expect(failed.length).toBeLessThan(25);
  for (const row of failed)
    expect(row).toMatchObject({ status: 'http_error', first_any_ns: null, completion_tokens: null });
  for (const row of rows) if (row['status'] === 'ok') expect(row['first_any_ns']).not.toBeNull();
});
