import { fc, test } from '@fast-check/vitest';
import type { Scripted } from '@perwatt/test-kit';
import { describe, test as example, expect } from 'vitest';
import { ask, textOf } from './asking.fixture.js';

describe('budget_forcing', () => {
  const used = (completion_tokens: number, more: Partial<Exclude<Scripted, string>> = {}): Scripted => ({
    text: 'hm',
    usage: { prompt_tokens: 1, completion_tokens },
    ...more,
  });

  example('an end of thinking is ignored as often as told, then the answer is called for', async () => {
    const { batches } = await ask('budget_forcing', { thinking_tokens: 100, ignores: 2 }, () => used(5));
    const prompts = batches.flat().map((c) => textOf(c.input));
    expect(prompts).toHaveLength(4);
    expect(prompts[2]?.match(/Wait/g)).toHaveLength(2);
    expect(prompts[3]).toMatch(/<\/think>\nFinal Answer:$/);
    expect(batches.flat()[0]?.sampling.stop).toEqual(['</think>']);
  });

  test.prop([fc.array(fc.nat(40), { maxLength: 12 }), fc.integer({ min: 1, max: 60 }), fc.nat(6)])(
    'thinks no longer than its cap and nudges no oftener than told',
    async (lengths, thinking_tokens, ignores) => {
      const left = [...lengths];
      let thought = 0;
      const { batches } = await ask('budget_forcing', { thinking_tokens, ignores }, (call) => {
        const length = Math.min(left.shift() ?? 3, call.sampling.max_tokens);
        if (call.sampling.stop !== undefined) thought += length;
        return used(length, { finish: length === call.sampling.max_tokens ? 'length' : 'stop' });
      });
      expect(thought).toBeLessThanOrEqual(thinking_tokens);
      expect((textOf(batches.at(-1)![0]!.input).match(/Wait/g) ?? []).length).toBeLessThanOrEqual(ignores);
    },
  );

  example('without ignores and with a large cap it is a plain generation and its answer', async () => {
    const { batches } = await ask('budget_forcing', { thinking_tokens: 1000, ignores: 0 }, () => used(9));
    expect(batches.map((b) => b.length)).toEqual([1, 1]);
  });
});
