import { describe, expect, test } from 'vitest';
import { powersOf } from '../energy-figures.js';
import { type Paired, type PairedEstimate, pairedDifference, pairedRatio } from './paired.js';
import type { Contribution } from './product-figure.js';
import { drawRun, world } from './synthetic.fixture.js';

const told = (paired: Paired): PairedEstimate => {
  if ('reason' in paired) throw new Error(paired.reason);
  return paired;
};
const scores = (text: string): Contribution[] =>
  [...text].map((score, i) => ({ item: `i${i}`, repeat: 0, totals: [Number(score), 1] }));

describe('a paired difference', () => {
  const [a, b] = [scores('1101011011'), scores('1001001010')];

  test('of 1101011011 and 1001001010 is 0.3 with standard error 0.152753', () => {
    const paired = told(pairedDifference(b, a));
    expect(paired).toMatchObject({ items: 10, repeats: 1, dropped_items: 0 });
    expect(paired.value).toBeCloseTo(0.3, 12);
    expect(paired.hi - paired.value).toBeCloseTo(2.262157 * 0.152753, 5);
    expect(paired.p).toBeCloseTo(0.081126, 5);
    expect(paired.detectable).toBeCloseTo((2.262157 + 0.841621) * 0.152753, 5);
  });

  test('turns around with the systems', () => {
    const [there, back] = [told(pairedDifference(a, b)), told(pairedDifference(b, a))];
    expect(back.value).toBeCloseTo(-there.value, 12);
    expect([back.lo, back.hi]).toEqual([expect.closeTo(-there.hi, 12), expect.closeTo(-there.lo, 12)]);
    expect(back.p).toBeCloseTo(there.p, 12);
  });

  test('takes common items alone and says how many it dropped', () => {
    const more = [...b, { item: 'x', repeat: 0, totals: [1, 1] }, { item: 'i0', repeat: 1, totals: [0, 1] }];
    const paired = told(pairedDifference(more, a));
    expect(paired.value).toBeCloseTo(0.3, 12);
    expect(paired.dropped_items).toBe(1);
  });

  test('may be one of figures that are 0, also as accuracy among the totals of a cell', () => {
    const [none, half] = [scores('0000'), scores('1010')];
    const wide = (entries: Contribution[]) =>
      entries.map((entry) => ({ ...entry, totals: [...entry.totals, 1, 2, 3, 4, 5, 6] }));
    expect(told(pairedDifference(none, half)).value).toBe(0.5);
    expect(pairedDifference(wide(none), wide(half), powersOf('accuracy'))).toEqual(
      pairedDifference(none, half),
    );
  });

  test('leaves out items that one of the two has no score of', () => {
    const unscored = { item: 'i0', repeat: 0, totals: [0, 0] };
    const paired = told(pairedDifference(scores('110'), [unscored, ...scores('010').slice(1)]));
    expect(paired).toMatchObject({ value: 0, a: 0.5, b: 0.5, items: 2, dropped_items: 1 });
  });

  const share = (n: number) => 1.959963984540054 ** 2 / (n + 1.959963984540054 ** 2);
  // biome-ignore format: a table is read in columns
  test.each<[a: string, b: string, lo: number, hi: number, p: number, why: string]>([
    ['1101011011', '1101011011', -share(10),       share(10), 1,      'ten that agree may hide one that does not'],
    ['000',        '111',        1 - 2 * share(3), 1,         0.125,  'three of three show little'],
    ['11111111',   '00000000',   -1,               2 * share(8) - 1, 2 ** -8, 'eight of eight show it'],
  ])('of %s and %s, the same on every item, has the width of an unseen share', (left, right, ...expected) => {
    const [lo, hi, p] = expected;
    const paired = told(pairedDifference(scores(left), scores(right)));
    expect([paired.lo, paired.hi, paired.p]).toEqual([lo, hi, p].map((x) => expect.closeTo(x, 12)));
    expect(paired.detectable).toBeGreaterThan(0);
  });

  test('keeps its small width over many items', () => {
    const paired = told(pairedDifference(scores('10'.repeat(500)), scores('10'.repeat(500))));
    expect(paired.hi).toBeLessThan(0.004);
    expect(paired.lo).toBeGreaterThan(-0.004);
  });

  test('of energy a query is in joules', () => {
    const paired = told(
      pairedDifference(
        drawRun(world, 1),
        drawRun({ ...world, joules: 60 }, 2, 1),
        powersOf('energy_per_query_j'),
      ),
    );
    expect(paired.value).toBeCloseTo(paired.b - paired.a, 12);
    expect(paired.lo).toBeLessThan(20);
    expect(paired.hi).toBeGreaterThan(20);
  });

  // biome-ignore format: a table is read in columns
  test.each<[why: string, a: Contribution[], b: Contribution[], reason: string]>([
    ['none',                    [],             [],             'nothing_shared'],
    ['nothing in common',       scores('1'),    [{ item: 'x', repeat: 0, totals: [1, 1] }], 'nothing_shared'],
    ['one item',                scores('1'),    scores('0'),    'one_item_one_repeat'],
    ['not a number',            [{ item: 'i0', repeat: 0, totals: [Number.NaN, 1] }], scores('1'), 'no_value'],
    ['nothing to divide by',    [{ item: 'i0', repeat: 0, totals: [1, 0] }], scores('1'), 'nothing_shared'],
  ])('is refused for %s', (_, left, right, reason) => {
    expect(pairedDifference(left, right)).toEqual({ reason });
  });

  test('two items are the fewest', () => {
    expect(told(pairedDifference(scores('00'), scores('10'))).items).toBe(2);
  });
});

describe('a paired ratio', () => {
  const ipj = powersOf('ipj_per_j');
  const a = drawRun({ ...world, run_cv: 0.01 }, 1);
  const b = drawRun({ ...world, run_cv: 0.01, joules: 80 }, 2, 1);

  test('leaves out what is common to an item: it is far narrower than either figure', () => {
    const paired = told(pairedRatio(a, b, powersOf('energy_per_query_j')));
    expect(paired.lo).toBeLessThan(2);
    expect(paired.hi).toBeGreaterThan(2);
    expect(paired.hi / paired.lo).toBeLessThan(1.15);
  });

  test('turns around with the systems', () => {
    const [there, back] = [told(pairedRatio(a, b, ipj)), told(pairedRatio(b, a, ipj))];
    expect(back.lo * there.hi).toBeCloseTo(1, 12);
    expect(back.value).toBeCloseTo(1 / there.value, 12);
    expect(there.p).toBeLessThan(0.01);
  });

  test('does not gain from which repeat stands beside which', () => {
    const noisy = drawRun({ ...world, run_cv: 0.2 }, 5);
    const same = noisy.map((part) => ({
      ...part,
      totals: part.totals.map((x, k) => (k === 4 ? x * 1.01 : x)),
    }));
    const paired = told(pairedRatio(noisy, same, powersOf('energy_per_query_j')));
    expect(paired.lo).toBeLessThan(1);
    expect(paired.hi).toBeGreaterThan(1.02);
  });

  test('of a figure that is 0 is refused', () => {
    expect(pairedRatio(scores('00'), scores('11'), [1, -1])).toEqual({ reason: 'no_value' });
    expect(pairedRatio(scores('11'), scores('00'), [1, -1])).toEqual({ reason: 'no_value' });
  });
});
