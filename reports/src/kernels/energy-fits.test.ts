import { type KernelRow, kernels } from '@perwatt/core';
import { expect, test } from 'vitest';
import { energyFits, pointOf, sweepRows } from './energy-fits.js';
import { sweepOf } from './sweep.fixture.js';

test('is made of the rows of the table alone: gross energy and time within the windows', () => {
  const [fit, ...others] = energyFits(sweepOf(), 0);
  expect(others).toEqual([]);
  expect(fit).toMatchObject({ device: 'cpu:0', implementation: 'cpu/own-chain', dtype: 'f32', reason: null });
  expect(fit).toMatchObject({ scope: 'package', provenance: 'counter' });
  expect(fit?.fit?.flop_j.value).toBeCloseTo(10e-12, 16);
  expect(fit?.fit?.byte_j.value).toBeCloseTo(100e-12, 15);
  expect(fit?.fit?.constant_w.value).toBeCloseTo(30, 6);
});

// biome-ignore format: a table is read in columns
test.each([
  [sweepOf({ energy_gross_j: null, energy_reason: 'no counter' }), 'no energy: no counter',                        'nothing was metered'],
  [sweepOf().slice(0, 5),                                           '5 intensities have energy, and a fit needs 8', 'too few'],
  [sweepOf().map((row, i) => (i < 7 ? row : { ...row, status: 'wrong' })), '7 intensities have energy, and a fit needs 8', 'what is wrong has no place'],
  [sweepOf({ energy_launches: null, energy_reason: null }),         'no energy: no reason is kept',                'rows without the time of their windows'],
])('%# has a reason in place of a fit: %s', (rows, reason, _why) => {
  expect(energyFits(rows as KernelRow[], 0)).toMatchObject([{ fit: null, reason }]);
});

test('one intensity is no sweep, and other sessions, types and implementations stand apart', () => {
  expect(energyFits(sweepOf().slice(0, 1), 0)).toEqual([]);
  expect(energyFits(sweepOf(), 1)).toEqual([]);
  const rows = [...sweepOf(), ...sweepOf({ dtype: 'f16' }), ...sweepOf({ implementation: 'cpu/other' })];
  const fits = energyFits(rows, 0);
  expect(fits.map(({ dtype, implementation }) => [dtype, implementation])).toEqual([
    ['f32', 'cpu/own-chain'],
    ['f16', 'cpu/own-chain'],
    ['f32', 'cpu/other'],
  ]);
  const [first] = fits;
  expect(first && sweepRows(rows.toReversed(), first, 0).map(({ k }) => k)).toEqual(
    sweepOf().map(({ k }) => k),
  );
});

test('every column that a point is made of is one of the table', () => {
  const [row] = sweepOf();
  expect(Object.keys(row ?? {}).toSorted()).toEqual(Object.keys(kernels).toSorted());
  expect(row && pointOf(row)?.duration_s).toBeCloseTo(1e-3, 9);
});
