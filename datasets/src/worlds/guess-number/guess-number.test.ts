import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import { loadDataset } from '../../catalogue.js';
import { guessWorld, hintOf, honestGuesses } from './guess-world.js';

describe('a hint', () => {
  // biome-ignore format: a table is read in columns
  test.each<readonly [secret: string, guess: string, placed: number, elsewhere: number, why: string]>([
    ['0427', '0427', 4, 0, 'all of it'],
    ['0427', '7240', 0, 4, 'all elsewhere'],
    ['0427', '0472', 2, 2, 'half and half'],
    ['0427', '1359', 0, 0, 'nothing'],
    ['0427', '0000', 1, 0, 'a digit repeated counts once'],
    ['0427', '4444', 1, 0, 'in its place'],
    ['0427', '1144', 0, 1, 'elsewhere, once'],
  ])('of %s for %s: %i placed, %i elsewhere (%s)', (secret, guess, placed, elsewhere) => {
    expect(hintOf(secret, guess)).toEqual({ placed, elsewhere });
  });

  const number = (digits: number) =>
    fc.shuffledSubarray([...'0123456789'], { minLength: digits, maxLength: digits }).map((d) => d.join(''));
  property.prop([number(4), number(4)])('is the same both ways round', (a, b) => {
    expect(hintOf(a, b)).toEqual(hintOf(b, a));
  });

  property.prop([fc.integer({ min: 2, max: 4 }).chain(number)], { numRuns: 60 })(
    'and hints alone lead to any secret, each guess in agreement with all before it, within 25 guesses',
    (secret) => {
      const guesses = honestGuesses(secret);
      expect(guesses.at(-1)).toBe(secret);
      expect(guesses.length).toBeLessThanOrEqual(12);
      for (const [i, guess] of guesses.entries())
        for (const before of guesses.slice(0, i))
          expect(hintOf(guess, before)).toEqual(hintOf(secret, before));
    },
  );
});

describe('a game', async () => {
  const { items } = await loadDataset(
    { kind: 'guess-number', options: { level: 3 }, limit: 30 },
    { root: '/', seed: 2 },
  );
  const item = {
    id: 'test',
    data: { kind: 'world', world: 'guess-number', world_version: 1, secret: '0427', max_steps: 3 },
  };

  // biome-ignore format: a table is read in columns
  test.each<readonly [action: string, valid: boolean, observation: string, why: string]>([
    ['Guess: 0472',                       true,  'Digits that stand where they do in my number: 2. Digits that are in it but stand elsewhere: 2.', 'the form asked for'],
    ['I think of 2024, so I say 0427!',   true,  'That is my number.', 'the last run of four digits'],
    ['12345',                             false, 'That holds no guess. Write it like this: Guess: 1234', 'five digits'],
    ['no idea',                           false, 'That holds no guess. Write it like this: Guess: 1234', 'no digits'],
  ])('%j: valid %s, %s (%s)', (action, valid, observation) => {
    expect(guessWorld.open(item).act(action)).toMatchObject({ valid, observation });
  });

  test('ends at a hit, or with its last guess', () => {
    const hit = guessWorld.open(item);
    expect([hit.act('1234').done, hit.act('0427').done, hit.won(), hit.reward()]).toEqual([
      false,
      true,
      true,
      1,
    ]);
    const lost = guessWorld.open(item);
    expect([
      lost.act('1234').done,
      lost.act('what').done,
      lost.act('5678').done,
      lost.won(),
      lost.reward(),
    ]).toEqual([false, false, true, false, 0]);
  });

  test('has a secret of four different digits, which no prompt holds', () => {
    for (const { data, prompt } of items) {
      expect(data!['secret']).toMatch(/^(?!.*(\d).*\1)\d{4}$/);
      expect(prompt).not.toContain(`${data!['secret']}`);
    }
    expect(items.some(({ data }) => `${data!['secret']}`.startsWith('0'))).toBe(true);
  });

  test.each(['1123', '12a4', '1234567'])('a secret "%s" is refused', (secret) => {
    expect(() => guessWorld.open({ id: 'test', data: { ...item.data, secret } })).toThrow('different digits');
  });

  test('there are 90 secrets of two digits and no more', async () => {
    const load = (limit: number) =>
      loadDataset({ kind: 'guess-number', options: {}, limit }, { root: '/', seed: 2 });
    expect((await load(90)).items).toHaveLength(90);
    await expect(load(91)).rejects.toThrow(
      'data set "guess-number": level 1 gave 90 different questions, the limit asks for 91',
    );
  });
});
