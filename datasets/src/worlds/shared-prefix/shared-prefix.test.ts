import { describe, expect, test } from 'vitest';
import { loadDataset } from '../../catalogue.js';

const load = (options: Record<string, unknown>, limit = 12) =>
  loadDataset({ kind: 'shared-prefix', options, limit }, { root: '/', seed: 3 });

/** What a prompt says of every locker that counts. */
const registerOf = (prompt: string) =>
  new Map(
    [...prompt.matchAll(/Locker (\d+) holds (\d+) keys\./g)].map(([, number, keys]) => [
      number!,
      Number(keys),
    ]),
  );

const sharedLength = (a: string, b: string) => {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return length;
};

describe('shared-prefix', () => {
  test.each([1, 2])('level %i: the answer follows from the lines that are asked for', async (level) => {
    const { items } = await load({ level });
    for (const { prompt, gold } of items) {
      const register = registerOf(prompt);
      const question = prompt.trim().split('\n').at(-1)!;
      const asked = question.match(/\d+/g)!;
      expect(asked).toHaveLength(level);
      expect(asked.reduce((sum, number) => sum + register.get(number)!, 0)).toBe(Number(gold));
    }
  });

  test('groups stand one behind the other, each with a key and a text of its own that its prompts begin with', async () => {
    const { items } = await load({ group: 4, prefix_tokens: 500 });
    const keys = items.map(({ prefix_key }) => prefix_key);
    expect([0, 4, 8].map((start) => new Set(keys.slice(start, start + 4)).size)).toEqual([1, 1, 1]);
    expect(new Set(keys).size).toBe(3);
    const [a, b, , , other] = items.map(({ prompt }) => prompt);
    expect(sharedLength(a!, b!)).toBeGreaterThanOrEqual(2000);
    expect(sharedLength(a!, other!)).toBeLessThan(100);
  });

  test('a suffix lies between the shared text and the question, and is each question’s own', async () => {
    const [a, b] = (await load({ prefix_tokens: 200, suffix_tokens: 300 })).items;
    const prefix = Number(a!.data!['prefix_characters']);
    expect(sharedLength(a!.prompt, b!.prompt)).toBeLessThan(prefix + 80);
    expect(a!.prompt.length - prefix).toBeGreaterThanOrEqual(1200);
  });

  test('a text that is too short for its questions is one error', async () => {
    await expect(load({ prefix_tokens: 100, group: 1000 })).rejects.toThrow(
      /a text of \d+ lines is too short for 1000 questions/,
    );
  });
});
