import { fc, test as property } from '@fast-check/vitest';
import { expect, test } from 'vitest';
import { durationFigure, lanesOf, latencyFigure } from './cell-figures.js';
import { densityOf } from './density.js';

test('spans that touch share a lane, those that overlap do not', () => {
  expect(lanesOf([0, 1, 2, 1.5], [1, 2, 3, 2.5])).toEqual([0, 0, 0, 1]);
});

property.prop([
  fc.array(fc.tuple(fc.integer({ min: 0, max: 50 }), fc.integer({ min: 1, max: 20 })), { maxLength: 40 }),
])('in no lane do two spans overlap', (spans) => {
  const [starts, ends] = [spans.map(([start]) => start), spans.map(([start, length]) => start + length)];
  const lanes = lanesOf(starts, ends);
  for (const [i, lane] of lanes.entries())
    for (const [k, other] of lanes.entries())
      if (i < k && lane === other)
        expect((starts[i] ?? 0) >= (ends[k] ?? 0) || (starts[k] ?? 0) >= (ends[i] ?? 0)).toBe(true);
});

property.prop([
  fc.array(
    fc.tuple(fc.double({ min: -1e3, max: 1e3, noNaN: true }), fc.double({ min: 0, max: 50, noNaN: true })),
    {
      minLength: 1,
      maxLength: 200,
    },
  ),
])('a density counts every point once, however they lie', (points) => {
  const { z } = densityOf(
    points.map(([x]) => x),
    points.map(([, y]) => y),
  );
  expect(z.flat().reduce<number>((sum, count) => sum + (count ?? 0), 0)).toBe(points.length);
});

const marks = (count: number) => ({
  start_s: Float64Array.from({ length: count }, (_, i) => i),
  duration_s: new Float64Array(count).fill(1),
  verdict: new Array<string>(count).fill('correct'),
});
const steady = { phases: [], reason: null };

// biome-ignore format: a table is read in columns
test.each([
  [1,       null,      'one query has no course'],
  [1_200,   'scatter', 'as many marks as can be told apart'],
  [100_000, 'heatmap', 'more would hide one another and fill the page'],
] as const)('%d queries are drawn as %s: %s', (count, type, _why) => {
  const figure = durationFigure({ marks: marks(count), steady });
  expect(figure?.data[0] ?? null).toEqual(type === null ? null : expect.objectContaining({ type }));
  expect(JSON.stringify(figure).length).toBeLessThan(120_000);
});

test('a distribution ends at every call, and is drawn in seconds', () => {
  const figure = latencyFigure({ distributions: [{ name: 'First token', n: 2, values: [1e9, 2e9] }] });
  expect(figure?.data[0]).toMatchObject({ name: 'First token (n = 2)', x: [1, 2], y: [0.5, 1] });
  expect(latencyFigure({ distributions: [] })).toBeNull();
});
