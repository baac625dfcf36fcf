import { expect, test } from 'vitest';
import { hints, isErrorCode, messageOf, PerwattError, systemCode } from './errors.js';

test.each(Object.entries(hints))('hint of %s is one sentence', (_, hint) => {
  expect(hint).toMatch(/^[A-Z].*\.$/);
});

test('an error carries its code, its message and the hint of its code unless given another', () => {
  expect(new PerwattError('USAGE', 'no model given')).toMatchObject({ code: 'USAGE', hint: hints.USAGE });
  expect(new PerwattError('USAGE', 'no model given', { hint: 'Give one.' }).hint).toBe('Give one.');
});

test('codes of others are told from ours', () => {
  expect(isErrorCode('POWER_IO')).toBe(true);
  expect(isErrorCode('ENOENT')).toBe(false);
  expect(systemCode(Object.assign(new Error('x'), { code: 'ENOSPC' }))).toBe('ENOSPC');
  expect(systemCode('x')).toBeNull();
  expect(messageOf('plain')).toBe('plain');
});
