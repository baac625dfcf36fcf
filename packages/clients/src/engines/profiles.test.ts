import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ClientRequest, engineKinds, instant, profileNames } from '@perwatt/core';
import { expect, onTestFinished, test } from 'vitest';
import { openAiClient } from '../http/openai-client.js';
import { profileOfKind, profiles } from './profiles.js';

const clock = { now: () => instant(process.hrtime.bigint()) };
const request: ClientRequest = {
  model: 'm',
  input: { kind: 'chat', messages: [{ role: 'user', content: 'hi' }] },
  sampling: { temperature: 0.5, top_p: 0.9, max_tokens: 6, seed: 3, stop: ['X'] },
};

type Body = Record<string, unknown>;
interface Strict {
  /** Fields it takes; any other is answered with 400. */
  readonly takes?: readonly string[];
  readonly reasoning?: string;
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

const events = (values: readonly object[]) =>
  `${values.map((value) => `data: ${JSON.stringify(value)}\n\n`).join('')}data: [DONE]\n\n`;

function answerTo(body: Body, { takes, reasoning }: Strict): Answer {
  const unknown = Object.keys(body).filter((key) => takes !== undefined && !takes.includes(key));
  if (unknown.length > 0)
    return { status: 400, text: JSON.stringify({ detail: `not supported: ${unknown.join(', ')}` }) };
  const usage = { prompt_tokens: 1, completion_tokens: 2 };
  const said = { ...(reasoning === undefined ? {} : { [reasoning]: 'a' }), content: 'b' };
  const end = { index: 0, finish_reason: 'stop' };
  if (body['stream'] !== true)
    return { status: 200, text: JSON.stringify({ choices: [{ ...end, message: said }], usage }) };
  const deltas = Object.entries(said).map(([key, value]) => ({
    choices: [{ index: 0, delta: { [key]: value } }],
  }));
  return {
    status: 200,
    text: events([...deltas, { choices: [{ ...end, delta: {} }] }, { choices: [], usage }]),
  };
}

/** A server on a real socket that is as strict as it is told, and keeps the bodies it gets. */
async function strictServer(strict: Strict) {
  const bodies: Body[] = [];
  const server = createServer((incoming, response) => {
    let text = '';
    incoming.on('data', (bytes) => {
      text += bytes;
    });
    incoming.on('end', () => {
      const body = JSON.parse(text) as Body;
      bodies.push(body);
      const answer = answerTo(body, strict);
      const type = body['stream'] === true ? 'text/event-stream' : 'application/json';
      response.writeHead(answer.status, { 'content-type': type });
      response.end(answer.text);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, bodies };
}

async function ask(url: string, options: Partial<Parameters<typeof openAiClient>[0]>) {
  const client = openAiClient({ url, api: 'chat', clock, ...options });
  onTestFinished(() => client.close());
  return client.call(request);
}

const common = {
  model: 'm',
  messages: [{ role: 'user', content: 'hi' }],
  max_tokens: 6,
  temperature: 0.5,
  top_p: 0.9,
  stop: ['X'],
};
const last = { seed: 3, stream: true, stream_options: { include_usage: true } };
const running = {
  seed: 3,
  stream: true,
  stream_options: { include_usage: true, continuous_usage_stats: true },
};

// biome-ignore format: a table is read in columns
test.each([
  ['openai', false, last, 'what most servers take'],
  ['vllm', false, running, 'running usage tells the tokens of each event'],
  ['vllm', true, { ...running, ignore_eos: true, min_tokens: 6 }, 'both fields, so that no stop string of the model ends it'],
  ['sglang', true, { ...last, ignore_eos: true, min_tokens: 6 }, 'the same'],
  ['llama-server', true, { ...last, ignore_eos: true }, 'it has no min_tokens'],
  ['ollama', false, last, 'as OpenAI'],
  ['tokasaurus', false, {}, 'the strict minimum: no seed, no streaming, no usage options'],
  ['tokasaurus', true, { ignore_eos: true }, 'which it takes for benchmarks'],
  ['lmstudio', false, last, 'as OpenAI'],
  ['perwatt', false, last, 'as OpenAI'],
] as const)('%s, exact %s: the body holds what its server takes and nothing else', async (profile, exactLength, more, _why) => {
  const { url, bodies } = await strictServer({});
  const record = await ask(url, { profile, exactLength });
  expect(record).toMatchObject({ status: 'ok', content: 'b', n_tokens: 2, token_source: 'server_usage' });
  const { stream, ...body } = bodies[0]!;
  const { stream: asked, ...rest } = { ...common, ...more } as Body;
  expect(body).toEqual(rest);
  expect(stream ?? false).toBe(asked ?? false);
});

test('a server that refuses what it does not know is answered well with its own profile only', async () => {
  const takes = ['model', 'messages', 'max_tokens', 'temperature', 'top_p', 'stop', 'ignore_eos'];
  const { url } = await strictServer({ takes });
  expect(await ask(url, { profile: 'openai' })).toMatchObject({ status: 'http_error', http_status: 400 });
  const record = await ask(url, { profile: 'tokasaurus', exactLength: true });
  expect(record).toMatchObject({ status: 'ok', content: 'b', icl_ns: [] });
  expect(record.stamps).toMatchObject({ first_any_ns: null, first_content_ns: null });
});

test.each(
  profileNames.flatMap((profile) => profiles[profile].reasoning.map((name) => [profile, name] as const)),
)('reasoning of %s is read under its name %s', async (profile, reasoning) => {
  const { url } = await strictServer({ reasoning });
  const record = await ask(url, { profile });
  expect(record).toMatchObject({ status: 'ok', reasoning: 'a', content: 'b' });
  expect(record.stamps.first_any_ns! <= record.stamps.first_content_ns!).toBe(true);
});

test.each(['openai', 'ollama', 'lmstudio', 'perwatt'] as const)(
  'an exact length is refused where %s knows no way',
  (profile) => {
    expect(() =>
      openAiClient({ url: 'http://127.0.0.1:1', api: 'chat', clock, profile, exactLength: true }),
    ).toThrow(`servers of profile ${profile} know no exact length`);
  },
);

test('every kind of engine has a profile', () => {
  expect(engineKinds.map(profileOfKind)).toEqual([
    'vllm',
    'sglang',
    'llama-server',
    'ollama',
    'tokasaurus',
    'lmstudio',
    'openai',
  ]);
});
