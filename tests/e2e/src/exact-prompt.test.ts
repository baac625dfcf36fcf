import { resolveModel } from '@perwatt/clients';
import { createRng, messageOf } from '@perwatt/core';
import { promptMaker } from '@perwatt/datasets';
import type { Token } from 'node-llama-cpp';
import { describe, expect, test } from 'vitest';

interface RealTokenizer {
  readonly encode: (text: string) => number[];
  readonly decode: (tokens: number[]) => string;
  readonly size: number;
}

/** The tokenizer of a model's own weight file, without its tensors; null, with a printed reason, where there is none. */
async function tokenizerOf(id: string): Promise<RealTokenizer | null> {
  try {
    const { path } = await resolveModel(id, { env: process.env });
    const { getLlama, LlamaLogLevel } = await import('node-llama-cpp');
    const llama = await getLlama({
      gpu: false,
      build: 'never',
      logLevel: LlamaLogLevel.error,
      maxThreads: 1,
    });
    const model = await llama.loadModel({ modelPath: path, vocabOnly: true });
    return {
      encode: (text) => model.tokenize(text, false),
      decode: (tokens) => model.detokenize(tokens as Token[], false),
      size: model.fileInfo.metadata.tokenizer.ggml.tokens.length,
    };
  } catch (error) {
    process.stdout.write(`skipped exact prompts of ${id}: ${messageOf(error)}\n`);
    return null;
  }
}

describe.each(['smollm2-135m', 'gemma3-270m'])('the tokenizer of %s', async (id) => {
  const tokenizer = await tokenizerOf(id);

  test.skipIf(tokenizer === null)('random token ids do not come back as many', () => {
    const rng = createRng(1);
    const counts = Array.from({ length: 20 }, () => {
      const ids = Array.from({ length: 200 }, () => 1000 + Math.floor(rng() * (tokenizer!.size - 2000)));
      return tokenizer!.encode(tokenizer!.decode(ids)).length;
    });
    expect(counts.filter((count) => count !== 200).length).toBeGreaterThan(10);
  });

  test.skipIf(tokenizer === null)('counts exactly what was wanted of a made-up prompt', async () => {
    const count = (text: string) => tokenizer!.encode(text).length;
    const maker = await promptMaker({ count }, { seed: 3 });
    for (const input_tokens of [1, 2, 7, 64, 511, 513, 1000, 4096, 16_384]) {
      const made = await maker.prompt({ row: input_tokens, input_tokens });
      expect(made).toMatchObject({ achieved_tokens: input_tokens, exact: true });
      expect(count(made.text)).toBe(input_tokens);
    }
  });

  test.skipIf(tokenizer === null)('sees rows of shared blocks begin with the same tokens', async () => {
    const count = (text: string) => tokenizer!.encode(text).length;
    const maker = await promptMaker({ count }, { seed: 3 });
    const prompt = async (row: number, hash_ids: readonly number[], input_tokens: number) =>
      tokenizer!.encode((await maker.prompt({ row, input_tokens, hash_ids, block_tokens: 512 })).text);
    const [a, b] = [await prompt(0, [1, 2, 3], 1500), await prompt(1, [1, 2, 4], 1300)];
    expect([a.length, b.length]).toEqual([1500, 1300]);
    const shared = a.findIndex((token, i) => token !== b[i]);
    expect(shared).toBeGreaterThanOrEqual(1024);
    expect(shared).toBeLessThan(1040);
  });
});
