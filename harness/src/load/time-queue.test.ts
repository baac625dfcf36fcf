import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import { timeQueue } from './time-queue.js';

test.prop([fc.array(fc.nat(20))])('things come out by time, ties as they were put in', (times) => {
  const queue = timeQueue<number>();
  for (const [i, at] of times.entries()) queue.push(at, i);
  const out: number[] = [];
  for (let item = queue.shift(); item !== undefined; item = queue.shift()) out.push(item);
  expect(out).toEqual(times.map((_, i) => i).sort((a, b) => (times[a] ?? 0) - (times[b] ?? 0) || a - b));
  expect([queue.length, queue.nextTime()]).toEqual([0, Number.POSITIVE_INFINITY]);
});
