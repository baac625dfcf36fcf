import { fc, test as property } from '@fast-check/vitest';
import { expect, test } from 'vitest';
import { createDetokenizer } from './detokenizer.js';

/** A tokenizer whose tokens are single bytes; it drops a blank at the beginning, as SentencePiece does. */
const bytesToText = (tokens: readonly number[]): string =>
  Buffer.from(tokens).toString('utf8').replace(/^ /, '');
const tokensOf = (text: string): number[] => [...Buffer.from(text)];

function pieces(tokens: readonly number[], context: readonly number[] = [65]): string[] {
  const detokenizer = createDetokenizer(bytesToText, context);
  return [...tokens.map((token) => detokenizer.push(token)), detokenizer.end()];
}

property.prop([fc.string({ unit: 'binary', maxLength: 60 }), fc.string({ maxLength: 12 })])(
  'the pieces put together are the text, whatever it is and follows',
  (text, before) => {
    const sane = Buffer.from(text).toString().replaceAll('\ufffd', '?');
    expect(pieces(tokensOf(sane), tokensOf(`x${before}`)).join('')).toBe(sane);
  },
);

test('a character is told once, when its last byte is there', () => {
  expect(pieces(tokensOf('a😀b'))).toEqual(['a', '', '', '', '😀', 'b', '']);
});

test('a blank before the first word stays when a prompt comes before it', () => {
  expect(pieces(tokensOf(' hi')).join('')).toBe(' hi');
  expect(pieces(tokensOf(' hi'), []).join('')).toBe('hi');
});

test('a character that never gets its last byte ends as a replacement character', () => {
  expect(pieces([...tokensOf('ok'), 0xf0, 0x9f])).toEqual(['o', 'k', '', '', '\ufffd']);
});

test('bytes that are no text are let go and do not stop what follows', () => {
  const garbage = Array.from({ length: 40 }, () => 0x80);
  const told = pieces([...garbage, ...tokensOf('fine')]);
  expect(told.join('')).toBe(`${'\ufffd'.repeat(40)}fine`);
  expect(told.slice(0, 20).join('').length).toBeGreaterThan(10);
});
