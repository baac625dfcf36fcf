import { fc, test } from '@fast-check/vitest';
import { describe, expect } from 'vitest';
import { createExactSum } from './exact-sum.js';

const sumOf = (values: readonly number[]) => {
  const sum = createExactSum();
  for (const value of values) sum.add(value);
  return sum;
};

// biome-ignore format: a table is read in columns
test.each<[values: number[], expected: number, why: string]>([
  [[],                                   0,                  'nothing'],
  [[1.5],                                1.5,                'one'],
  [[0.1, 0.2],                           0.30000000000000004,'two, rounded once'],
  [[1e308, 1, -1e308],                   1,                  'what plain addition loses'],
  [[1e16, 1, 1, -1e16],                  2,                  'small beside large'],
  [[5e-324, 5e-324, -0, 0],              1e-323,             'subnormal'],
  [[2 ** 53, 1],                         2 ** 53,            'a tie goes to the even one'],
  [[2 ** 53, 1, 5e-324],                 2 ** 53 + 2,        'and up with the least bit more'],
  [[-(2 ** 53), -1, -5e-324],            -(2 ** 53) - 2,     'below 0 alike'],
  [[1e300, 1.5e263, -3e280],             1e300,              'far above 1'],
  [[-Number.MAX_VALUE],                  -Number.MAX_VALUE,  'the largest there is'],
  [[Number.MAX_VALUE, Number.MAX_VALUE], Number.POSITIVE_INFINITY, 'beyond the largest double'],
  [[3, -3],                              0,                  'all away'],
  [[1, Number.NaN],                      Number.NaN,         'not a number'],
  [[1, Number.POSITIVE_INFINITY],        Number.NaN,         'not finite'],
])('the sum of %j is %d: %s', (values, expected) => {
  expect(sumOf(values).value()).toBe(expected);
});

test.prop([fc.double({ noNaN: true, noDefaultInfinity: true })])('one number is its own sum', (value) => {
  expect(sumOf([value]).value()).toBe(value + 0);
});

test('a million terms carry', () => {
  const sum = createExactSum();
  for (let i = 0; i < 1_000_000; i++) sum.add(4294967295.75);
  expect(sum.value()).toBe(4294967295.75e6);
});

describe('any partition, in any order', () => {
  test.prop([
    fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { maxLength: 40 }),
    fc.nat(),
    fc.nat(),
  ])('has the same bytes', (values, cut, turn) => {
    const at = values.length === 0 ? 0 : cut % values.length;
    const by = values.length === 0 ? 0 : turn % values.length;
    const turned = [...values.slice(by), ...values.slice(0, by)].reverse();
    const [left, right] = [sumOf(turned.slice(0, at)), sumOf(turned.slice(at))];
    right.merge(left);
    expect(Object.is(right.value() + 0, sumOf(values).value() + 0)).toBe(true);
  });

  test('one part that is not a number makes all of it so', () => {
    const sum = sumOf([1]);
    sum.merge(sumOf([Number.NaN]));
    expect(sum.value()).toBeNaN();
  });
});
