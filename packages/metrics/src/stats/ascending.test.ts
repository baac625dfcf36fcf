import { fc, test as property } from '@fast-check/vitest';
import { expect, test } from 'vitest';
import { ascending } from './ascending.js';

const stable = (values: Float64Array) =>
  [...values.keys()].sort((a, b) => (values[a] ?? 0) - (values[b] ?? 0) || a - b);

property.prop([fc.array(fc.integer({ min: -20, max: 20 }), { maxLength: 200 })])(
  'is the stable order of the values, however many there are and however often they repeat',
  (numbers) => {
    const values = Float64Array.from(numbers);
    expect([...ascending(values)]).toEqual(stable(values));
  },
);

test('orders a long list of which most stands in order', () => {
  const values = Float64Array.from({ length: 50_000 }, (_, i) => i - (i % 7) * 3);
  expect([...ascending(values)]).toEqual(stable(values));
});
