import { expect, test } from 'vitest';
import { scaledDecimal, wallTime } from './trace-times.js';

// biome-ignore format: a table is read in columns
test.each([
  ['61.114', 9, 61_114_000_000n, 'decimal seconds'],
  ['3000', 6, 3_000_000_000n, 'whole ms'],
  ['0.0000000016', 9, 2n, 'finer than a ns: the nearest'],
  ['1e-7', 9, 100n, 'as a double prints itself'],
  ['-1.5', 9, -1_500_000_000n, 'before zero'],
  ['0x10', 9, null, 'not decimal'],
  ['', 9, null, 'nothing'],
] as const)('%s by 10^%d is %s', (text, shift, expected, _) => {
  expect(scaledDecimal(text, shift)).toBe(expected);
});

// biome-ignore format: a table is read in columns
test.each([
  ['1970-01-01 00:00:01.0000001', 1_000_000_100n, '100 ns'],
  ['1970-01-01T02:00:00+02:00', 0n, 'a zone ahead'],
  ['1969-12-31 22:00:00-0200', 0n, 'a zone behind'],
  ['1970-01-01 24:00:00', null, 'no such hour'],
  ['1970-13-01 00:00:00', null, 'no such month'],
] as const)('%s is %s', (text, expected, _) => {
  expect(wallTime(text)).toBe(expected);
});
