import { instant } from '@perwatt/core';
import { expect, test } from 'vitest';
import { energyInWindow } from '../energy-window.js';
import { seriesOf } from '../series.fixture.js';
import { steadyWindow, tokensInWindow } from './steady-state.js';

const of = (rows: readonly (readonly [dispatch: number, first: number, end: number])[]) => ({
  dispatch_ns: Float64Array.from(rows, ([dispatch]) => dispatch),
  first_any_ns: Float64Array.from(rows, ([, first]) => first),
  end_ns: Float64Array.from(rows, ([, , end]) => end),
});

/** Ten calls in slots of 2: pairs that begin at 0, 10, 20 … and last 10; first tokens after 1 and 2. */
const pairs = of(
  Array.from({ length: 10 }, (_, i) => {
    const at = 10 * Math.floor(i / 2);
    return [at, at + 1 + (i % 2), at + 10] as const;
  }),
);

// biome-ignore format: a table is read in columns
test.each([
  { why: 'the batch is full at the 2nd first token; all but 3 have ended at the 7th end',
    rule: { rule: 'batch_full', batch: 2 } as const, want: [2, 40] },
  { why: 'a batch that never was full', rule: { rule: 'batch_full', batch: 9 } as const, want: null },
  { why: 'two in flight from first to last', rule: { rule: 'plateau', ratio: 1 } as const, want: [0, 50] },
  { why: 'a tenth cut at either end', rule: { rule: 'trim', start: { fraction: 0.1 }, end: { fraction: 0.1 } } as const, want: [5, 45] },
  { why: 'seconds', rule: { rule: 'trim', start: { seconds: 3e-9 }, end: { seconds: 0 } } as const, want: [3, 50] },
  { why: 'two calls at the start, one at the end', rule: { rule: 'trim', start: { calls: 2 }, end: { calls: 1 } } as const, want: [10, 50] },
  { why: 'more calls than there are', rule: { rule: 'trim', start: { calls: 20 }, end: { calls: 1 } } as const, want: null },
  { why: 'nothing is left', rule: { rule: 'trim', start: { fraction: 0.6 }, end: { fraction: 0.6 } } as const, want: null },
])('steady window: $why', ({ rule, want }) => {
  const expected = want === null ? null : { rule: rule.rule, start_ns: want[0], end_ns: want[1] };
  expect(steadyWindow(pairs, rule)).toEqual(expected);
});

test('a plateau is the longest span near the most calls in flight, not the first', () => {
  const calls = of([
    [0, 1, 100],
    [10, 11, 20],
    [40, 41, 90],
    [50, 51, 90],
  ]);
  expect(steadyWindow(calls, { rule: 'plateau', ratio: 0.6 })).toMatchObject({ start_ns: 40, end_ns: 90 });
  expect(steadyWindow(calls, { rule: 'plateau', ratio: 1 })).toMatchObject({ start_ns: 50, end_ns: 90 });
  expect(steadyWindow(of([]), { rule: 'plateau', ratio: 1 })).toBeNull();
});

test('tokens count where they arrived', () => {
  const call = { first_any_ns: 100, icl_ns: [10, 10, 10], tokens: 8 };
  expect(tokensInWindow(call, { start_ns: 0, end_ns: 1000 })).toBe(8);
  expect(tokensInWindow(call, { start_ns: 105, end_ns: 130 })).toBe(4);
  expect(tokensInWindow(call, { start_ns: 131, end_ns: 1000 })).toBe(0);
  expect(tokensInWindow({ ...call, tokens: null }, { start_ns: 0, end_ns: 105 })).toBeNull();
  expect(tokensInWindow({ ...call, tokens: null }, { start_ns: 0, end_ns: 50 })).toBe(0);
  expect(tokensInWindow({ first_any_ns: null, icl_ns: [], tokens: 3 }, { start_ns: 0, end_ns: 9 })).toBe(0);
});

test('a counter that could only be read after the window gives the energy of the window', () => {
  const series = seriesOf([0, 2.666, 5.333, 8, 10.666], (s) => 100 * s, { update_period_ns: 2_700_000_000 });
  const { energy_j } = energyInWindow(series, { start: instant(0n), end: instant(10_000_000_000n) });
  expect(energy_j).toBeCloseTo(1000, 3);
  expect((energy_j ?? 0) / 10).toBeCloseTo(100, 3);
});
