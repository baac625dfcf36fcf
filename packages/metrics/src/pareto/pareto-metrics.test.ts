import { fc, test as propTest } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import { paretoFront } from '../pareto.js';
import { frontShares } from './front-shares.js';
import { hypervolume } from './hypervolume.js';
import { type MetricPoint, metricFront, type ParetoAxis } from './pareto-front.js';

const two: ParetoAxis[] = [
  { metric: 'energy', better: 'lower' },
  { metric: 'accuracy', better: 'higher' },
];
const three: ParetoAxis[] = [...two, { metric: 'seconds', better: 'lower' }];

const point = (
  id: string,
  energy: number | null,
  accuracy: number | null,
  seconds: number | null = 1,
): MetricPoint => ({
  id,
  values: { energy, accuracy, seconds },
});

// biome-ignore format: a table is read in columns
test.each<[why: string, axes: ParetoAxis[], points: MetricPoint[], front: string]>([
  ['no points',                          two,   [],                                                    ''],
  ['one point',                          two,   [point('a', 1, 1)],                                    'a'],
  ['dearer and no better',               two,   [point('a', 1, 0.5), point('b', 2, 0.5)],              'a'],
  ['dearer and better',                  two,   [point('a', 1, 0.5), point('b', 2, 0.6)],              'a b'],
  ['equal points stand together',        two,   [point('a', 1, 0.5), point('b', 1, 0.5)],              'a b'],
  ['no value is no place',               two,   [point('a', null, 0.9), point('b', 2, 0.1)],           'b'],
  ['nor is no number',                   two,   [point('a', Number.NaN, 0.9), point('b', 2, 0.1)],     'b'],
  ['a third axis lets a slow one lose',  three, [point('a', 1, 0.5, 9), point('b', 1, 0.5, 3)],        'b'],
  ['a third axis saves a fast one',      three, [point('a', 1, 0.9, 9), point('b', 2, 0.5, 3)],        'a b'],
  ['on two axes it would lose',          two,   [point('a', 1, 0.9, 9), point('b', 2, 0.5, 3)],        'a'],
])('front: %s', (_why, axes, points, front) => {
  expect(metricFront(points, axes).front.join(' ')).toBe(front);
});

test('names what beats a point, and what a point lacks', () => {
  const found = metricFront([point('a', 1, 0.9), point('b', 2, 0.5), point('c', null, 0.5, null)], three);
  expect(found.beaten).toEqual([{ id: 'b', by: ['a'] }]);
  expect(found.left_out).toEqual([{ id: 'c', reason: 'no energy, seconds' }]);
});

const small = fc.integer({ min: 0, max: 6 });
const points = fc
  .array(fc.tuple(small, small, small), { maxLength: 12 })
  .map((rows) => rows.map(([e, a, s], i) => point(`p${i}`, e, a, s)));

propTest.prop([points])('agrees with the front of two axes by sweep', (list) => {
  const swept = paretoFront(
    list.map(({ id, values }) => ({ id, x: values['energy']!, y: values['accuracy']! })),
  );
  expect(new Set(metricFront(list, two).front)).toEqual(new Set(swept.map(({ id }) => id)));
});

describe('share of draws on the front', () => {
  const drawn = (id: string, energy: (number | null)[], accuracy: (number | null)[]) => ({
    id,
    draws: { energy, accuracy },
  });

  test('counts the draws in which none beats a point', () => {
    const found = frontShares(
      [drawn('a', [1, 1, 1, 1], [0.5, 0.5, 0.5, 0.5]), drawn('b', [2, 2, 2, 2], [0.6, 0.4, 0.5, 0.7])],
      two,
    );
    expect(found).toEqual([
      { id: 'a', share: 1, placed: 4, draws: 4 },
      { id: 'b', share: 0.5, placed: 4, draws: 4 },
    ]);
  });

  test('draws belong together: twins that move alike both stay on the front', () => {
    const moves = [1, 5, 2, 8];
    const found = frontShares([drawn('a', moves, moves), drawn('b', moves, moves)], two);
    expect(found.map(({ share }) => share)).toEqual([1, 1]);
  });

  test('a draw without a value is none on the front, and beats nobody', () => {
    const found = frontShares([drawn('a', [1, null], [1, 1]), drawn('b', [2, 2], [0.5, 0.5])], two);
    expect(found.map(({ share, placed }) => [share, placed])).toEqual([
      [0.5, 1],
      [0.5, 2],
    ]);
  });

  // biome-ignore format: a table is read in columns
  test.each<[why: string, list: ReturnType<typeof drawn>[], shares: (number | null)[]]>([
    ['no points',            [],                                                         []],
    ['no draws',             [drawn('a', [], [])],                                       [null]],
    ['a metric not drawn',   [{ id: 'a', draws: { energy: [1] } } as never],             [null]],
    ['unequal numbers',      [drawn('a', [1, 1, 9], [1, 1, 0]), drawn('b', [2], [2])],   [1, 1]],
  ])('%s', (_why, list, shares) => {
    expect(frontShares(list, two).map(({ share }) => share)).toEqual(shares);
  });
});

describe('hypervolume', () => {
  const reference = { energy: 10, accuracy: 0, seconds: 10 };

  // biome-ignore format: a table is read in columns
  test.each<[why: string, axes: ParetoAxis[], points: MetricPoint[], volume: number]>([
    ['nothing',                              two,   [],                                              0],
    ['one rectangle',                        two,   [point('a', 4, 0.5)],                            3],
    ['a stair',                              two,   [point('a', 4, 0.5), point('b', 8, 1)],          4],
    ['twice the same',                       two,   [point('a', 4, 0.5), point('b', 4, 0.5)],        3],
    ['a beaten point adds nothing',          two,   [point('a', 4, 0.5), point('b', 5, 0.5)],        3],
    ['on the edge of the reference',         two,   [point('a', 10, 1), point('b', 4, 0)],           0],
    ['beyond it',                            two,   [point('a', 12, 1)],                             0],
    ['without a value',                      two,   [point('a', null, 1)],                           0],
    ['one box',                              three, [point('a', 4, 0.5, 8)],                         6],
    ['a box that crosses another',           three, [point('a', 4, 0.5, 8), point('b', 8, 1, 6)],    6 + 8 - 2],
    ['boxes of one height',                  three, [point('a', 4, 0.5, 8), point('b', 8, 1, 8)],    8],
  ])('%s', (_why, axes, list, volume) => {
    expect(hypervolume(list, axes, reference)).toBeCloseTo(volume, 12);
  });

  /** Volume of the unit cells that some point covers, for whole coordinates. */
  const side = [0, 1, 2, 3, 4, 5];
  const cells = side.flatMap((e) => side.flatMap((a) => side.map((s) => [e, a, s] as const)));
  const counted = (list: readonly MetricPoint[]) =>
    cells.filter(([e, a, s]) =>
      list.some(({ values: v }) => v['energy']! <= e && v['accuracy']! > a && v['seconds']! <= s),
    ).length;

  propTest.prop([points])('is the number of unit cells that whole points cover', (list) => {
    expect(hypervolume(list, three, { energy: 6, accuracy: 0, seconds: 6 })).toBeCloseTo(counted(list), 9);
  });

  propTest.prop([points])('is that of the front alone, and never falls with another point', (list) => {
    const at = { energy: 7, accuracy: -1, seconds: 7 };
    const front = new Set(metricFront(list, three).front);
    const whole = hypervolume(list, three, at);
    expect(
      hypervolume(
        list.filter(({ id }) => front.has(id)),
        three,
        at,
      ),
    ).toBeCloseTo(whole, 9);
    expect(hypervolume(list.slice(1), three, at)).toBeLessThanOrEqual(whole + 1e-9);
  });

  // biome-ignore format: a table is read in columns
  test.each<[axes: ParetoAxis[], at: Record<string, number>, message: RegExp]>([
    [two.slice(0, 1),                                        reference,                  /a hypervolume of 1 axes/],
    [[...three, { metric: 'cost', better: 'lower' }],        { ...reference, cost: 1 },  /a hypervolume of 4 axes/],
    [two,                                                    { energy: 1 },              /the reference point lacks a finite value/],
  ])('refuses %#', (axes, at, message) => {
    expect(() => hypervolume([], axes, at)).toThrow(message);
  });
});
