import { fc, test as propTest } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import { attribute } from './attribute.js';
import { at, call, every, seriesOf, span, stepped } from './series.fixture.js';

const energies = (attribution: ReturnType<typeof attribute>) =>
  Object.fromEntries(
    [...attribution.queries].map(([id, { energy_j }]) => [id, Math.round(energy_j * 1e6) / 1e6]),
  );

describe('idle 2 s, A alone 5 s, A and B 5 s, idle 1 s', () => {
  const calls = [call('A', 2, 12), call('B', 7, 12)];

  // biome-ignore format: a table is read in columns
  test.each<[power: [number, number][], a: number, b: number, idle: number, why: string]>([
    [[[0, 100]],                                   750, 250, 300, 'steady power is shared by time alone'],
    [[[0, 100], [2, 60], [7, 160], [12, 100]],     700, 400, 300, 'each interval has its own power'],
  ])('%j gives A %d J, B %d J, unattributed %d J: %s', (power, a, b, idle) => {
    const shared = attribute(seriesOf(every(0.1, 13), stepped(power)), calls, span(0, 13));
    expect(energies(shared)).toEqual({ A: a, B: b });
    expect(shared.unattributed_j).toBeCloseTo(idle, 6);
    expect(shared).toMatchObject({ method: 'time_share', reason: null });
  });

  test('bounds of a share grow with the part of an edge it has', () => {
    const shared = attribute(
      seriesOf(every(0.1, 13), (s) => 100 * s, { update_period_ns: 1e8 }),
      calls,
      span(0, 13),
    );
    const { energy_j, lo_j, hi_j } = shared.queries.get('B')!;
    expect(hi_j - energy_j).toBeCloseTo(10 / 2 + 10 / 2, 6);
    expect(energy_j - lo_j).toBeCloseTo(10, 6);
  });
});

describe('method', () => {
  const series = seriesOf(every(0.05, 20), (s) => 50 * s, { update_period_ns: 1e6 });
  // biome-ignore format: a table is read in columns
  test.each<[why: string, method: string, calls: ReturnType<typeof call>[]]>([
    ['one query at a time, long enough',        'isolated',   [call('a', 1, 2), call('b', 2, 3)]],
    ['parallel calls of one query are its own', 'isolated',   [call('a', 1, 2), call('a', 1.2, 1.9), call('b', 2, 3)]],
    ['two queries overlap',                     'time_share', [call('a', 1, 2), call('b', 1.999, 3)]],
    ['shorter than 200 update periods',         'time_share', [call('a', 1, 2), call('b', 2, 2.199)]],
    ['just 200 update periods',                 'isolated',   [call('a', 1, 2), call('b', 2, 2.2)]],
    ['no query at all is no allocation',        'isolated',   []],
  ])('%s: %s', (_, method, calls) => {
    expect(attribute(series, calls, span(0, 20)).method).toBe(method);
  });

  test('each query has its own: one that is too short to be measured makes no other one so', () => {
    const { queries, method } = attribute(series, [call('a', 1, 2), call('b', 2, 2.1)], span(0, 20));
    expect([...queries].map(([id, query]) => [id, query.method])).toEqual([
      ['a', 'isolated'],
      ['b', 'time_share'],
    ]);
    expect(method).toBe('time_share');
  });

  test('two readings are the least however fast the sensor is', () => {
    const rare = seriesOf(every(1, 20), (s) => 50 * s);
    expect(attribute(rare, [call('a', 1, 2.9)], span(0, 20)).method).toBe('time_share');
    expect(attribute(rare, [call('a', 1, 3)], span(0, 20)).method).toBe('isolated');
  });
});

test('a query gets the energy of all its calls, and a call of no length gets none', () => {
  const series = seriesOf(every(0.1, 10), (s) => 10 * s);
  const calls = [call('a', 1, 2), call('b', 1, 2), call('a', 5, 7), call('c', 8, 8)];
  const shared = attribute(series, calls, span(0, 10));
  expect(energies(shared)).toEqual({ a: 25, b: 5, c: 0 });
});

test('calls count only inside the window', () => {
  const series = seriesOf(every(0.1, 10), (s) => 10 * s);
  const shared = attribute(series, [call('a', 1, 4), call('b', 3, 9), call('c', 9.5, 9.9)], span(2, 5));
  expect(energies(shared)).toEqual({ a: 15, b: 15, c: 0 });
  expect(shared.unattributed_j).toBe(0);
});

test('no energy of the meter, no energy of anything', () => {
  const shared = attribute(
    seriesOf(every(0.1, 1), (s) => s),
    [call('a', 1, 2)],
    span(0, 20),
  );
  expect(shared).toMatchObject({
    method: 'none',
    queries_j: null,
    unattributed_j: null,
    reason: 'not_covered',
  });
  expect(shared.queries.size).toBe(0);
});

const anyCalls = fc.array(
  fc.record({
    query: fc.integer({ min: 0, max: 12 }),
    start_ns: fc.integer({ min: 0, max: 9e9 }),
    length_ns: fc.integer({ min: 0, max: 4e9 }),
  }),
  { maxLength: 60 },
);
const powers = fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 10, maxLength: 10 });

propTest.prop([anyCalls, powers])('queries and the unattributed rest add up to the meter', (calls, watts) => {
  const series = seriesOf(every(0.1, 10), stepped(watts.map((w, i) => [i, w])));
  const spans = calls.map(({ query, start_ns, length_ns }) => ({
    query_id: `q${query}`,
    start: at(start_ns / 1e9),
    end: at((start_ns + length_ns) / 1e9),
  }));
  const { meter, queries, queries_j, unattributed_j } = attribute(series, spans, span(0, 10));
  const total = meter.energy_j!;
  expect(Math.abs(queries_j! + unattributed_j! - total)).toBeLessThanOrEqual(1e-9 * Math.max(total, 1e-3));
  for (const { energy_j, lo_j, hi_j } of queries.values()) {
    expect(energy_j).toBeGreaterThanOrEqual(-1e-9);
    expect(lo_j).toBeLessThanOrEqual(energy_j + 1e-9);
    expect(hi_j).toBeGreaterThanOrEqual(energy_j - 1e-9);
  }
});
