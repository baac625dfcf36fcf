import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, type ClientRequest, type Clock, instant } from '@perwatt/core';
import { clientContract, fakeClient, ggufFixture, tickingClock } from '@perwatt/test-kit';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { embeddedClient } from '../embedded/embedded-client.js';
import { openAiClient } from '../http/openai-client.js';
import { type ServeOptions, serveClient } from './serve-client.js';

const clock: Clock = { now: () => instant(process.hrtime.bigint()) };

async function serve(options: Partial<ServeOptions> = {}) {
  const client = options.client ?? fakeClient({ clock: tickingClock() });
  const served = await serveClient({ client, models: ['m'], clock, ...options });
  onTestFinished(() => served.close());
  return served;
}

const post = (url: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(url, { method: 'POST', headers, body: typeof body === 'string' ? body : JSON.stringify(body) });

const chat = {
  model: 'm',
  messages: [{ role: 'user', content: 'Say the word apple.' }],
  temperature: 0,
  max_tokens: 4,
};

describe('answers', () => {
  test('a chat without streaming is one object with its usage', async () => {
    const { url } = await serve({ wallTime: () => new Date(1_700_000_000_000) });
    const response = await post(`${url}/chat/completions`, chat);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      id: expect.stringMatching(/^chatcmpl-/),
      object: 'chat.completion',
      created: 1_700_000_000,
      model: 'm',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'the word apple. one-one' },
          logprobs: null,
          finish_reason: 'length',
        },
      ],
      usage: { prompt_tokens: 4, completion_tokens: 4, total_tokens: 8 },
    });
  });

  test('a completion has a text', async () => {
    const { url } = await serve();
    const response = await post(`${url}/completions`, {
      model: 'm',
      prompt: 'Say the word apple.',
      max_tokens: 3,
    });
    expect(await response.json()).toMatchObject({
      object: 'text_completion',
      choices: [{ index: 0, text: 'the word apple.', finish_reason: 'length' }],
    });
  });

  test('a stream has a chunk a piece, then the reason, the usage only when asked for, and the end', async () => {
    const { url } = await serve();
    const events = async (body: object) => {
      const response = await post(`${url}/chat/completions`, {
        ...chat,
        max_tokens: 2,
        stream: true,
        ...body,
      });
      expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
      return (await response.text())
        .split('\n\n')
        .filter((event) => event !== '')
        .map((event) => event.replace('data: ', ''));
    };
    const plain = await events({});
    expect(plain.at(-1)).toBe('[DONE]');
    expect(plain.slice(0, -1).map((event) => JSON.parse(event).choices[0])).toEqual([
      { index: 0, delta: { role: 'assistant', content: 'the' }, logprobs: null, finish_reason: null },
      { index: 0, delta: { content: ' word' }, logprobs: null, finish_reason: null },
      { index: 0, delta: {}, logprobs: null, finish_reason: 'length' },
    ]);
    const counted = await events({ stream_options: { include_usage: true } });
    expect(JSON.parse(counted.at(-2) ?? '')).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 4, completion_tokens: 2 },
    });
  });

  test('what a request says reaches the client', async () => {
    const client = fakeClient({ clock: tickingClock() });
    const { url } = await serve({ client });
    await post(`${url}/chat/completions`, {
      model: 'm',
      messages: [
        { role: 'developer', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Say' },
            { type: 'text', text: ' hi' },
          ],
        },
      ],
      temperature: 0.5,
      top_p: 0.9,
      seed: 7,
      stop: 'x',
      max_completion_tokens: 9,
      tools: [],
      n: 1,
    });
    const expected: ClientRequest = {
      model: 'm',
      input: {
        kind: 'chat',
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'Say hi' },
        ],
      },
      sampling: { temperature: 0.5, top_p: 0.9, seed: 7, stop: ['x'], max_tokens: 9 },
      stream: false,
    };
    expect(client.requests).toEqual([expected]);
  });

  test('the list of models carries the facts of the client', async () => {
    const { url } = await serve({ models: ['a', 'b'] });
    expect(await (await fetch(`${url}/models`)).json()).toMatchObject({
      data: [
        { id: 'a', object: 'model', owned_by: 'perwatt', perwatt: { engine: null, threads: null } },
        { id: 'b' },
      ],
    });
    expect(await (await fetch(url.replace('/v1', '/health'))).json()).toEqual({ status: 'ok' });
  });
});

describe('refusals', () => {
  // biome-ignore format: a table is read in columns
  test.each<[string | object, number, string | null, RegExp]>([
    ['{"model": "m"',                                  400, null,               /not valid JSON/],
    ['[]',                                             400, 'the body',         /must be an object/],
    [{ ...chat, model: 'other' },                      404, 'model',            /"other" is not served here; there is m/],
    [{ ...chat, model: 1 },                            400, 'model',            /must be a string/],
    [{ model: 'm' },                                   400, 'messages',         /at least one message/],
    [{ ...chat, messages: [] },                        400, 'messages',         /at least one message/],
    [{ ...chat, messages: [{ role: 'x', content: '' }] }, 400, 'messages[0].role', /must be one of/],
    [{ ...chat, messages: [{ role: 'user' }] },        400, 'messages[0].content', /must be a string/],
    [{ ...chat, messages: [{ role: 'user', content: [{ type: 'image_url' }] }] }, 400, 'messages[0].content[0]', /must be a text part/],
    [{ ...chat, max_tokens: 0 },                       400, 'max_tokens',       /whole number from 1/],
    [{ ...chat, temperature: 'hot' },                  400, 'temperature',      /must be a number/],
    [{ ...chat, top_p: 2 },                            400, 'top_p',            /from 0 to 1/],
    [{ ...chat, seed: 1.5 },                           400, 'seed',             /whole number/],
    [{ ...chat, stop: [1] },                           400, 'stop',             /string/],
    [{ ...chat, stream: 'yes' },                       400, 'stream',           /true or false/],
    [{ ...chat, n: 2 },                                400, 'n',                /not supported/],
    [{ ...chat, tools: [{}] },                         400, 'tools[0].type',    /must be "function"/],
    [{ ...chat, tools: [{ type: 'function', function: {} }] }, 400, 'tools[0].function', /must have a name/],
    [{ ...chat, messages: [{ role: 'assistant', tool_calls: [{}] }] }, 400, 'messages[0].tool_calls[0].function', /must be an object/],
    [{ ...chat, logprobs: 5 },                         400, 'logprobs',         /must be true for a chat/],
    [{ ...chat, top_logprobs: 2 },                     400, 'top_logprobs',     /not supported/],
  ])('%j gives %i about %j', async (body, status, param, message) => {
    const { url } = await serve();
    const response = await post(`${url}/chat/completions`, body);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({
      error: { type: 'invalid_request_error', param, message: expect.stringMatching(message) },
    });
  });

  test('a body that is too large, a wrong path and a wrong method have statuses of their own', async () => {
    const { url } = await serve();
    expect((await post(`${url}/completions`, ' '.repeat(9_000_000))).status).toBe(413);
    expect((await post(`${url}/embeddings`, {})).status).toBe(404);
    expect((await fetch(`${url}/completions`)).status).toBe(405);
  });

  test('a key is asked for where there is one, but not for the health', async () => {
    const { url } = await serve({ apiKey: 'secret' });
    expect((await post(`${url}/chat/completions`, chat)).status).toBe(401);
    expect((await post(`${url}/chat/completions`, chat, { authorization: 'Bearer wrong' })).status).toBe(401);
    expect((await post(`${url}/chat/completions`, chat, { authorization: 'Bearer secret' })).status).toBe(
      200,
    );
    expect((await fetch(url.replace('/v1', '/health'))).status).toBe(200);
  });

  // biome-ignore format: a table is read in columns
  test.each([
    ['protocol_error', 400, 'what cannot be asked is the fault of the request'],
    ['connect_error',  503, 'an engine that does not start is unavailable'],
    ['stream_error',   500, 'an engine that breaks is an error of the server'],
  ] as const)('a call that ends as %s gives %i: %s', async (status, code, _) => {
    const answer = () => ({ status, error_message: 'as scripted' });
    const { url } = await serve({ client: fakeClient({ clock: tickingClock(), answer }) });
    for (const stream of [false, true]) {
      const response = await post(`${url}/chat/completions`, { ...chat, stream });
      expect(response.status).toBe(code);
      expect(await response.json()).toMatchObject({ error: { message: 'as scripted' } });
    }
  });

  test('a call that fails within a stream ends it with an error and no end mark', async () => {
    const answer = () => ({ status: 'stream_error', error_message: 'broke', tokens: ['a'] }) as const;
    const { url } = await serve({ client: fakeClient({ clock: tickingClock(), answer }) });
    const text = await (await post(`${url}/chat/completions`, { ...chat, stream: true })).text();
    expect(text).toContain('"message":"broke"');
    expect(text).not.toContain('[DONE]');
  });

  test('a port that is taken is an error that says so', async () => {
    const { url } = await serve();
    const port = Number(new URL(url).port);
    await expect(serve({ port })).rejects.toMatchObject({
      code: 'INPUT_INVALID',
      message: expect.stringContaining(`127.0.0.1:${port}`),
    });
  });
});

/** A client whose calls end only when they are cancelled. */
function endlessClient(): Client & { readonly begun: () => number; readonly cancelled: () => number } {
  const inner = fakeClient({ clock: tickingClock() });
  let begun = 0;
  let cancelled = 0;
  return {
    ...inner,
    begun: () => begun,
    cancelled: () => cancelled,
    async call(request, options = {}) {
      begun += 1;
      options.onDelta?.({ content: 'a', reasoning: '' });
      await new Promise((resolve) => options.signal?.addEventListener('abort', resolve));
      cancelled += 1;
      return inner.call(request, options);
    },
  };
}

test('a caller that hangs up cancels its call', async () => {
  const client = endlessClient();
  const { url } = await serve({ client });
  const body = JSON.stringify({ ...chat, stream: true });
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  await new Promise((resolve) => socket.once('data', resolve));
  socket.destroy();
  await vi.waitFor(() => expect(client.cancelled()).toBe(1));
});

test('closing cancels the calls in flight', async () => {
  const client = endlessClient();
  const served = await serve({ client });
  const call = post(`${served.url}/chat/completions`, chat).catch((error: unknown) => error);
  await vi.waitFor(() => expect(client.begun()).toBe(1));
  await served.close();
  await call;
  expect(client.cancelled()).toBe(1);
  await expect(fetch(served.url)).rejects.toThrow();
});

describe('tools and probabilities', () => {
  const said = 'Let me see. <tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>';
  const call = { index: 0, id: 'call_0', name: 'f', arguments: '{"a":1}' };
  const tools = [{ name: 'f', description: 'Adds.', parameters: { type: 'object' } }];
  const request = (logprobs: boolean): ClientRequest => ({
    model: 'm',
    input: {
      kind: 'chat',
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: '', tool_calls: [{ id: 'call_0', name: 'f', arguments: '{}' }] },
        { role: 'tool', content: '4', tool_call_id: 'call_0' },
      ],
      tools,
    },
    sampling: { temperature: 0, top_p: 1, max_tokens: 9, ...(logprobs && { logprobs: true as const }) },
  });
  /** An engine whose answer holds a call of a tool, as text in its stream and read in its record. */
  const engineThat = (tool_calls: readonly (typeof call)[], mean_logprob: number | null): Client => {
    const inner = fakeClient({ clock: tickingClock() });
    return {
      ...inner,
      async call(asked, options = {}) {
        for (const piece of said.match(/.{1,7}/g) ?? []) options.onDelta?.({ content: piece, reasoning: '' });
        const record = await inner.call(asked, { ...options, onDelta: () => {} });
        const content = tool_calls.length > 0 ? 'Let me see.' : said;
        return { ...record, content, tool_calls, mean_logprob, finish_reason: 'tool_calls' };
      },
    };
  };

  test.each([true, false])('a call of a tool goes out as one, not as text (streamed %s)', async (stream) => {
    const { url } = await serve({ client: engineThat([call], -0.5) });
    const remote = openAiClient({ url, api: 'chat', clock, model: 'm' });
    onTestFinished(() => remote.close());
    const record = await remote.call({ ...request(true), stream });
    expect(record).toMatchObject({ status: 'ok', tool_calls: [call], mean_logprob: -0.5 });
    expect(record.content.trim()).toBe('Let me see.');
  });

  test('what looked like a call and was none is told as text', async () => {
    const { url } = await serve({ client: engineThat([], null) });
    const remote = openAiClient({ url, api: 'chat', clock, model: 'm' });
    onTestFinished(() => remote.close());
    expect(await remote.call(request(false))).toMatchObject({
      content: said,
      tool_calls: [],
      mean_logprob: null,
    });
  });

  test('tools and their results reach the engine as they were sent', async () => {
    const client = fakeClient({ clock: tickingClock() });
    const { url } = await serve({ client });
    const remote = openAiClient({ url, api: 'chat', clock, model: 'm' });
    onTestFinished(() => remote.close());
    await remote.call(request(true));
    expect(client.requests).toMatchObject([{ input: request(true).input, sampling: { logprobs: true } }]);
  });
});

describe('over the embedded engine', () => {
  const folder = mkdtempSync(join(tmpdir(), 'perwatt-serve-'));
  const modelPath = join(folder, 'fixture.gguf');
  beforeAll(() => writeFileSync(modelPath, ggufFixture()));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const engine = () => embeddedClient({ modelPath, model: 'm', threads: 1, clock });

  const tooLong = { kind: 'chat', messages: [{ role: 'user', content: 'word '.repeat(600) }] } as const;
  const options = { failing: { input: tooLong } };
  const startServed = async () => {
    const client = engine();
    const served = await serveClient({ client, models: ['m'], clock });
    return {
      client: openAiClient({ url: served.url, api: 'chat', clock, model: 'm' }),
      model: 'm',
      dispose: async () => {
        await served.close();
        await client.close();
      },
    };
  };
  clientContract('served embedded engine', startServed, options);

  test('greedy texts, counts and facts are those of the engine itself', async () => {
    const direct = engine();
    const served = await serve({ client: direct });
    const remote = openAiClient({ url: served.url, api: 'chat', clock, model: 'm' });
    onTestFinished(async () => {
      await remote.close();
      await direct.close();
    });
    const { kind: _, endpoint: __, pids: ___, ...facts } = await direct.open();
    expect(await remote.open()).toMatchObject(facts);
    for (const content of ['one', 'two three', 'a longer prompt of several words', 'Grüße 😀']) {
      const request: ClientRequest = {
        model: 'm',
        input: { kind: 'chat', messages: [{ role: 'user', content }] },
        sampling: { temperature: 0, top_p: 1, max_tokens: 40 },
      };
      const [near, far] = [await direct.call(request), await remote.call(request)];
      expect(near.content).not.toBe('');
      expect(far).toMatchObject({
        status: 'ok',
        content: near.content,
        finish_reason: near.finish_reason,
        usage: near.usage,
        n_tokens: near.n_tokens,
        content_events: near.content_events,
      });
    }
  });
});
