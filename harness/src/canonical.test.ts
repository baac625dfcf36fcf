import { expect, test } from 'vitest';
import { canonicalJson, differences, sha256Hex } from './canonical.js';

test('the order of keys does not count, the order of a list does', () => {
  expect(canonicalJson({ b: 1, a: { d: 1, c: undefined } })).toBe('{"a":{"d":1},"b":1}');
  expect(canonicalJson([2, 1])).not.toBe(canonicalJson([1, 2]));
  expect(sha256Hex('')).toMatch(/^e3b0c442/);
});

test('differences name the path and both values', () => {
  expect(differences({ a: [1, 2], b: 'x' }, { a: [1, 3], c: true })).toEqual([
    'a[1]: 2 → 3',
    'b: "x" → absent',
    'c: absent → true',
  ]);
  expect(differences({ a: 1 }, { a: 1 })).toEqual([]);
  expect(differences([1], { a: 1 })).toEqual(['the file: [1] → {"a":1}']);
});
