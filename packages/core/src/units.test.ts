import { expect, test } from 'vitest';
import { elapsed, instant, joules, meanPower, nanos } from './units.js';

test('mean power is energy per second', () => {
  expect(meanPower(joules(10), nanos(2e9))).toBe(5);
  // @ts-expect-error watts are not joules
  meanPower(meanPower(joules(1), nanos(1)), nanos(1));
});

test('elapsed counts from start to end', () => {
  expect(elapsed(instant(5n), instant(7n))).toBe(2);
  expect(elapsed(instant(7n), instant(5n))).toBe(-2);
});
