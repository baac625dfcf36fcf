import { fc, test } from '@fast-check/vitest';
import { describe, expect } from 'vitest';
import { powersOf, totalNames } from '../energy-figures.js';
import { clusteredMean, studentT } from '../statistics.js';
import { blocks } from './blocks.js';
import { crossedEstimate } from './crossed-estimate.js';
import { hierarchicalBootstrap } from './hierarchical-bootstrap.js';
import type { Contribution } from './product-figure.js';
import { drawRun, world } from './synthetic.fixture.js';

const entry = (item: string, repeat: number, above: number, below = 1): Contribution => ({
  item,
  repeat,
  totals: [above, below],
});
const mean = [1, -1];

describe('a figure over items and repeats', () => {
  test('of one repeat is the clustered mean', () => {
    const scores = [1, 0, 1, 1, 0.5];
    const estimate = crossedEstimate(
      scores.map((score, i) => entry(`i${i}`, 0, score)),
      mean,
      'linear',
    )!;
    const { value, lo, hi } = clusteredMean(scores.map((score) => [score]))!;
    expect([estimate.value, estimate.lo, estimate.hi]).toEqual(
      [value, lo, hi].map((x) => expect.closeTo(x, 12)),
    );
    expect(estimate).toMatchObject({ items: 5, repeats: 1, variance: { repeats: null } });
  });

  test('of one item is the mean of its repeats', () => {
    const values = [10, 12, 11];
    const estimate = crossedEstimate(
      values.map((value, repeat) => entry('a', repeat, value)),
      mean,
      'linear',
    )!;
    const { lo, hi } = studentT(values)!;
    expect([estimate.lo, estimate.hi]).toEqual([lo, hi].map((x) => expect.closeTo(x, 12)));
    expect(estimate.variance.items).toBeNull();
  });

  test('takes all noise from run to run for noise of runs, not of items', () => {
    const runs = [1, 1.1, 0.9];
    const cells = runs.flatMap((run, repeat) =>
      [4, 4, 4, 4].map((x, i) => entry(`i${i}`, repeat, x * run, x)),
    );
    const { variance } = crossedEstimate(cells, mean)!;
    expect(Math.sqrt(variance.variance)).toBeCloseTo(0.1 / Math.sqrt(3), 6);
    expect(variance.items?.variance).toBeCloseTo(0, 12);
    expect(variance.df).toBeCloseTo(2, 2);
  });

  test('counts what items and repeats share once: the mean squares of a two-way table', () => {
    const rows = [
      [9, 10, 14],
      [12, 11, 16],
      [15, 17, 18],
    ];
    const cells = rows.flatMap((row, repeat) => row.map((x, i) => entry(`i${i}`, repeat, x)));
    const { variance, value } = crossedEstimate(cells, mean)!;
    const squared = (part: number) => part * value ** 2 * 9;
    expect(squared(variance.items!.variance)).toBeCloseTo(3 * 4.59259, 2);
    expect(squared(variance.repeats!.variance)).toBeCloseTo(3 * 8.25926, 2);
    expect(squared(variance.residual.variance)).toBeCloseTo(1.27778, 4);
    expect(squared(variance.variance)).toBeCloseTo(3 * 4.59259 + 3 * 8.25926 - 1.27778, 3);
  });

  test('adds up several entries of one item and repeat', () => {
    const whole = [entry('a', 0, 3, 2), entry('b', 0, 1, 2), entry('c', 0, 2, 2)];
    const split = [entry('a', 0, 1), entry('a', 0, 2), ...whole.slice(1)];
    const [a, b] = [crossedEstimate(split, mean)!, crossedEstimate(whole, mean)!];
    expect([a.value, a.lo, a.hi, a.items]).toEqual(
      [b.value, b.lo, b.hi, b.items].map((x) => expect.closeTo(x, 12)),
    );
  });

  // biome-ignore format: a table is read in columns
  test.each<[why: string, cells: Contribution[]]>([
    ['none',                       []],
    ['one item in one repeat',     [entry('a', 0, 1)]],
    ['nothing to divide by',       [entry('a', 0, 1, 0), entry('b', 0, 1, 0)]],
    ['a figure that is 0',         [entry('a', 0, 0), entry('b', 0, 0)]],
    ['not a number',               [entry('a', 0, Number.NaN), entry('b', 0, 1)]],
    ['not finite',                 [entry('a', 0, Number.POSITIVE_INFINITY), entry('b', 0, 1)]],
    ['a total is missing',         [{ item: 'a', repeat: 0, totals: [1] }, entry('b', 0, 1)]],
  ])('refuses %s', (_, cells) => {
    expect(crossedEstimate(cells, mean)).toBeNull();
    expect(hierarchicalBootstrap(cells, mean, { seed: 1, draws: 50 })?.lo ?? 0).toBe(0);
  });

  test('ties have no width', () => {
    const cells = [0, 1, 2].flatMap((repeat) => [entry('a', repeat, 2), entry('b', repeat, 2)]);
    expect(crossedEstimate(cells, mean)).toMatchObject({ value: 2, lo: 2, hi: 2 });
  });

  test.prop([fc.integer({ min: 1, max: 1000 })], { numRuns: 10 })(
    'is the same point for everything twice over, under new items or not',
    (seed) => {
      const once = drawRun({ ...world, items: 12 }, seed);
      const twice = [...once, ...once.map((part) => ({ ...part, item: `${part.item} again` }))];
      for (const name of [
        'power_w',
        'ipw_per_w',
        'ipj_per_j',
        'energy_per_token_j',
        'tokens_per_j',
      ] as const) {
        const [a, b] = [crossedEstimate(once, powersOf(name)), crossedEstimate(twice, powersOf(name))];
        if (a === null) expect(b).toBeNull();
        else expect(b!.value / a.value).toBeCloseTo(1, 12);
      }
    },
  );

  test('powers of every figure add up to 0', () => {
    const names = [
      'accuracy',
      'power_w',
      'ipw_per_w',
      'ipj_per_j',
      'energy_per_correct_j',
      'tokens_per_s',
    ] as const;
    for (const name of names) {
      expect(powersOf(name)).toHaveLength(totalNames.length);
      expect(powersOf(name, 'net').reduce((sum, power) => sum + power, 0)).toBe(0);
    }
  });
});

describe('the hierarchical bootstrap', () => {
  const runs = drawRun({ ...world, items: 30, repeats: 15 }, 3);
  const ipj = powersOf('ipj_per_j');

  test('is close to the delta method for many repeats, and the same for the same seed', () => {
    const drawn = hierarchicalBootstrap(runs, ipj, { seed: 1, draws: 2_000 })!;
    const { lo, hi } = crossedEstimate(runs, ipj)!;
    expect(Math.log(drawn.hi / drawn.lo) / Math.log(hi / lo)).toBeGreaterThan(0.85);
    expect(Math.log(drawn.hi / drawn.lo) / Math.log(hi / lo)).toBeLessThan(1.15);
    expect(drawn).toEqual(hierarchicalBootstrap(runs, ipj, { seed: 1, draws: 2_000 }));
    expect(drawn).not.toEqual(hierarchicalBootstrap(runs, ipj, { seed: 2, draws: 2_000 }));
  });

  test('refuses where too many draws have nothing to divide by', () => {
    const rare = Array.from({ length: 4 }, (_, i) => entry(`i${i}`, 0, 1, i === 0 ? 1 : 0));
    expect(hierarchicalBootstrap(rare, mean, { seed: 1, draws: 500 })).toBeNull();
  });
});

describe('blocks', () => {
  const items = Array.from({ length: 45 }, (_, i) => `i${i}`);
  const cells = [0, 1].flatMap((repeat) =>
    (repeat === 0 ? items : items.toReversed()).map((item) => entry(item, repeat, 1)),
  );

  test('are twenty runs of consecutive items of the first repeat, the same in every repeat', () => {
    const made = blocks(cells)!;
    const sizes = new Map<string, number>();
    for (const { item } of made.slice(0, 45)) sizes.set(item, (sizes.get(item) ?? 0) + 1);
    expect([...sizes.values()].toSorted()).toEqual([...Array(15).fill(2), ...Array(5).fill(3)]);
    const blockOf = new Map(made.slice(0, 45).map(({ item }, i) => [items[i], item]));
    expect(made.slice(45).every(({ item }, i) => item === blockOf.get(items[44 - i]))).toBe(true);
  });

  test('are refused below twenty items', () => {
    expect(blocks(cells.filter(({ item }) => Number(item.slice(1)) < 19))).toBeNull();
    expect(blocks([])).toBeNull();
  });
});
