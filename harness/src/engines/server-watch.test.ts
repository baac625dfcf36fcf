import type { ServerReading } from '@perwatt/core';
import { expect, test, vi } from 'vitest';
import { serverLoad, watchServer } from './server-watch.js';

const reading = (more: Partial<ServerReading> = {}): ServerReading => ({
  names: 'vllm',
  running: 0,
  waiting: 0,
  kv_cache_ratio: 0,
  prompt_tokens: 0,
  generation_tokens: 0,
  ...more,
});

test('gauges have a mean and a most, counters their growth', () => {
  const load = serverLoad({
    before: reading({ prompt_tokens: 100, generation_tokens: 50 }),
    readings: [
      reading({ running: 2, waiting: 1, kv_cache_ratio: 0.25 }),
      reading({ running: 4, waiting: null, kv_cache_ratio: 0.75 }),
    ],
    after: reading({ prompt_tokens: 160, generation_tokens: 90 }),
    failed: 0,
  });
  expect(load).toEqual({
    names: 'vllm',
    readings: 2,
    failed: 0,
    running: { mean: 3, max: 4 },
    waiting: { mean: 1, max: 1 },
    kv_cache_ratio: { mean: 0.5, max: 0.75 },
    prompt_tokens: 60,
    generation_tokens: 40,
  });
});

// biome-ignore format: a table is read in columns
test.each([
  [reading({ prompt_tokens: 100 }), reading({ prompt_tokens: 20 }), null, 'a server that began anew'],
  [reading({ prompt_tokens: null }), reading({ prompt_tokens: 20 }), null, 'a counter that is not told'],
  [reading({ prompt_tokens: 7 }), null, null, 'a server that is gone'],
  [reading({ prompt_tokens: 7 }), reading({ prompt_tokens: 7 }), 0, 'nothing was done'],
])('the growth of a counter: %#', (before, after, prompt_tokens, _why) => {
  expect(serverLoad({ before, readings: [], after, failed: 0 })).toMatchObject({ prompt_tokens, running: null });
});

test('a server that offers nothing is asked once', async () => {
  const observe = vi.fn(async () => null);
  const watch = await watchServer({ observe });
  expect(await watch.end()).toBeNull();
  expect(observe).toHaveBeenCalledTimes(1);
  expect(await (await watchServer({})).end()).toBeNull();
});

test('a server is asked before, within and after; what fails is counted', async () => {
  let asked = 0;
  const observe = async () => {
    asked += 1;
    return asked === 2 ? null : reading({ running: asked, generation_tokens: asked });
  };
  const watch = await watchServer({ observe });
  await vi.waitFor(() => expect(asked).toBeGreaterThanOrEqual(3), 5000);
  const load = await watch.end();
  expect(load).toMatchObject({ failed: 1, running: { mean: 3, max: 3 }, generation_tokens: 3 });
});
