import { expect, test } from 'vitest';
import { call, span } from './series.fixture.js';
import { busySpans, idleSpans, totalLength } from './spans.js';

// biome-ignore format: a table is read in columns
test.each<[calls: [number, number][], busy: [number, number][], idle: [number, number][], why: string]>([
  [[],                         [],                  [[0, 10]],                 'nothing in flight'],
  [[[2, 4], [1, 3]],           [[1, 4]],            [[0, 1], [4, 10]],         'overlapping calls, out of order'],
  [[[1, 5], [2, 3]],           [[1, 5]],            [[0, 1], [5, 10]],         'one inside the other'],
  [[[1, 2], [2, 3]],           [[1, 3]],            [[0, 1], [3, 10]],         'touching calls are one span'],
  [[[1, 2], [4, 5]],           [[1, 2], [4, 5]],    [[0, 1], [2, 4], [5, 10]], 'a gap between them'],
  [[[-5, 1], [9, 20]],         [[0, 1], [9, 10]],   [[1, 9]],                  'clipped to the window'],
  [[[-5, 20]],                 [[0, 10]],           [],                        'busy all along'],
  [[[-5, -1], [10, 11], [3, 3]], [],                [[0, 10]],                 'outside, at the open end, of no length'],
])('calls %j are busy over %j and idle over %j: %s', (calls, busy, idle) => {
  const window = span(0, 10);
  const union = busySpans(calls.map(([start, end], i) => call(`q${i}`, start, end)), window);
  expect(union).toEqual(busy.map(([start, end]) => span(start, end)));
  expect(idleSpans(window, union)).toEqual(idle.map(([start, end]) => span(start, end)));
  expect(totalLength(union) + totalLength(idleSpans(window, union))).toBe(10e9);
});
