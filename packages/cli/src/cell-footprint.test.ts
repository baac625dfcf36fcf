import { factorsOfRegion, shippedFactors } from '@perwatt/metrics';
import { expect, test } from 'vitest';
import { cellFootprint, type FootprintInput, footprintTable } from './cell-footprint.js';

const point = {
  model: 'm',
  accelerator: 'a',
  dataset: 'd',
  strategy: 's',
  load: 'c1',
} as FootprintInput['point'];
const cell = (energy: Partial<FootprintInput['energy']>, attempted = 500): FootprintInput => ({
  cell_id: 'c',
  point,
  energy: { boundary: null, gross_j: null, gross_lo_j: null, gross_hi_j: null, reason: null, ...energy },
  counts: { attempted },
});
const world = factorsOfRegion(shippedFactors(), 'world');

test('a thousand queries cost twice what five hundred did, with bounds of sensor and factors multiplied', () => {
  const { total, per_1000_queries: each } = cellFootprint(
    cell({ gross_j: 3.6e6, gross_lo_j: 1.8e6, gross_hi_j: 7.2e6 }),
    world,
  );
  expect(total?.carbon_g.lo).toBeCloseTo(0.5 * world.pue.lo * world.carbon_g_per_kwh.lo, 9);
  expect(total?.carbon_g.hi).toBeCloseTo(2 * world.pue.hi * world.carbon_g_per_kwh.hi, 9);
  expect(each?.water_l.hi).toBeCloseTo(2 * (total?.water_l.hi ?? NaN), 9);
  expect(each?.cost).toMatchObject({ currency: 'USD' });
});

// biome-ignore format: a table is read in columns
test.each([
  [cell({ reason: 'low_coverage' }),        'low_coverage',  'energy that is not known has no carbon'],
  [cell({ gross_j: 5 }, 0),                 'no queries',    'nothing to divide by'],
])('%# has a reason in place of figures', (input, reason) => {
  const footprint = cellFootprint(input, world);
  expect(footprint).toMatchObject({ total: null, per_1000_queries: null, reason });
  expect(footprintTable([footprint])[1]).toContain(reason);
});

test('a sensor whose lower bound is below nothing gives nothing, never less', () => {
  const { total } = cellFootprint(cell({ gross_j: 1, gross_lo_j: -1, gross_hi_j: 3 }), world);
  expect(total?.energy_j).toEqual({ lo: 0, hi: 3 });
});

test('the table shows ranges, and says where there is no tariff', () => {
  const norway = factorsOfRegion(shippedFactors(), 'norway');
  const [, line] = footprintTable([cellFootprint(cell({ gross_j: 1000 }), norway)]);
  expect(line).toMatch(/^m +d +s +c1 +2000 +0\.00444–0\.0299 +.* +no tariff$/);
});
