import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { recordedIo } from '../io.fixture.js';
import { catalogueCommand } from './catalogue.js';

async function run(args: readonly string[], cwd = '/') {
  const { io, result } = recordedIo({ cwd });
  const error = await catalogueCommand(io)
    .parseAsync(args, { from: 'user' })
    .then(
      () => null,
      (thrown: unknown) =>
        thrown as { readonly code: string; readonly message: string; readonly hint: string },
    );
  return { out: result.out, error };
}

test('lists models with what rests on memory marked', async () => {
  const { out, error } = await run(['models']);
  expect(error).toBeNull();
  expect(out).toHaveLength(1 + 46 + 1);
  expect(out.find((line) => line.startsWith('qwen3-30b-a3b '))).toMatch(
    /30\.532 +3\.353 +40960 +2025-04-29 +Apache-2\.0$/,
  );
  expect(out.find((line) => line.startsWith('granite-4.0-micro '))).toMatch(/2025-10-02\*/);
  expect(out.at(-1)).toMatch(/facts as of 2026-11-29/);
});

test('lists accelerators with dashes for what is unknown', async () => {
  const { out } = await run(['accelerators', 'list']);
  expect(out).toHaveLength(1 + 29 + 1);
  expect(out.find((line) => line.startsWith('apple-m4-max-40 '))).toMatch(/128 +546 +– +– +2024-10-30/);
  expect(out.find((line) => line.startsWith('nvidia-h100-pcie '))).toMatch(/1513\.0 fp8 +350\* /);
});

test('shows a model with what follows from its shape, its caution and its sources', async () => {
  const { out } = await run(['models', 'show', 'DeepSeek-R1-Distill-Qwen-7B-Q4_K_M.gguf']);
  expect(out).toContain('id: deepseek-r1-distill-qwen-7b');
  expect(out).toContain('shape.kv_heads: 4');
  expect(out).toContain('kv_elements_per_token_full_layers: 28672 (from the shape)');
  expect(out.join('\n')).toMatch(/caution: Not DeepSeek-R1[^\n]*\nsource of shape: r1-distill-config\n/);
  expect(out.join('\n')).toMatch(/r1-repo = deepseek-ai\/DeepSeek-R1: README\.md and first commit, 0cf7856/);
});

test('is JSON on request', async () => {
  const { out } = await run(['accelerators', 'show', 'NVIDIA GeForce RTX 4090', '--json']);
  expect(JSON.parse(out.join('\n'))).toMatchObject({
    id: 'nvidia-rtx-4090',
    memory_bandwidth_bytes_per_s: 1.008e12,
    source_list: { 'waredb-4090': { kind: 'third_party' } },
  });
  const all = JSON.parse((await run(['models', 'list', '--json'])).out.join('\n'));
  expect(all.models).toHaveLength(46);
});

// biome-ignore format: a table is read in columns
test.each<[args: string[], code: string, message: string, hint: RegExp, why: string]>([
  [['models', 'show', 'deepseek-r1:7b'], 'INPUT_INVALID',   '"deepseek-r1:7b" is ambiguous: a short tag that hides which base model was distilled', /deepseek-r1-distill-qwen-7b/, 'a tag that hides its base'],
  [['accelerators', 'show', 'H100'],     'INPUT_INVALID',   '"H100" is ambiguous: SXM, PCIe and NVL parts differ in compute, bandwidth and power',   /nvidia-h100-sxm, nvidia-h100-pcie/, 'three parts'],
  [['models', 'show', 'zzz'],            'INPUT_INVALID',   '"zzz" has no entry',             /perwatt catalogue models/, 'no such model'],
  [['models', '--file', 'no.yaml'],      'FILE_UNREADABLE', 'cannot read no.yaml: ENOENT',    /path/,                     'no such file'],
])('refuses %j', async (args, code, message, hint, _why) => {
  const { error } = await run(args);
  expect(error).toMatchObject({ code, message, hint: expect.stringMatching(hint) });
});

test('takes entries of a file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'perwatt-catalogue-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'own.yaml'), 'accelerators: [{ id: my-board, kind: soc, power_limit_w: 7 }]\n');
  const { out } = await run(['accelerators', 'show', 'my-board', '--file', 'own.yaml'], folder);
  expect(out).toContain('power_limit_w: 7');
  expect(out).toContain('memory_bytes: –');
});
