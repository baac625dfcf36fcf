import { type Clock, instant } from '@perwatt/core';
import { fakeClient, tickingClock } from '@perwatt/test-kit';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openAiClient } from '../http/openai-client.js';
import { serveClient } from './serve-client.js';
import { serveCounts } from './serve-metrics.js';

const clock: Clock = { now: () => instant(process.hrtime.bigint()) };

test('calls beyond the sequences wait, and every end is counted once', () => {
  const counts = serveCounts(2);
  const [first, second, third] = [counts.begin(), counts.begin(), counts.begin()];
  expect(counts.page()).toContain('perwatt:requests_running 2\n');
  expect(counts.page()).toContain('perwatt:requests_waiting 1\n');
  first({ usage: { prompt_tokens: 7, completion_tokens: 3 }, n_tokens: 3 });
  first({ usage: { prompt_tokens: 7, completion_tokens: 3 }, n_tokens: 3 });
  second(null);
  third({ usage: null, n_tokens: null });
  expect(counts.page().match(/^perwatt:\w+ \d+$/gm)).toEqual([
    'perwatt:requests_running 0',
    'perwatt:requests_waiting 0',
    'perwatt:requests_total 3',
    'perwatt:prompt_tokens_total 7',
    'perwatt:generation_tokens_total 3',
  ]);
});

test('a client reads from a served client what it does', async () => {
  let open = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const served = await serveClient({
    client: fakeClient({ clock: tickingClock(), wait: () => gate }),
    models: ['m'],
    clock,
    sequences: 1,
  });
  onTestFinished(() => served.close());
  const client = openAiClient({ url: served.url, api: 'chat', clock, model: 'm' });
  onTestFinished(() => client.close());
  await client.open();
  const request = {
    model: 'm',
    input: { kind: 'chat' as const, messages: [{ role: 'user' as const, content: 'Say the word apple.' }] },
    sampling: { temperature: 0, top_p: 1, max_tokens: 4 },
  };
  const calls = [client.call(request), client.call(request)];
  await vi.waitFor(async () =>
    expect(await client.observe?.()).toMatchObject({ names: 'perwatt', running: 1, waiting: 1 }),
  );
  open();
  await Promise.all(calls);
  expect(await client.observe?.()).toEqual({
    names: 'perwatt',
    running: 0,
    waiting: 0,
    kv_cache_ratio: null,
    prompt_tokens: 8,
    generation_tokens: 8,
  });
});
