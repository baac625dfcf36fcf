import { expect, test } from 'vitest';
import { ggufFixture } from './gguf-fixture.js';

test('the file begins as GGUF version 3 and has about 0.3 MB', () => {
  const file = Buffer.from(ggufFixture());
  expect(file.subarray(0, 4).toString()).toBe('GGUF');
  expect(file.readUInt32LE(4)).toBe(3);
  expect(file.length).toBeGreaterThan(200_000);
  expect(file.length).toBeLessThan(400_000);
});

test('a seed gives the same bytes again, another seed others', () => {
  expect(Buffer.compare(ggufFixture({ seed: 7 }), ggufFixture({ seed: 7 }))).toBe(0);
  expect(Buffer.compare(ggufFixture({ seed: 7 }), ggufFixture({ seed: 8 }))).not.toBe(0);
});

test('the chat template is left out on request', () => {
  const has = (file: Uint8Array) => Buffer.from(file).includes('tokenizer.chat_template');
  expect(has(ggufFixture())).toBe(true);
  expect(has(ggufFixture({ chatTemplate: null }))).toBe(false);
  expect(has(ggufFixture({ chatTemplate: '{{ messages }}' }))).toBe(true);
});
