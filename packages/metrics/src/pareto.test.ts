import { fc, test as propTest } from '@fast-check/vitest';
import { expect, test } from 'vitest';
import { paretoFront } from './pareto.js';

type Pair = [x: number, y: number];

// biome-ignore format: a table is read in columns
test.each<[points: Pair[], front: Pair[], why: string]>([
  [[],                                  [],                        'no points'],
  [[[5, 0.5]],                          [[5, 0.5]],                'one point'],
  [[[1, 0.2], [2, 0.8], [3, 0.5]],      [[1, 0.2], [2, 0.8]],      'costs more and is worse'],
  [[[2, 0.8], [1, 0.8]],                [[1, 0.8]],                'as good for less'],
  [[[1, 0.2], [1, 0.8]],                [[1, 0.8]],                'better for as much'],
  [[[1, 0.8], [1, 0.8], [2, 0.8]],      [[1, 0.8], [1, 0.8]],      'equal points stand together'],
  [[[Number.NaN, 1], [1, 0.1]],         [[1, 0.1]],                'what is no number is left out'],
])('of %j is %j: %s', (points, front) => {
  expect(paretoFront(points.map(([x, y]) => ({ x, y }))).map(({ x, y }) => [x, y])).toEqual(front);
});

const point = fc.record({ x: fc.integer({ min: 0, max: 9 }), y: fc.integer({ min: 0, max: 9 }) });

propTest.prop([fc.array(point)])('a point is on the front just when none beats it', (points) => {
  const beaten = (p: { x: number; y: number }) =>
    points.some((q) => q.x <= p.x && q.y >= p.y && (q.x < p.x || q.y > p.y));
  expect(new Set(paretoFront(points))).toEqual(new Set(points.filter((p) => !beaten(p))));
});
