import { expect, test } from 'vitest';
import { endpointFacts } from './endpoint-facts.js';

const of = (model: string | undefined, models: unknown) => endpointFacts('http://h/v1', model, models);
const nothing = {
  kind: 'http',
  endpoint: 'http://h/v1',
  engine: null,
  engine_version: null,
  model_sha256: null,
  quantisation: null,
  chat_template_sha256: null,
  context_tokens: null,
  threads: null,
  pids: [],
};

// biome-ignore format: a table is read in columns
test.each<[model: string | undefined, models: unknown, facts: object, why: string]>([
  ['m',       null,                                                              { model: 'm' },       'no list'],
  [undefined, 'x',                                                               { model: 'unknown' }, 'no list, and no name'],
  [undefined, { data: [{ id: 'a' }] },                                           { model: 'a' },       'the only model'],
  [undefined, { data: [{ id: 'a' }, { id: 'b' }] },                              { model: 'a, b' },    'several'],
  ['b',       { data: [{ id: 'a', owned_by: 'vllm', max_model_len: 7 }, { id: 'b', owned_by: 'sglang', max_model_len: 9 }] },
    { model: 'b', engine: 'sglang', context_tokens: 9 }, 'the one asked for'],
  ['c',       { data: [{ id: 'a', owned_by: 'vllm' }, { id: 'b' }] },            { model: 'c' },       'not in the list'],
  ['alias',   { data: [{ id: 'a.gguf', owned_by: 'llamacpp', meta: { n_ctx: 4096 } }] },
    { model: 'alias', engine: 'llama-server', context_tokens: 4096 }, 'the only model under another name'],
  ['m',       { data: [{ id: 'm', perwatt: { engine: 'llama.cpp', engine_version: 'b1', quantisation: 'Q4_1', threads: 2, context_tokens: 512 } }] },
    { model: 'm', engine: 'llama.cpp', engine_version: 'b1', quantisation: 'Q4_1', threads: 2, context_tokens: 512 }, 'our own server says more'],
])('%s in %j gives %j: %s', (model, models, facts) => {
  expect(of(model, models)).toEqual({ ...nothing, ...facts });
});
