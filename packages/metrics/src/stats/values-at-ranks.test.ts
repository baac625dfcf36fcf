import { fc, test } from '@fast-check/vitest';
import { describe, expect } from 'vitest';
import { valuesAtRanks } from './values-at-ranks.js';

const everyRank = (n: number) => Array.from({ length: n }, (_, rank) => rank);
const picked = (sorted: Float64Array, ranks: readonly number[]) => ranks.map((rank) => sorted[rank]);

/** What is read of an array, so that work that doesn't end, or grows faster than a sort's, can be told without a clock. */
function countingReads(values: Float64Array): { own: Float64Array; reads: () => number } {
  let reads = 0;
  const own = new Proxy(values, {
    get: (target, key) => {
      reads += 1;
      if (reads > 40 * values.length + 1_000) throw new Error(`read ${reads} times`);
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return { own, reads: () => reads };
}

const finite = fc.double({ noNaN: true, noDefaultInfinity: true });
const crowded = fc.oneof(
  finite,
  fc.constantFrom(0, -0, 1, 1, 1, -1, Number.MAX_VALUE, -Number.MAX_VALUE, Number.MIN_VALUE),
  fc.double({ min: 0, max: 1, noNaN: true }),
);

describe('values at ranks', () => {
  test.prop([fc.array(crowded, { minLength: 1, maxLength: 1_500 }), fc.array(fc.nat(), { maxLength: 12 })])(
    'are those that a sort puts there, zeros by their sign, and the values stay as they are',
    (list, picks) => {
      const values = Float64Array.from(list);
      const ranks = [...new Set(picks.map((pick) => pick % values.length))].sort((a, b) => a - b);
      const { own } = countingReads(values);
      expect([...(valuesAtRanks(own, ranks) ?? [])]).toEqual(picked(values.toSorted(), ranks));
      expect([...values]).toEqual(list);
    },
  );

  // biome-ignore format: a table is read in columns
  const shapes: readonly [why: string, of: (i: number, n: number) => number][] = [
    ['all the same',                             () => 7],
    ['all 0',                                    () => 0],
    ['zeros of both signs',                      (i) => (i % 2 === 0 ? 0 : -0)],
    ['ascending',                                (i) => i],
    ['descending',                               (i) => -i],
    ['the greatest one last',                    (i, n) => (i === n - 1 ? 1 : 0)],
    ['the least one last',                       (i, n) => (i === n - 1 ? -1 : 0)],
    ['few distinct',                             (i) => (i * 7919) % 5],
    ['mixed',                                    (i) => Math.sin(i * i)],
    ['one far away: all others in one bucket',   (i, n) => (i === n >> 1 ? 1e300 : Math.sin(i))],
    ['ever farther apart',                       (i) => 2 ** (i % 1_000)],
    ['an extent beyond the greatest number',     (i) => (i % 2 === 0 ? 1 : -1) * Number.MAX_VALUE * Math.cos(i)],
    ['an extent of the least numbers',           (i) => (i % 9) * Number.MIN_VALUE],
  ];

  test.each(shapes)('%s, of every length to 64 and of 257, 300 and 5,000', (_, of) => {
    for (const n of [...everyRank(65), 257, 300, 5_000]) {
      const values = Float64Array.from({ length: n }, (__, i) => of(i, n));
      const found = valuesAtRanks(countingReads(values).own, everyRank(n));
      expect(found === null ? null : [...found]).toEqual(n === 0 ? null : [...values.toSorted()]);
    }
  });

  // biome-ignore format: a table is read in columns
  test.each([
    [Number.NaN,               'a value is not known'],
    [Number.POSITIVE_INFINITY, 'no bucket holds it'],
    [Number.NEGATIVE_INFINITY, 'no bucket holds it'],
  ])('%s anywhere: null, as %s', (bad) => {
    for (const n of [1, 2, 600])
      for (const at of [0, n >> 1, n - 1]) {
        const values = Float64Array.from({ length: n }, (_, i) => (i === at ? bad : i));
        expect(valuesAtRanks(values, [0])).toBeNull();
      }
  });

  test('hundreds of thousands of values: a few reads of each', () => {
    const values = Float64Array.from({ length: 100_000 }, (_, i) => Math.sin(i * i));
    const { own, reads } = countingReads(values);
    const ranks = [0, 500, 50_000, 99_999];
    expect([...(valuesAtRanks(own, ranks) ?? [])]).toEqual(picked(values.toSorted(), ranks));
    expect(reads()).toBeLessThan(8 * values.length);
  });
});
