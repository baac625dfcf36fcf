import { type ClientRequest, PerwattError } from '@perwatt/core';
import { expect, test } from 'vitest';
import { addressOf, callPath, requestBody } from './openai-request.js';

// biome-ignore format: a table is read in columns
test.each<[url: string, chat: string, why: string]>([
  ['http://h:80',                          'http://h/v1/chat/completions',          'the version is added'],
  ['http://h:8080/',                       'http://h:8080/v1/chat/completions',     'a slash at the end changes nothing'],
  ['http://h:8080/v1',                     'http://h:8080/v1/chat/completions',     'the version is there'],
  ['http://h:8080/v1//',                   'http://h:8080/v1/chat/completions',     'with slashes'],
  ['https://h/api/v3',                     'https://h/api/v3/chat/completions',     'any version counts'],
  ['https://h/v1beta',                     'https://h/v1beta/chat/completions',     'also an early one'],
  ['https://h/llm',                        'https://h/llm/v1/chat/completions',     'a path before the version'],
  ['http://h/v1/chat/completions',         'http://h/v1/chat/completions',          'the whole address of the call'],
  ['http://h/v1/completions/',             'http://h/v1/chat/completions',          'or of the other call'],
  ['http://h/v1?key=1',                    'http://h/v1/chat/completions?key=1',    'a query stays'],
  ['http://user:secret@h/v1',              'http://h/v1/chat/completions',          'credentials are not passed on'],
  ['http://[::1]:8080',                    'http://[::1]:8080/v1/chat/completions', 'an IPv6 address'],
])('%s asks %s: %s', (url, chat) => {
  const address = addressOf(url);
  expect(address.origin + callPath(address, 'chat')).toBe(chat);
});

test.each(['localhost:8080', '127.0.0.1', 'ftp://h/v1', ''])('"%s" is no address', (url) => {
  expect(() => addressOf(url)).toThrow(PerwattError);
  expect(() => addressOf(url)).toThrow(`endpoint "${url}" is not an http or https address`);
});

const sampling = { temperature: 0.7, top_p: 0.9, max_tokens: 32 };
const chat: ClientRequest = {
  model: 'm',
  input: {
    kind: 'chat',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hi' },
    ],
  },
  sampling,
};
const completion: ClientRequest = { model: 'm', input: { kind: 'completion', prompt: 'Hi' }, sampling };
const body = (...args: Parameters<typeof requestBody>): unknown => JSON.parse(requestBody(...args));

test('a chat request carries its messages and sampling, and asks for usage', () => {
  expect(body(chat, 'chat')).toEqual({
    model: 'm',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hi' },
    ],
    ...sampling,
    stream: true,
    stream_options: { include_usage: true },
  });
});

test('a request that is not streamed has no stream options', () => {
  expect(body({ ...chat, stream: false }, 'chat')).toMatchObject({ stream: false });
  expect(body({ ...chat, stream: false }, 'chat')).not.toHaveProperty('stream_options');
});

test('a reasoning effort is sent to a chat server that is told one, and to no other', () => {
  const effort = { ...sampling, reasoning_effort: 'low' };
  expect(body({ ...chat, sampling: effort }, 'chat')).toMatchObject({ reasoning_effort: 'low' });
  expect(body({ ...chat, sampling: effort }, 'completion')).not.toHaveProperty('reasoning_effort');
  expect(body(chat, 'chat')).not.toHaveProperty('reasoning_effort');
});

test('seed and stop are sent only when they are set', () => {
  expect(body(chat, 'chat')).not.toHaveProperty('seed');
  expect(body({ ...chat, sampling: { ...sampling, seed: 0, stop: ['\n'] } }, 'chat')).toMatchObject({
    seed: 0,
    stop: ['\n'],
  });
});

test('tools are sent as functions', () => {
  const tool = { name: 'f', description: 'd', parameters: { type: 'object' } };
  const input = { kind: 'chat', messages: [], tools: [tool] } as const;
  expect(body({ ...chat, input }, 'chat')).toMatchObject({ tools: [{ type: 'function', function: tool }] });
});

test('input of the other kind is carried over', () => {
  expect(body(completion, 'chat')).toMatchObject({ messages: [{ role: 'user', content: 'Hi' }] });
  expect(body(chat, 'completion')).toMatchObject({ prompt: 'Be brief.\n\nHi' });
  expect(body(completion, 'completion')).toMatchObject({ prompt: 'Hi' });
});
