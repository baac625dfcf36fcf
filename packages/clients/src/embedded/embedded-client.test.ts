import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, type ClientRequest, type Clock, instant, type Sampling } from '@perwatt/core';
import { clientContract, ggufFixture } from '@perwatt/test-kit';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type EmbeddedClientOptions, embeddedClient } from './embedded-client.js';

const clock: Clock = { now: () => instant(process.hrtime.bigint()) };
const folder = mkdtempSync(join(tmpdir(), 'perwatt-embedded-'));
const modelPath = join(folder, 'fixture.gguf');
const plainPath = join(folder, 'plain.gguf');

beforeAll(() => {
  writeFileSync(modelPath, ggufFixture());
  writeFileSync(plainPath, ggufFixture({ chatTemplate: null }));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const make = (options: Partial<EmbeddedClientOptions> = {}): Client => {
  const client = embeddedClient({ modelPath, model: 'fixture', threads: 1, clock, ...options });
  onTestFinished(() => client.close());
  return client;
};
const greedy: Sampling = { temperature: 0, top_p: 1, max_tokens: 24, seed: 1 };
const chat = (content: string, sampling: Partial<Sampling> = {}): ClientRequest => ({
  model: 'fixture',
  input: { kind: 'chat', messages: [{ role: 'user', content }] },
  sampling: { ...greedy, ...sampling },
});

clientContract(
  'embedded engine',
  async () => ({
    client: embeddedClient({ modelPath, model: 'fixture', threads: 1, clock }),
    model: 'fixture',
  }),
  { failing: { input: { kind: 'chat', messages: [{ role: 'user', content: 'word '.repeat(600) }] } } },
);

describe('facts', () => {
  test('name the engine, its process and what was handed in', async () => {
    const client = make({ modelSha256: 'ab', contextTokens: 256 });
    const facts = await client.open();
    expect(facts).toMatchObject({
      kind: 'embedded',
      engine: 'llama.cpp',
      model: 'fixture',
      model_sha256: 'ab',
      quantisation: 'Q8_0',
      context_tokens: 256,
      threads: 1,
    });
    expect(facts.engine_version).toMatch(/^llama\.cpp v?\S+ \(cpu, node-llama-cpp 3\.\d+\.\d+\)$/);
    expect(facts.chat_template_sha256).toMatch(/^[0-9a-f]{64}$/);
    expect(facts.pids).toHaveLength(1);
    expect(() => process.kill(facts.pids[0]!, 0)).not.toThrow();
    await client.close();
    expect(() => process.kill(facts.pids[0]!, 0)).toThrow('ESRCH');
  });

  test('weights without a chat template are asked in the plain format', async () => {
    const [templated, plain] = [make(), make({ modelPath: plainPath })];
    const [a, b] = [await templated.open(), await plain.open()];
    expect(a.chat_template_sha256).not.toBe(b.chat_template_sha256);
    const asked = await plain.call(chat('Hi'));
    const spelledOut = await plain.call({
      ...chat(''),
      input: { kind: 'completion', prompt: 'Question: Hi\nAnswer:' },
    });
    expect(asked).toMatchObject({ status: 'ok', content: spelledOut.content, usage: spelledOut.usage });
  });
});

describe('decoding', () => {
  test('a seed gives the same text again, another seed another, and none a new one each time', async () => {
    const client = make();
    const ask = async (seed?: number) => {
      const { seed: _, ...rest } = { ...greedy, temperature: 1.5 };
      const sampling = seed === undefined ? rest : { ...rest, seed };
      return (await client.call({ ...chat('Hi'), sampling })).content;
    };
    const [a, again, b, free, freeAgain] = [
      await ask(5),
      await ask(5),
      await ask(6),
      await ask(),
      await ask(),
    ];
    expect(again).toBe(a);
    expect(b).not.toBe(a);
    expect(free).not.toBe(freeAgain);
  });

  test('a small nucleus is greedy', async () => {
    const client = make();
    const whole = await client.call(chat('Hi'));
    const narrow = await client.call(chat('Hi', { temperature: 0.8, top_p: 1e-6, seed: 9 }));
    expect(narrow.content).toBe(whole.content);
  });

  test('sequences answer side by side, further calls wait, and none takes over what another left', async () => {
    const alone = make();
    const client = make({ sequences: 2 });
    const prompts = ['one', 'two two', 'three three three', 'four', 'five five'];
    const texts: string[] = [];
    for (const each of prompts) texts.push((await alone.call(chat(each))).content);
    const records = await Promise.all(prompts.map((each) => client.call(chat(each))));
    expect(records.map(({ content }) => content)).toEqual(texts);
    expect(records.every(({ usage }) => usage?.cached_tokens === 0)).toBe(true);
  });

  test('a call that waits for its turn can be cancelled', async () => {
    const client = make();
    const first = client.call(chat('Hi', { max_tokens: 200 }));
    const leaving = new AbortController();
    const second = client.call(chat('Hi'), { signal: leaving.signal });
    leaving.abort();
    expect(await second).toMatchObject({ status: 'cancelled', content: '', n_tokens: null });
    expect(await first).toMatchObject({ status: 'ok', n_tokens: 200 });
  });

  test('stamps lie between dispatch and end on the clock of the caller', async () => {
    const ahead: Clock = { now: () => instant(process.hrtime.bigint() + 3_600_000_000_000n) };
    for (const each of [clock, ahead]) {
      const { stamps } = await make({ clock: each }).call(chat('Hi'));
      expect(stamps.first_any_ns! > stamps.dispatch_ns).toBe(true);
      expect(stamps.last_content_ns! <= stamps.end_ns).toBe(true);
    }
  });

  test('an answer that fills the context ends with the finish reason length', async () => {
    const client = make({ contextTokens: 128 });
    const record = await client.call(chat('Hi', { max_tokens: 1000 }));
    expect(record).toMatchObject({ status: 'ok', finish_reason: 'length' });
    expect(record.usage!.prompt_tokens + record.usage!.completion_tokens).toBe(127);
  });
});

describe('tools and probabilities', () => {
  test('tools and their results stand in the prompt, and a plain answer asks for none', async () => {
    const tools = [{ name: 'add', description: 'Adds.', parameters: {} }];
    const plain = await make().call(chat('Hi'));
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: '', tool_calls: [{ id: 'a', name: 'add', arguments: '{}' }] },
      { role: 'tool', content: '4', tool_call_id: 'a' },
    ] as const;
    const record = await make().call({ ...chat(''), input: { kind: 'chat', messages, tools } });
    expect(record).toMatchObject({ status: 'ok', tool_calls: [] });
    expect(record.usage!.prompt_tokens).toBeGreaterThan(plain.usage!.prompt_tokens + 30);
  });

  test('probabilities of the tokens are told when they are asked for', async () => {
    const asked = await make().call(chat('Hi', { logprobs: true, max_tokens: 8 }));
    expect(asked.mean_logprob).toBeLessThanOrEqual(0);
    expect(asked.mean_logprob).toBeGreaterThan(-30);
    const plain = await make().call(chat('Hi', { max_tokens: 8 }));
    expect(plain.mean_logprob).toBeNull();
    expect(asked.content).toBe(plain.content);
  });
});

describe('failures', () => {
  test('a prompt longer than the context is refused with both sizes', async () => {
    const client = make({ contextTokens: 128 });
    const record = await client.call(chat('word '.repeat(200)));
    expect(record).toMatchObject({ status: 'protocol_error', error_kind: 'context_overflow', usage: null });
    expect(record.error_message).toMatch(/^the prompt has \d+ tokens, but the context holds 128$/);
    expect(await client.call(chat('Hi'))).toMatchObject({ status: 'ok' });
  });

  test('an empty completion prompt is fine where a start token comes before it', async () => {
    const record = await make().call({ ...chat(''), input: { kind: 'completion', prompt: '' } });
    expect(record).toMatchObject({ status: 'ok', usage: { prompt_tokens: 1 } });
  });

  test('a killed engine ends its calls with the reason, and the next call starts another', async () => {
    const client = make();
    const { pids } = await client.open();
    const record = await client.call(chat('Hi', { max_tokens: 400 }), {
      onDelta: () => process.kill(pids[0]!, 'SIGKILL'),
    });
    expect(record).toMatchObject({ status: 'stream_error', error_kind: 'engine_gone', n_tokens: null });
    expect(record.error_message).toMatch(/signal SIGKILL/);
    expect(record.content).not.toBe('');
    expect(await client.call(chat('Hi'))).toMatchObject({ status: 'ok' });
    expect((await client.open()).pids).not.toEqual(pids);
  });

  test('what onDelta throws comes back to the caller', async () => {
    const client = make();
    const throwing = {
      onDelta: () => {
        throw new Error('mine');
      },
    };
    await expect(client.call(chat('Hi'), throwing)).rejects.toThrow('mine');
    expect(await client.call(chat('Hi'))).toMatchObject({ status: 'ok' });
  });

  test('a library that is not installed is named', async () => {
    await expect(make({ engineModule: 'no-such-engine' }).open()).rejects.toMatchObject({
      code: 'ENGINE_MISSING',
      message: expect.stringContaining('no-such-engine'),
    });
  });

  test('a file that is no model fails with the words of the engine', async () => {
    const broken = join(folder, 'broken.gguf');
    writeFileSync(broken, ggufFixture().subarray(0, 100_000));
    const client = make({ modelPath: broken });
    await expect(client.open()).rejects.toMatchObject({
      code: 'ENGINE_FAILED',
      message: expect.stringContaining(broken),
    });
    expect(await client.call(chat('Hi'))).toMatchObject({
      status: 'connect_error',
      error_kind: 'engine_failed',
    });
  });

  // biome-ignore format: a table is read in columns
  test.each<[string | null, RegExp, string]>([
    ['GGUF but not really', /it is GGUF of version \d+/, 'a damaged version'],
    ['<html>not found',     /it is no GGUF file/,        'another kind of file'],
    [null,                  /it cannot be read: ENOENT/, 'no file'],
  ])('a file of %j is refused with %s: %s', async (content, said, _) => {
    const path = join(folder, 'refused.gguf');
    rmSync(path, { force: true });
    if (content !== null) writeFileSync(path, content);
    await expect(make({ modelPath: path }).open()).rejects.toMatchObject({
      code: 'ENGINE_FAILED',
      message: expect.stringMatching(said),
    });
  });

  test('closing while the model loads ends the process and the calls', async () => {
    const client = make();
    const call = client.call(chat('Hi'));
    const opening = client.open().catch((error: unknown) => error);
    await client.close();
    expect(await call).toMatchObject({ status: 'cancelled', error_kind: 'client_closed' });
    expect(await opening).toMatchObject({ code: 'ENGINE_FAILED' });
  });

  test('the engine ends with a parent that is killed', async () => {
    const index = new URL('../../dist/embedded/embedded-client.js', import.meta.url).href;
    const script = `
      import { embeddedClient } from ${JSON.stringify(index)};
      const clock = { now: () => process.hrtime.bigint() };
      const client = embeddedClient({ modelPath: ${JSON.stringify(modelPath)}, model: 'm', threads: 1, clock });
      console.log((await client.open()).pids[0]);`;
    const parent = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const pid = Number(await new Promise((resolve) => parent.stdout.once('data', resolve)));
    expect(() => process.kill(pid, 0)).not.toThrow();
    parent.kill('SIGKILL');
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), { timeout: 10_000 });
  });
});
