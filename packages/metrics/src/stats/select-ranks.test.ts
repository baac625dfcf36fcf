import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import { selectRanks } from './select-ranks.js';

const ascending = (values: Iterable<number>) => [...new Set(values)].sort((a, b) => a - b);

test.prop([
  fc.float64Array({ noNaN: true, minLength: 1, maxLength: 3_000 }),
  fc.array(fc.nat(), { maxLength: 9 }),
])('every rank has the value that a sort puts there', (values, picks) => {
  const ranks = ascending(picks.map((pick) => pick % values.length));
  const sorted = values.toSorted();
  selectRanks(values, ranks);
  for (const rank of ranks) expect(values[rank]! - sorted[rank]! || 0).toBe(0);
  expect(values.toSorted().map((own) => own + 0)).toEqual(sorted.map((own) => own + 0));
});

// biome-ignore format: a table is read in columns
const shapes: readonly [string, (i: number) => number][] = [
  ['all the same',  () => 1],
  ['ascending',     (i) => i],
  ['descending',    (i) => -i],
  ['few distinct',  (i) => (i * 7919) % 5],
  ['mixed',         (i) => Math.sin(i * i)],
];

test.each(shapes)('20,000 values, %s', (_, of) => {
  const values = Float64Array.from({ length: 20_000 }, (__, i) => of(i));
  const [sorted, ranks] = [values.toSorted(), [0, 1, 9_800, 10_000, 10_200, 19_800, 19_999]];
  selectRanks(values, ranks);
  for (const rank of ranks) expect(values[rank]).toBe(sorted[rank]);
});
