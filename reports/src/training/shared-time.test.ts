import { fc, test } from '@fast-check/vitest';
import { instant } from '@perwatt/core';
import { expect, test as plain } from 'vitest';
import { sharedTime } from './shared-time.js';

const span = (query_id: string, start: number, end: number) => ({
  query_id,
  start: instant(BigInt(start) * 1_000_000_000n),
  end: instant(BigInt(end) * 1_000_000_000n),
});

plain('spans that overlap share their time, others have all of it', () => {
  const times = sharedTime([span('a', 0, 4), span('b', 2, 6), span('a', 8, 9), span('c', 7, 7)]);
  expect([...times]).toEqual([
    ['a', 4],
    ['b', 3],
  ]);
  expect(sharedTime([])).toEqual(new Map());
});

const some = fc.array(
  fc
    .tuple(fc.nat(3), fc.nat(20), fc.nat(10))
    .map(([key, start, length]) => span(`k${key}`, start, start + length)),
  { maxLength: 12 },
);

test.prop([some])('all times add up to the length of the spans put together', (spans) => {
  const seconds = Array.from({ length: 31 }, (_, at) =>
    spans.some(({ start, end }) => Number(start) <= at * 1e9 && at * 1e9 < Number(end)) ? 1 : 0,
  ).reduce<number>((sum, own) => sum + own, 0);
  const total = [...sharedTime(spans).values()].reduce((sum, own) => sum + own, 0);
  expect(total).toBeCloseTo(seconds, 9);
});
