import { execFileSync } from 'node:child_process';
import { fc, test as property } from '@fast-check/vitest';
import { expect, test } from 'vitest';
import { shellWord } from './shell-word.js';

// biome-ignore format: a table is read in columns
test.each([
  ['model=qwen3-4b',      'model=qwen3-4b',          'nothing to quote'],
  ['a b',                 "'a b'",                   'blanks part words'],
  ["it's",                "'it'\\''s'",              'its own quote'],
  ['$(rm -rf ~)',         "'$(rm -rf ~)'",           'no command in it'],
  ['a\u001b[31m\u202eb',  "'a[31mb'",                'nothing that moves a terminal'],
  ['',                    "''",                      'an empty word is a word'],
])('%j becomes %s: %s', (text, word) => {
  expect(shellWord(text)).toBe(word);
});

property.prop([fc.string({ unit: 'grapheme-ascii', maxLength: 30 })], { numRuns: 15 })(
  'a shell gives the same text back',
  (text) => {
    expect(execFileSync('sh', ['-c', `printf %s ${shellWord(text)}`], { encoding: 'utf8' })).toBe(text);
  },
);
