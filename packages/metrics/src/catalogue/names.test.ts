import { expect, test } from 'vitest';
import { findAccelerator, findModel } from './find-entry.js';
import { shippedCatalogue } from './load-catalogue.js';
import { withOwnEntries } from './own-entries.js';

const catalogue = shippedCatalogue();

// biome-ignore format: a table is read in columns
test.each<[name: string, id: string | null, why: string]>([
  ['qwen3-30b-a3b',                                      'qwen3-30b-a3b',               'an id'],
  ['Qwen/Qwen3-30B-A3B',                                 'qwen3-30b-a3b',               'a repository'],
  ['Qwen/Qwen3-30B-A3B-Instruct-2507',                   null,                          'another checkpoint of nearly that name'],
  ['deepseek-ai/DeepSeek-R1-Distill-Qwen-7B',            'deepseek-r1-distill-qwen-7b', 'a distillation'],
  ['DeepSeek-R1-Distill-Qwen-7B-Q4_K_M.gguf',            'deepseek-r1-distill-qwen-7b', 'a file of it'],
  ['deepseek-ai/DeepSeek-R1',                            null,                          'the model that was distilled has no entry'],
  ['deepseek-r1:7b',                                     null,                          'a tag that hides the base'],
  ['deepseek-r1',                                        null,                          'nor does the short name tell'],
  ['gpt-oss:20b',                                        'gpt-oss-20b',                 'a tag'],
  ['llama3.1:8b-instruct-q4_K_M',                        'llama-3.1-8b-instruct',       'a tag with a storage type'],
  ['bartowski/Meta-Llama-3.1-8B-Instruct-GGUF',          null,                          'a name with a word more'],
  ['Llama-3.1-8B',                                       null,                          'base is not instruct'],
  ['mlx-community/SmolLM2-135M-Instruct-4bit',           'smollm2-135m-instruct',       'a conversion'],
  ['gemma-31-2b-it',                                     null,                          'digits stay apart'],
  ['vicuna-13b',                                         null,                          'no version'],
  ['',                                                   null,                          'nothing'],
])('model %j is %j: %s', (name, id, _why) => {
  const found = findModel(catalogue, name);
  expect(found.entry?.id ?? null).toBe(id);
  expect(found.reason === null).toBe(id !== null);
});

// biome-ignore format: a table is read in columns
test.each<[name: string, id: string | null, why: string]>([
  ['nvidia-h100-sxm',                  'nvidia-h100-sxm',     'an id'],
  ['NVIDIA H100 80GB HBM3',            'nvidia-h100-sxm',     "the driver's name"],
  ['NVIDIA H100 PCIe',                 'nvidia-h100-pcie',    'the slower part'],
  ['H100',                             null,                  'three parts'],
  ['B200',                             'nvidia-b200-sxm',     'the one part of that name'],
  ['NVIDIA GeForce RTX 4090',          'nvidia-rtx-4090',     "the driver's name"],
  ['NVIDIA GeForce RTX 4090 Laptop GPU', null,                'another chip'],
  ['RTX 6000',                         null,                  'three cards'],
  ['Apple M4 Max',                     null,                  'two bandwidths'],
  ['tpu-v5e',                          null,                  'no entry'],
])('accelerator %j is %j: %s', (name, id, _why) => {
  const found = findAccelerator(catalogue, name);
  expect(found.entry?.id ?? null).toBe(id);
  expect(found.reason === null).toBe(id !== null);
});

test('says what may have been meant', () => {
  expect(findModel(catalogue, 'deepseek-r1:7b').near).toEqual(['deepseek-r1-distill-qwen-7b']);
  expect(findModel(catalogue, 'Llama-3.1-8B').near).toEqual(['llama-3.1-8b-instruct']);
  expect(findAccelerator(catalogue, 'H100').near).toEqual(['nvidia-h100-sxm', 'nvidia-h100-pcie']);
});

const own = `
models:
  - id: tiny-own
    shape: { layers: 2, hidden_size: 8, ffn_size: 16, heads: 2, kv_heads: 1, head_dim: 4, vocab_size: 10, tied_embeddings: true }
  - { id: api-only, family: unknown }
accelerators:
  - { id: my-board, kind: soc, memory_bandwidth_bytes_per_s: 5.1e10 }
`;

test('takes own entries, counts their parameters and leaves unknown facts null', () => {
  const merged = withOwnEntries(catalogue, { text: own, file: 'own.yaml' });
  const tiny = findModel(merged, 'tiny-own').entry;
  // two layers of attention (2·8·8 + 2·8·4), gated part 3·8·16 and norms 16; final norm 8, table 80
  expect(tiny?.params_total).toBe(2 * (192 + 384 + 16) + 8 + 80);
  expect(findModel(merged, 'api-only').entry).toMatchObject({ shape: null, params_total: null });
  expect(findAccelerator(merged, 'my-board').entry?.peak_flop_per_s.bf16).toBeNull();
  expect(merged.models).toHaveLength(48);
});

test('a name that two entries differ from in form only means neither', () => {
  const text =
    'accelerators: [{ id: my-board2, kind: soc }, { id: myboard, kind: soc, aliases: [My Board-2] }]';
  const found = findAccelerator(withOwnEntries(catalogue, { text, file: 'own.yaml' }), 'MY_BOARD:2');
  expect(found).toMatchObject({
    entry: null,
    near: ['my-board2', 'myboard'],
    reason: expect.stringMatching(/several/),
  });
});

test('replaces an entry on request only, in its place', () => {
  const text = JSON.stringify({
    accelerators: [{ id: 'nvidia-l4', kind: 'gpu', override: true, power_limit_w: 60 }],
  });
  const merged = withOwnEntries(catalogue, { text, file: 'own.json' });
  expect(findAccelerator(merged, 'nvidia-l4').entry).toMatchObject({ power_limit_w: 60, memory_bytes: null });
  expect(merged.accelerators.map(({ id }) => id)).toEqual(catalogue.accelerators.map(({ id }) => id));
});

// biome-ignore format: a table is read in columns
test.each<[text: string, message: RegExp]>([
  ['accelerators: [{ id: nvidia-l4, kind: gpu }]',                 /own\.yaml: accelerators\[0\]\.id: "nvidia-l4" is known already/],
  ['accelerators: [{ id: x, kind: gpu }, { id: x, kind: gpu }]',   /accelerators\[1\]\.id: "x" stands twice/],
  ['accelerators: [{ id: x, kind: gpu, override: true }]',         /accelerators\[0\]\.override: there is no "x"/],
  ['accelerators: [{ id: x, kind: brick }]',                       /own\.yaml: accelerators\[0\]\.kind may not be "brick"/],
  ['accelerators: [{ id: x, kind: gpu, power_limit_w: -1 }]',      /accelerators\[0\]\.power_limit_w is -1, but must be above 0/],
  ['models: [{ id: x, colour: red }]',                             /models\[0\] has an unknown key "colour"/],
  ['models: [{ id: x, release_date: soon }]',                      /models\[0\]\.release_date "soon": use YYYY-MM-DD/],
  ['models: [{ id: x',                                             /own\.yaml: .*line 1/],
  [`a: &a [x, x]\nb: &b [${'*a, '.repeat(20)}]\nc: &c [${'*b, '.repeat(20)}]\nmodels: [${'*c, '.repeat(20)}]`,
                                                                   /own\.yaml: Excessive alias count/],
  ['- 1',                                                          /own\.yaml: the file must be a mapping/],
  ['models: [{ id: x, params_total: 5, shape: { layers: 2, hidden_size: 8, ffn_size: 16, heads: 2, kv_heads: 1, head_dim: 4, vocab_size: 10, tied_embeddings: true } }]',
                                                                   /models\[0\]\.params_total: 5 is not the 1272 that the shape gives/],
  ['models: [{ id: x, shape: { layers: 2, hidden_size: 8, ffn_size: null, heads: 3, kv_heads: 2, head_dim: 4, vocab_size: 10, tied_embeddings: true } }]',
                                                                   /shape\.kv_heads: must divide heads \(3\); models\[0\]\.shape\.ffn_size: is null exactly/],
])('refuses %j', (text, message) => {
  expect(() => withOwnEntries(catalogue, { text, file: 'own.yaml' })).toThrow(message);
});
