import { expect, test } from 'vitest';
import type { Model } from './engine-api.js';
import { chatFormat, plainPrompt, promptTokens } from './prompt.js';

test('the plain format is a dialogue that ends where the answer begins', () => {
  expect(
    plainPrompt([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'What is 1 + 1?' },
      { role: 'assistant', content: '2' },
      { role: 'user', content: 'And 2 + 2?' },
    ]),
  ).toBe('Be brief.\n\nQuestion: What is 1 + 1?\nAnswer: 2\n\nQuestion: And 2 + 2?\nAnswer:');
});

const model = (shouldPrependBosToken: boolean): Model =>
  ({
    fileInfo: { metadata: { general: {} } },
    tokens: { bos: 1, shouldPrependBosToken },
    tokenize: (text: string, special: boolean) =>
      special && text.startsWith('<s>') ? [1, ...Buffer.from(text.slice(3))] : [...Buffer.from(text)],
  }) as unknown as Model;
const noTemplates = {
  JinjaTemplateChatWrapper: class {
    constructor() {
      throw new Error('there is no template to wrap');
    }
  },
} as unknown as Parameters<typeof chatFormat>[0];

// biome-ignore format: a table is read in columns
test.each([
  [true,  'ab',    [1, 97, 98], 'the start token is put before the prompt'],
  [true,  '<s>ab', [1, 97, 98], 'one that is spelled out is not doubled'],
  [false, 'ab',    [97, 98],    'a model that wants none gets none'],
])('with a start token wanted %s, %j is %j: %s', (wanted, prompt, tokens) => {
  const format = chatFormat(noTemplates, model(wanted));
  expect(promptTokens({ kind: 'completion', prompt }, model(wanted), format)).toEqual(tokens);
});

test('weights without a template get the plain format, which ends at the next question', () => {
  const format = chatFormat(noTemplates, model(false));
  expect(format.stops).toEqual(['\nQuestion:']);
  expect(Buffer.from(format.tokens([{ role: 'user', content: 'Hi' }])).toString()).toBe(
    'Question: Hi\nAnswer:',
  );
});
