import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readSamples } from './prometheus-text.js';
import { readingOf, serverReader } from './server-reader.js';

const nothing = {
  running: null,
  waiting: null,
  kv_cache_ratio: null,
  prompt_tokens: null,
  generation_tokens: null,
};

// biome-ignore format: a table is read in columns
test.each([
  ['vllm:num_requests_running{engine="0",model_name="a"} 3.0\nvllm:num_requests_waiting{model_name="a"} 1\nvllm:kv_cache_usage_perc{model_name="a"} 0.5\nvllm:prompt_tokens_total{model_name="a"} 1.2e3\nvllm:generation_tokens_total{model_name="a"} 45', { names: 'vllm', running: 3, waiting: 1, kv_cache_ratio: 0.5, prompt_tokens: 1200, generation_tokens: 45 }, 'vLLM of today'],
  ['vllm:gpu_cache_usage_perc 0.125', { ...nothing, names: 'vllm', kv_cache_ratio: 0.125 }, 'the older name'],
  ['vllm:num_requests_running{engine="0"} 2\nvllm:num_requests_running{engine="1"} 5\nvllm:kv_cache_usage_perc{engine="0"} 0.2\nvllm:kv_cache_usage_perc{engine="1"} 0.6', { ...nothing, names: 'vllm', running: 7, kv_cache_ratio: 0.4 }, 'data-parallel ranks: counts add up, shares do not'],
  ['sglang:num_running_reqs{x="y"} 2\nsglang:num_queue_reqs 0\nsglang:token_usage 0.28\nsglang:prompt_tokens_total 8\nsglang:generation_tokens_total 7', { names: 'sglang', running: 2, waiting: 0, kv_cache_ratio: 0.28, prompt_tokens: 8, generation_tokens: 7 }, 'SGLang'],
  ['llamacpp:requests_processing 1\nllamacpp:requests_deferred 4\nllamacpp:prompt_tokens_total 9\nllamacpp:tokens_predicted_total 5', { names: 'llama-server', running: 1, waiting: 4, kv_cache_ratio: null, prompt_tokens: 9, generation_tokens: 5 }, 'llama-server without its cache'],
  ['# HELP up\n# TYPE up gauge\nup 1', null, 'some other page of metrics'],
  ['vllm:num_requests_running NaN', null, 'a value that is none'],
  ['', null, 'nothing'],
])('a page of metrics is read by the names of its server', (page, reading, _why) => {
  expect(readingOf(page)).toEqual(reading);
});

describe('the text format', () => {
  test.each([
    ['a{b="}",c="\\"# x"} 2', 2, 'brackets, quotes and hashes within labels'],
    ['a 2 1700000000', 2, 'a stamp after the value'],
    ['a\t2\r', 2, 'tabs and carriage returns'],
    ['a{} +Inf', undefined, 'no finite number'],
    ['a{b="c" 2', undefined, 'labels without an end'],
    ['a', undefined, 'no value'],
  ])('%j', (page, sum, _why) => {
    expect(readSamples(page).get('a')?.sum).toBe(sum);
  });

  property.prop([
    fc.string({
      unit: fc.constantFrom('a', ':', '{', '}', '"', '\\', ',', '=', ' ', '1', '\n'),
      maxLength: 400,
    }),
  ])('never hangs or throws, whatever it is given', (page) => {
    for (const { sum } of readSamples(page).values()) expect(Number.isFinite(sum)).toBe(true);
  });
});

async function pageServer(answer: (asked: number) => { status: number; body: string }) {
  let asked = 0;
  const server = createServer((_, response) => {
    const { status, body } = answer(asked++);
    response.writeHead(status);
    response.end(body);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/metrics`, asked: () => asked };
}

test('a server without metrics is asked once', async () => {
  const { url, asked } = await pageServer(() => ({ status: 404, body: 'no' }));
  const read = serverReader(url);
  expect([await read(), await read(), await read()]).toEqual([null, null, null]);
  expect(asked()).toBe(1);
});

test('a server that once answered is asked again after a failure', async () => {
  const { url, asked } = await pageServer((n) =>
    n === 1 ? { status: 500, body: '' } : { status: 200, body: 'llamacpp:requests_processing 1' },
  );
  const read = serverReader(url);
  const readings = [await read(), await read(), await read()];
  expect(readings.map((reading) => reading?.running ?? null)).toEqual([1, null, 1]);
  expect(asked()).toBe(3);
});
