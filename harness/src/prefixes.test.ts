import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import { createPrefixes, promptText } from './prefixes.js';

describe('what prompts share', () => {
  // biome-ignore format: a table is read in columns
  test.each<readonly [why: string, prompts: readonly string[], shares: readonly number[]]>([
    ['the first is all new',               ['abcd'],                       [0]],
    ['the same again is all known',        ['abcd', 'abcd'],               [0, 1]],
    ['half of it is known',                ['abcd', 'abxy'],               [0, 0.5]],
    ['a beginning of an earlier one',      ['abcd', 'ab'],                 [0, 1]],
    ['the longest beginning counts',       ['ax', 'abcx', 'abcd'],         [0, 0.25, 0.75]],
    ['the end is no beginning',            ['abcd', 'xbcd'],               [0, 0]],
    ['an empty prompt shares nothing new', ['', 'a', ''],                  [0, 0, 1]],
  ])('%s', (_, prompts, shares) => {
    const prefixes = createPrefixes();
    expect(prompts.map((prompt) => prefixes.share('k', prompt))).toEqual(shares);
  });

  test('keys know nothing of one another', () => {
    const prefixes = createPrefixes();
    prefixes.share('one', 'abcd');
    expect(prefixes.share('other', 'abcd')).toBe(0);
  });

  test('of a key the oldest prompts are forgotten, and the keys that were not used for longest', () => {
    const prefixes = createPrefixes({ prompts: 2, characters: 8 });
    const share = (prompt: string, key = 'k') => prefixes.share(key, prompt);
    share('aa');
    share('bb');
    share('cc');
    expect(share('aa')).toBe(0);
    share('dddd', 'l');
    share('eeee', 'm');
    expect(share('dddd', 'l')).toBe(1);
    expect(share('aa')).toBe(0);
  });

  property.prop([fc.array(fc.stringMatching(/^[ab]{1,6}$/), { minLength: 1, maxLength: 20 })])(
    'what is left over is what a tree of the prompts holds',
    (prompts) => {
      const prefixes = createPrefixes();
      const left = prompts.map((prompt) => prompt.length * (1 - prefixes.share('k', prompt)));
      const tree = new Set(prompts.flatMap((prompt) => Array.from(prompt, (_, i) => prompt.slice(0, i + 1))));
      expect(left.reduce((sum, own) => sum + own, 0)).toBeCloseTo(tree.size, 9);
    },
  );
});

test('a chat that goes on begins with what was said before', () => {
  const said = [{ role: 'user', content: 'Hi' }] as const;
  const then = [...said, { role: 'assistant', content: 'Ho' }, { role: 'user', content: 'Again' }] as const;
  const [first, second] = [said, then].map((messages) => promptText({ kind: 'chat', messages }));
  expect(second?.startsWith(first ?? '-')).toBe(true);
  expect(promptText({ kind: 'chat', messages: [{ role: 'system', content: 'Hi' }] })).not.toBe(first);
});
