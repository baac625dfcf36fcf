import { fc, test as propTest } from '@fast-check/vitest';
import { expect, test } from 'vitest';
import { attribute } from './attribute.js';
import { partTime, readOf, truthOf } from './sensor-model.fixture.js';
import { call, span } from './series.fixture.js';
import { attributeByTokens } from './token-share.js';

const second = fc.double({ min: 1.5, max: 18, noNaN: true });
/** Calls of three queries; the first two overlap. */
const calls = fc
  .tuple(second, second, second, second)
  .map((times) => times.toSorted((a, b) => a - b))
  .filter((times) => times.every((time, i) => i === 0 || time - (times[i - 1] ?? 0) > 0.05))
  .map(([a = 0, b = 0, c = 0, d = 0]) => [call('first', a, c), call('second', b, d), call('third', 1, 19)]);

const seconds = (ns: bigint) => Number(ns) / 1e9;

/** What time sharing makes of the truth. */
function trueShares(truth: (seconds: number) => number, spans: readonly ReturnType<typeof call>[]) {
  const edges = [...new Set(spans.flatMap(({ start, end }) => [seconds(start), seconds(end)]))].sort(
    (a, b) => a - b,
  );
  const shares = new Map(spans.map(({ query_id }) => [query_id, 0]));
  for (const [i, to] of edges.slice(1).entries()) {
    const from = edges[i] ?? to;
    const active = spans.filter(({ start, end }) => seconds(start) < to && seconds(end) > from);
    for (const { query_id } of active)
      shares.set(query_id, (shares.get(query_id) ?? 0) + (truth(to) - truth(from)) / active.length);
  }
  return shares;
}

/** Queries whose true share lies outside the bounds. */
function missed([{ load, sensor }, spans]: Case, declared: boolean, byTokens = false): number {
  const series = readOf(load, sensor, declared);
  const window = span(1, 19);
  const { queries } = byTokens
    ? attributeByTokens(
        series,
        spans.map((own) => ({ ...own, arrivals: [] })),
        window,
      )
    : attribute(series, spans, window);
  return [...trueShares(truthOf(load), spans)].filter(([id, share]) => {
    const { lo_j, hi_j } = queries.get(id) ?? { lo_j: Number.NaN, hi_j: Number.NaN };
    return !(lo_j <= share + 1e-6 && share - 1e-6 <= hi_j);
  }).length;
}

const cases = fc.tuple(partTime, calls);
type Case = typeof cases extends fc.Arbitrary<infer T> ? T : never;

propTest.prop([cases], { numRuns: 500 })(
  'a query’s share of a sensor that looks for part of the time holds the true one',
  (one) => {
    expect(missed(one, true)).toBe(0);
    expect(missed(one, true, true)).toBe(0);
  },
);

test('without the declaration, some shares are missed', () => {
  const drawn = fc.sample(cases, { numRuns: 300, seed: 1 });
  expect(drawn.reduce((sum, one) => sum + missed(one, false), 0)).toBeGreaterThan(0);
});

test('a share is off by a step in the part that it has, not by all of it', () => {
  const load = {
    steps: [
      { length_s: 10, watts: 100 },
      { length_s: 10, watts: 600 },
    ],
  };
  const sensor = { update_s: 0.1, lag_share: 0, phase: 0, quantum_j: 0.001, seen: 0.25, seen_at: 0 };
  const width = (n: number, declared: boolean) => {
    const spans = Array.from({ length: n }, (_, i) => call(`q${i}`, 2, 18));
    const { queries } = attribute(readOf(load, sensor, declared), spans, span(1, 19));
    return (queries.get('q0')?.hi_j ?? Number.NaN) - (queries.get('q0')?.lo_j ?? Number.NaN);
  };
  const [alone, among] = [1, 10].map((n) => width(n, true) - width(n, false));
  expect(alone).toBeGreaterThan(0.75 * 0.1 * 500);
  expect((alone ?? 0) / (among ?? 1)).toBeGreaterThan(8);
  expect((alone ?? 0) / (among ?? 1)).toBeLessThanOrEqual(10);
});
