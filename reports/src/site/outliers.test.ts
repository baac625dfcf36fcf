import { fc, test as property } from '@fast-check/vitest';
import { expect, test } from 'vitest';
import { fencesOf, labelledRows, outlierLabel } from './outliers.js';

const even = Float64Array.from({ length: 100 }, (_, i) => i + 1);

test('fences stand 1.5 and 3 interquartile ranges beyond the quartiles of the empirical distribution', () => {
  expect(fencesOf(even)).toEqual({ low_severe: -125, low_mild: -50, high_mild: 150, high_severe: 225 });
});

// biome-ignore format: a table is read in columns
test.each([
  [150,   null,          'on the fence is inside'],
  [151,   'high mild',   'beyond the first'],
  [226,   'high severe', 'beyond the second'],
  [-51,   'low mild',    'below the first'],
  [-126,  'low severe',  'below the second'],
  [Number.NaN, null,     'nothing is no outlier'],
] as const)('%f is labelled %s: %s', (value, label, _why) => {
  expect(outlierLabel(value, fencesOf(even)!)).toBe(label);
});

test('too few values have no fences, and missing ones do not count', () => {
  expect(labelledRows(Float64Array.of(1, 1, 1, 1, 1, 1, 1, 100).subarray(1))).toEqual([]);
  const values = Float64Array.of(Number.NaN, 1, 2, 3, 4, 5, 6, 7, 100);
  expect(labelledRows(values)).toEqual([{ row: 8, label: 'high severe' }]);
});

property.prop([fc.float64Array({ minLength: 8, maxLength: 60, min: -1e6, max: 1e6, noNaN: true })])(
  'at least half of all values lie within the fences',
  (values) => {
    expect(labelledRows(values).length).toBeLessThanOrEqual(values.length / 2);
  },
);
