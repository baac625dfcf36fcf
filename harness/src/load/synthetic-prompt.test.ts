import { fc, test as property } from '@fast-check/vitest';
import { expect, test } from 'vitest';
import { syntheticPrompt } from './synthetic-prompt.js';

const words = (text: string) => (text === '' ? [] : text.split(' '));

property.prop([fc.nat(2 ** 31), fc.nat(5000)])(
  'a prompt has as many words as tokens were asked for',
  (row, tokens) => {
    expect(words(syntheticPrompt({ row, tokens }))).toHaveLength(tokens);
  },
);

property.prop([fc.array(fc.nat(1e6), { maxLength: 6 }), fc.nat(60)])(
  'blocks are part of the length',
  (hash_ids, tokens) => {
    expect(words(syntheticPrompt({ row: 3, tokens, hash_ids, block_tokens: 8 }))).toHaveLength(tokens);
  },
);

test('rows differ from their first words on', () => {
  const starts = Array.from({ length: 2000 }, (_, row) =>
    words(syntheticPrompt({ row, tokens: 8 }))
      .slice(0, 4)
      .join(' '),
  );
  expect(new Set(starts).size).toBe(2000);
});

test('rows share exactly the blocks they share', () => {
  const a = words(syntheticPrompt({ row: 1, tokens: 40, hash_ids: [7, 8, 9], block_tokens: 10 }));
  const b = words(syntheticPrompt({ row: 2, tokens: 40, hash_ids: [7, 8, 5], block_tokens: 10 }));
  expect(b.slice(0, 20)).toEqual(a.slice(0, 20));
  expect(b.slice(20, 22)).not.toEqual(a.slice(20, 22));
  expect(b.slice(30, 32)).not.toEqual(a.slice(30, 32));
});

test('a prompt without a length is empty, and the same row is the same text', () => {
  expect(syntheticPrompt({ row: 5, tokens: 0 })).toBe('');
  expect(syntheticPrompt({ row: 5, tokens: 100 })).toBe(syntheticPrompt({ row: 5, tokens: 100 }));
});
