import { fc, test as property } from '@fast-check/vitest';
import { expect, test } from 'vitest';
import { attribute } from '../attribute.js';
import { at, call, every, seriesOf, span, stepped } from '../series.fixture.js';
import { busySpans, totalLength } from '../spans.js';
import { busyLength, shareByTime } from './time-shares.js';

const series = seriesOf(
  every(0.1, 20),
  stepped([
    [0, 10],
    [4, 50],
    [11, 5],
  ]),
);
const window = span(1, 19);

const calls = fc.array(
  fc.record({ start: fc.integer({ min: 0, max: 200 }), length: fc.integer({ min: 1, max: 90 }) }),
  { minLength: 1, maxLength: 25 },
);

const edges = (spans: readonly { start: number; length: number }[]) => ({
  start_ns: Float64Array.from(spans, ({ start }) => Number(at(start / 10) - window.start)),
  end_ns: Float64Array.from(spans, ({ start, length }) => Number(at((start + length) / 10) - window.start)),
});

property.prop([calls])(
  'gives each call what attribution by query gives it, and conserves the energy',
  (spans) => {
    const rows = spans.map(({ start, length }, i) => call(`q${i}`, start / 10, (start + length) / 10));
    const want = attribute(series, [...rows, call('x', 2, 2.1), call('y', 2, 2.1)], window);
    const got = shareByTime(
      series,
      edges([...spans, { start: 20, length: 1 }, { start: 20, length: 1 }]),
      window,
    );
    for (const [i, row] of rows.entries())
      expect(got.energy_j?.[i] ?? Number.NaN).toBeCloseTo(want.queries.get(row.query_id)?.energy_j ?? 0, 6);
    expect(got.unattributed_j ?? Number.NaN).toBeCloseTo(want.unattributed_j ?? 0, 6);
    expect((got.calls_j ?? 0) + (got.unattributed_j ?? 0)).toBeCloseTo(got.meter.energy_j ?? 0, 6);
  },
);

property.prop([calls])('busy time is the union of the calls', (spans) => {
  const rows = spans.map(({ start, length }, i) => call(`q${i}`, start / 10, (start + length) / 10));
  expect(busyLength(edges(spans)) / 1e9).toBeCloseTo(totalLength(busySpans(rows, span(-100, 100))) / 1e9, 6);
});

test('a window that nothing was read in has no energy to share', () => {
  const outside = span(100, 110);
  expect(shareByTime(series, edges([{ start: 0, length: 5 }]), outside)).toMatchObject({
    energy_j: null,
    calls_j: null,
    unattributed_j: null,
  });
});

test('no call at all: everything is unattributed', () => {
  const { calls_j, unattributed_j, meter } = shareByTime(series, edges([]), window);
  expect(calls_j).toBe(0);
  expect(unattributed_j).toBeCloseTo(meter.energy_j ?? 0, 9);
});
