import { fc, test as propTest } from '@fast-check/vitest';
import { expect, test } from 'vitest';
import { phaseEnergy } from './phase-energy.js';
import { at, every, seriesOf, stepped } from './series.fixture.js';

/** 50 W idle, 300 W while the prompt is read, 150 W while tokens come. */
const series = seriesOf(
  every(0.05, 20),
  stepped([
    [0, 50],
    [5, 300],
    [6, 150],
    [14, 50],
  ]),
);

test('a call costs what its prompt, its tokens and its end cost', () => {
  const stamps = { start: at(5), first_any: at(6), last_content: at(14), end: at(15) };
  const { whole, prefill, decode, rest, reason } = phaseEnergy(series, stamps);
  expect(reason).toBeNull();
  expect(prefill?.energy_j).toBeCloseTo(300, 6);
  expect(decode?.energy_j).toBeCloseTo(1200, 6);
  expect(rest?.energy_j).toBeCloseTo(50, 6);
  expect(whole.energy_j).toBeCloseTo(1550, 6);
});

// biome-ignore format: a table is read in columns
test.each([
  ['no output at all',            null, null, 'no_output'],
  ['output before it was sent',   4,    10,   'stamps_out_of_order'],
  ['the last before the first',   10,   9,    'stamps_out_of_order'],
  ['output after its end',        6,    16,   'stamps_out_of_order'],
] as const)('has no phases: %s', (_why, first, last, wanted) => {
  const stamp = (s: number | null) => (s === null ? null : at(s));
  const phases = phaseEnergy(series, { start: at(5), first_any: stamp(first), last_content: stamp(last), end: at(15) });
  expect(phases).toMatchObject({ prefill: null, decode: null, rest: null, reason: wanted });
  expect(phases.whole.energy_j).toBeCloseTo(1550, 6);
});

test('a call that ends with its only token has nothing to decode, and says so', () => {
  const phases = phaseEnergy(series, { start: at(5), first_any: at(6), last_content: at(6), end: at(6) });
  expect(phases.decode).toMatchObject({ energy_j: null, reason: 'empty_window' });
  expect(phases.rest).toMatchObject({ energy_j: null, reason: 'empty_window' });
  expect(phases.prefill?.energy_j).toBeCloseTo(300, 6);
});

propTest.prop([fc.array(fc.integer({ min: 0, max: 20_000 }), { minLength: 4, maxLength: 4 })])(
  'phases add up to the call',
  (times) => {
    const [start, first, last, end] = times.toSorted((a, b) => a - b).map((ms) => at(ms / 1e3));
    fc.pre(start !== end);
    const phases = phaseEnergy(series, { start: start!, first_any: first!, last_content: last!, end: end! });
    const parts = [phases.prefill, phases.decode, phases.rest].map((part) => part?.energy_j ?? 0);
    expect(parts.reduce((sum, part) => sum + part, 0)).toBeCloseTo(phases.whole.energy_j ?? 0, 6);
  },
);
