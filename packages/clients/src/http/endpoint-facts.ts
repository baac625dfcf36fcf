import type { EndpointFacts } from '@perwatt/core';
import { asArray, asCount, asObject, asText, type JsonObject } from './json.js';

const engines: Readonly<Record<string, string>> = {
  vllm: 'vllm',
  sglang: 'sglang',
  llamacpp: 'llama-server',
  perwatt: 'perwatt',
};

/**
 * What a server's list of models says of the one asked for, or of the only one there is. Reads what vLLM, SGLang and
 * llama-server add to the list, and the `perwatt` block of our own server; everything not said is null.
 *
 * @param models the answer of `/v1/models`; null when there was none
 */
export function endpointFacts(endpoint: string, model: string | undefined, models: unknown): EndpointFacts {
  const listed = asArray(asObject(models)?.['data'])
    .map(asObject)
    .filter((each) => each !== null);
  const entry = listed.find((each) => each['id'] === model) ?? (listed.length === 1 ? listed[0] : undefined);
  const own = asObject(entry?.['perwatt']);
  const text = (key: string) => asText(own?.[key]) || null;
  return {
    kind: 'http',
    endpoint,
    engine: text('engine') ?? engines[asText(entry?.['owned_by'])] ?? null,
    engine_version: text('engine_version'),
    model: model ?? (listed.map((each) => asText(each['id'])).join(', ') || 'unknown'),
    model_sha256: text('model_sha256'),
    quantisation: text('quantisation'),
    chat_template_sha256: text('chat_template_sha256'),
    context_tokens: asCount(own?.['context_tokens']) ?? contextOf(entry),
    threads: asCount(own?.['threads']),
    pids: [],
  };
}

const contextOf = (entry: JsonObject | undefined): number | null =>
  asCount(entry?.['max_model_len']) ?? asCount(asObject(entry?.['meta'])?.['n_ctx']);
