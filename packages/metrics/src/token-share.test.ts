import { fc, test as propTest } from '@fast-check/vitest';
import { expect, test } from 'vitest';
import { attribute } from './attribute.js';
import { at, call, every, seriesOf, span, stepped } from './series.fixture.js';
import { attributeByTokens, type TokenCall } from './token-share.js';

/** A call that gives `tokens` one by one, evenly over each of its stretches `[from_s, to_s, tokens]`. */
function tokenCall(
  query_id: string,
  [start, end]: readonly [number, number],
  stretches: readonly (readonly [from: number, to: number, tokens: number])[],
): TokenCall {
  const arrivals = stretches.flatMap(([from, to, tokens]) =>
    Array.from({ length: tokens }, (_, i) => ({
      at: at(from + (i * (to - from)) / tokens),
      tokens: 1,
    })),
  );
  return { ...call(query_id, start, end), arrivals };
}

/** Idle 2 s; A alone 5 s with 100 tokens; A 50 and B 150 tokens for 5 s; idle 1 s. */
const a = tokenCall(
  'A',
  [2, 12],
  [
    [2, 7, 100],
    [7, 12, 50],
  ],
);
const b = tokenCall('B', [7, 12], [[7, 12, 150]]);
const steady = seriesOf(every(0.1, 13), (s) => 100 * s);
const stepping = seriesOf(
  every(0.1, 13),
  stepped([
    [0, 100],
    [2, 60],
    [7, 160],
    [12, 100],
  ]),
);

// biome-ignore format: a table is read in columns
test.each([
  ['a steady draw',                           steady,   625, 375, 750, 250],
  ['more drawn while both are in flight',     stepping, 500, 600, 700, 400],
] as const)('%s is shared by tokens, or by time', (_why, series, byTokensA, byTokensB, byTimeA, byTimeB) => {
  const shared = attributeByTokens(series, [a, b], span(0, 13));
  expect(shared.queries.get('A')?.energy_j).toBeCloseTo(byTokensA, 6);
  expect(shared.queries.get('B')?.energy_j).toBeCloseTo(byTokensB, 6);
  expect(shared.unattributed_j).toBeCloseTo(300, 6);
  expect(shared.method).toBe('token_share');
  const timed = attribute(series, [a, b], span(0, 13)).queries;
  expect(timed.get('A')?.energy_j).toBeCloseTo(byTimeA, 6);
  expect(timed.get('B')?.energy_j).toBeCloseTo(byTimeB, 6);
});

test('calls that still read their prompts share equally; a call without any token pays only there', () => {
  const late = tokenCall('late', [0, 4], [[2, 4, 10]]);
  const mute = tokenCall('mute', [0, 4], []);
  const { queries } = attributeByTokens(steady, [late, mute], span(0, 4));
  expect(queries.get('late')?.energy_j).toBeCloseTo(100 + 200, 6);
  expect(queries.get('mute')?.energy_j).toBeCloseTo(100, 6);
});

test('a meter without energy has nothing to share', () => {
  const { method, queries, queries_j } = attributeByTokens(steady, [a], span(20, 30));
  expect([method, queries.size, queries_j]).toEqual(['none', 0, null]);
});

const anyCall = fc
  .record({
    query: fc.constantFrom('p', 'q', 'r'),
    start: fc.integer({ min: -1000, max: 12_000 }),
    length: fc.integer({ min: 1, max: 8000 }),
    steps: fc.array(
      fc.record({ gap: fc.integer({ min: 1, max: 900 }), tokens: fc.integer({ min: 0, max: 9 }) }),
      {
        maxLength: 12,
      },
    ),
  })
  .map(({ query, start, length, steps }): TokenCall => {
    let time = start;
    const arrivals = steps.flatMap(({ gap, tokens }) => {
      time += gap;
      return time <= start + length ? [{ at: at(time / 1e3), tokens }] : [];
    });
    return { ...call(query, start / 1e3, (start + length) / 1e3), arrivals };
  });

propTest.prop([fc.array(anyCall, { maxLength: 8 }), fc.constantFrom(steady, stepping)])(
  'queries and the unattributed rest add up to the meter, each inside its bounds',
  (calls, series) => {
    const shared = attributeByTokens(series, calls, span(0.5, 12.5));
    expect((shared.queries_j ?? 0) + (shared.unattributed_j ?? 0)).toBeCloseTo(shared.meter.energy_j ?? 0, 5);
    for (const { energy_j, lo_j, hi_j } of shared.queries.values()) {
      expect(energy_j).toBeGreaterThanOrEqual(-1e-9);
      expect(lo_j).toBeLessThanOrEqual(energy_j + 1e-9);
      expect(hi_j).toBeGreaterThanOrEqual(energy_j - 1e-9);
    }
  },
);
