import { fc, test as property } from '@fast-check/vitest';
import type { TokenCounter } from '@perwatt/core';
import { describe, expect, test } from 'vitest';
import { promptMaker } from './exact-prompt.js';

const vocabulary = ' time| year| people| way| day| man| thing| wo|man| life| the| a|ing|er|th|he| an| in'
  .split('|')
  .sort((a, b) => b.length - a.length);

/** Longest match first over a small vocabulary, else one token a character: joins and cuts words as BPE does. */
function greedy(text: string): number {
  let tokens = 0;
  for (let at = 0; at < text.length; tokens++) {
    const match = vocabulary.find((token) => text.startsWith(token, at));
    at += match?.length ?? 1;
  }
  return tokens;
}

// biome-ignore format: a table is read in columns
const counters: readonly (readonly [string, TokenCounter['count'], string])[] = [
  ['a token a word', (text) => text.split(/\s+/).filter((word) => word !== '').length, 'every length is one word away'],
  ['a token a byte', (text) => Buffer.byteLength(text), 'a word is longer than a gap left at the end'],
  ['greedy subwords', greedy, 'words of one and of many tokens'],
  ['four characters a token', (text) => Math.ceil(text.length / 4), 'no word adds a whole number of tokens'],
  ['a token a word and a start token', (text) => 1 + text.split(' ').length, 'a constant on top of every count'],
  ['later, over a wire', async (text) => greedy(text), 'a counter that answers later'],
];

describe('prompts of an exact length', () => {
  test.each(counters)('%s: the count is met and told', async (_, count) => {
    const maker = await promptMaker({ count }, { seed: 7 });
    for (const input_tokens of [3, 10, 17, 128, 1000, 4097]) {
      const made = await maker.prompt({ row: input_tokens, input_tokens });
      expect(await count(made.text)).toBe(input_tokens);
      expect(made).toMatchObject({ wanted_tokens: input_tokens, achieved_tokens: input_tokens, exact: true });
    }
  });

  property.prop([fc.integer({ min: 1, max: 3000 }), fc.integer({ min: 0, max: 2 ** 31 - 1 })], {
    numRuns: 40,
  })('any length is met with any seed', async (input_tokens, seed) => {
    const maker = await promptMaker({ count: greedy }, { seed });
    expect(greedy((await maker.prompt({ row: 0, input_tokens })).text)).toBe(input_tokens);
  });

  test('tokens that the target adds count as input', async () => {
    const maker = await promptMaker({ count: greedy }, { seed: 1, overhead_tokens: 12 });
    const made = await maker.prompt({ row: 0, input_tokens: 100 });
    expect(greedy(made.text)).toBe(88);
    expect(made).toMatchObject({ achieved_tokens: 100, exact: true });
  });

  test('a length that no text has is missed, and said so', async () => {
    const inPairs = (text: string) => 2 * Math.ceil(greedy(text) / 2);
    const maker = await promptMaker({ count: inPairs }, { seed: 1 });
    expect(await maker.prompt({ row: 0, input_tokens: 101 })).toMatchObject({
      wanted_tokens: 101,
      achieved_tokens: 100,
      exact: false,
    });
    const short = await promptMaker({ count: greedy }, { seed: 1, overhead_tokens: 12 });
    expect(await short.prompt({ row: 0, input_tokens: 5 })).toMatchObject({
      achieved_tokens: 12,
      exact: false,
    });
  });

  test('a row without a length is refused', async () => {
    const maker = await promptMaker({ count: greedy }, { seed: 1 });
    await expect(maker.prompt({ row: 3, input_tokens: null })).rejects.toThrow('row 3 has no input length');
  });
});

describe('shared prefixes', () => {
  const row = (hash_ids: readonly number[], input_tokens: number, n = 0) => ({
    row: n,
    input_tokens,
    hash_ids,
    block_tokens: 64,
  });
  const shared = (a: string, b: string) => {
    let at = 0;
    while (at < a.length && a[at] === b[at]) at++;
    return greedy(a.slice(0, at));
  };

  test('rows share the text of the blocks they share, and no more', async () => {
    const maker = await promptMaker({ count: greedy }, { seed: 5 });
    const a = await maker.prompt(row([1, 2, 3], 190));
    const b = await maker.prompt(row([1, 2, 9], 180, 1));
    const c = await maker.prompt(row([4, 2, 3], 190, 2));
    expect([a.achieved_tokens, b.achieved_tokens, c.achieved_tokens]).toEqual([190, 180, 190]);
    expect(shared(a.text, b.text)).toBeGreaterThanOrEqual(128);
    expect(shared(a.text, b.text)).toBeLessThan(140);
    expect(shared(a.text, c.text)).toBeLessThan(12);
  });

  test('the same ids give the same text, in any order of asking, and another seed another', async () => {
    const [one, two, other] = await Promise.all(
      [5, 5, 6].map((seed) => promptMaker({ count: greedy }, { seed })),
    );
    const first = await one!.prompt(row([8, 9], 100));
    await two!.prompt(row([1, 2, 3], 190));
    expect(await two!.prompt(row([8, 9], 100, 99))).toEqual(first);
    expect((await other!.prompt(row([8, 9], 100))).text).not.toBe(first.text);
  });

  test('rows without ids have texts of their own', async () => {
    const maker = await promptMaker({ count: greedy }, { seed: 5 });
    const [a, b] = [
      await maker.prompt({ row: 1, input_tokens: 50 }),
      await maker.prompt({ row: 2, input_tokens: 50 }),
    ];
    expect(shared(a.text, b.text)).toBeLessThan(10);
  });
});
