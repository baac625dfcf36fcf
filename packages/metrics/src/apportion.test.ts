import { fc, test as propTest } from '@fast-check/vitest';
import { expect, test } from 'vitest';
import { apportionNanojoules } from './apportion.js';

// biome-ignore format: a table is read in columns
test.each<[shares: [string, number][], total_j: number, parts: string, why: string]>([
  [[['a', 1], ['b', 1], ['c', 1]],   1e-8,  '4, 3, 3',             'equal remainders go to the earlier key'],
  [[['a', 1], ['b', 2]],             1e-8,  '3, 7',                 'the largest remainder takes what is left'],
  [[['a', 0], ['b', 5]],             5,     '0, 5000000000',     'nothing of no share'],
  [[['a', 0]],                       0,     '0',                     'nothing of nothing'],
  [[],                               0,     '',                       'nobody'],
  [[['a', 1e9], ['b', 1e-9]],        1e9,   '999999999999999999, 1', 'a gigajoule beside a nanojoule'],
])('%j of %d J gives %s: %s', (shares, total_j, parts) => {
  expect([...apportionNanojoules(new Map(shares), total_j).values()].join(', ')).toBe(parts);
});

// biome-ignore format: a table is read in columns
test.each<[shares: [string, number][], total_j: number, why: string]>([
  [[['a', -1], ['b', 2]], 1,          'a negative share'],
  [[['a', Number.NaN]],   1,          'a share that is no number'],
  [[['a', 1]],            Number.POSITIVE_INFINITY, 'a total without end'],
  [[['a', 0]],            1,          'nobody to take it'],
  [[],                    1,          'nobody at all'],
])('%j of %d J is refused: %s', (shares, total_j) => {
  expect(() => apportionNanojoules(new Map(shares), total_j)).toThrow(expect.objectContaining({ code: 'INPUT_INVALID' }));
});

propTest.prop([
  fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 200 }),
  fc.double({ min: 0, max: 1e8, noNaN: true }),
])(
  'parts sum to the total, each within a nanojoule of its quota or what a double can hold',
  (shares, total_j) => {
    fc.pre(shares.some((share) => share > 1e-6));
    const parts = [
      ...apportionNanojoules(new Map(shares.map((share, i) => [`q${i}`, share])), total_j).values(),
    ];
    const total = BigInt(Math.round(total_j * 1e9));
    const sum = shares.reduce((acc, share) => acc + share, 0);
    expect(parts.reduce((acc, part) => acc + part, 0n)).toBe(total);
    parts.forEach((part, i) => {
      expect(Math.abs(Number(part) - (shares[i]! / sum) * Number(total))).toBeLessThanOrEqual(
        1 + 1e-14 * Number(total),
      );
    });
  },
);
