import type { ServerReading } from '@perwatt/core';
import { httpPage } from './http-page.js';
import { readSamples, type Samples } from './prometheus-text.js';

type Fields = Readonly<Record<keyof Omit<ServerReading, 'names'>, readonly string[]>>;

/** Under which names servers tell what they do; of several the first that is there counts. */
const namesOf: readonly (readonly [server: string, fields: Fields])[] = [
  [
    'vllm',
    {
      running: ['vllm:num_requests_running'],
      waiting: ['vllm:num_requests_waiting'],
      kv_cache_ratio: ['vllm:kv_cache_usage_perc', 'vllm:gpu_cache_usage_perc'],
      prompt_tokens: ['vllm:prompt_tokens_total'],
      generation_tokens: ['vllm:generation_tokens_total'],
    },
  ],
  [
    'sglang',
    {
      running: ['sglang:num_running_reqs'],
      waiting: ['sglang:num_queue_reqs'],
      kv_cache_ratio: ['sglang:token_usage'],
      prompt_tokens: ['sglang:prompt_tokens_total'],
      generation_tokens: ['sglang:generation_tokens_total'],
    },
  ],
  [
    'llama-server',
    {
      running: ['llamacpp:requests_processing'],
      waiting: ['llamacpp:requests_deferred'],
      kv_cache_ratio: ['llamacpp:kv_cache_usage_ratio'],
      prompt_tokens: ['llamacpp:prompt_tokens_total'],
      generation_tokens: ['llamacpp:tokens_predicted_total'],
    },
  ],
  [
    'perwatt',
    {
      running: ['perwatt:requests_running'],
      waiting: ['perwatt:requests_waiting'],
      kv_cache_ratio: [],
      prompt_tokens: ['perwatt:prompt_tokens_total'],
      generation_tokens: ['perwatt:generation_tokens_total'],
    },
  ],
];

/** What a page of metrics tells of a server's load; null when it holds the names of no server that is known. */
export function readingOf(page: string): ServerReading | null {
  const samples = readSamples(page);
  for (const [names, fields] of namesOf) {
    const reading = {
      names,
      running: sumOf(samples, fields.running),
      waiting: sumOf(samples, fields.waiting),
      kv_cache_ratio: meanOf(samples, fields.kv_cache_ratio),
      prompt_tokens: sumOf(samples, fields.prompt_tokens),
      generation_tokens: sumOf(samples, fields.generation_tokens),
    };
    if (Object.values(reading).some((value) => typeof value === 'number')) return reading;
  }
  return null;
}

const found = (samples: Samples, names: readonly string[]) =>
  names.map((name) => samples.get(name)).find((sample) => sample !== undefined);

/** Several series of one name are parts of a whole: data-parallel ranks, models. */
const sumOf = (samples: Samples, names: readonly string[]): number | null =>
  found(samples, names)?.sum ?? null;

/** A share is no sum of the shares of its parts. */
function meanOf(samples: Samples, names: readonly string[]): number | null {
  const sample = found(samples, names);
  return sample === undefined ? null : sample.sum / sample.count;
}

const TIMEOUT_MS = 2000;

/** Reads a server's page of metrics. After a first answer that is no such page it is not asked again. */
export function serverReader(url: string, apiKey?: string): () => Promise<ServerReading | null> {
  const headers = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  let offers: 'unknown' | 'yes' | 'no' = 'unknown';
  return async () => {
    if (offers === 'no') return null;
    const { status, text } = await httpPage(url, { timeout_ms: TIMEOUT_MS, headers });
    const reading = status === 200 ? readingOf(text) : null;
    if (offers === 'unknown' && status !== null) offers = reading === null ? 'no' : 'yes';
    return reading;
  };
}
