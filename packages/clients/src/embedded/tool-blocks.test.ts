import { expect, test } from 'vitest';
import { readToolBlocks } from './tool-blocks.js';

const block = (json: string) => `<tool_call>${json}</tool_call>`;
const call = '{"name": "f", "arguments": {"a": 1}}';

// biome-ignore format: a table is read in columns
test.each<readonly [text: string, content: string, names: readonly string[], why: string]>([
  [`Let me see. ${block(call)}`,        'Let me see.',       ['f'],      'text before a call stays'],
  [block(call) + block(call),           '',                  ['f', 'f'], 'two calls'],
  [`<tool_call>${call}`,                '',                  ['f'],      'the last end may be missing'],
  [block("{'name': 'f'}"),              block("{'name': 'f'}"), [],      'no JSON: left to the caller to repair'],
  [block(call) + block('{'),            block(call) + block('{'), [],    'one of two: likewise'],
  [block('{"name": "f"}'),              block('{"name": "f"}'), [],      'a call without arguments is none'],
  ['no call',                           'no call',           [],         'nothing to read'],
])('%j is %j with the calls %j: %s', (text, content, names) => {
  const read = readToolBlocks(text);
  expect(read.content).toBe(content);
  expect(read.tool_calls.map(({ name }) => name)).toEqual(names);
});
