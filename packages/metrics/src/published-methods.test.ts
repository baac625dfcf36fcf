import { expect, test } from 'vitest';
import { publishedFor, publishedMethods } from './published-methods.js';

test('every figure names its source, and none has an energy', () => {
  for (const row of publishedMethods) {
    expect(row.source).toMatch(/arXiv \d{4}\.\d{5}|paper in its repository/);
    expect(row.energy_j).toBeNull();
  }
});

test('a method that nothing was published for has no row', () => {
  expect(publishedFor('single')).toEqual([]);
  expect(publishedFor('delegate').map(({ value }) => value)).toEqual([
    '83 % against 68 %',
    '70 % against 65 %',
  ]);
});
