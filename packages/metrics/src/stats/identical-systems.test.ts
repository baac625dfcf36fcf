import { describe, expect, test } from 'vitest';
import { powersOf } from '../energy-figures.js';
import { comparisonVerdict } from './comparison-verdict.js';
import { pairedRatio } from './paired.js';
import { drawRun, FULL, type World, world } from './synthetic.fixture.js';

const COMPARISONS = 1_000;

/** A sensor without any error: nothing but the spread stands between two systems and *different*. */
const band = { energy_j: 1, lo_j: 1, hi_j: 1, scale_error_ratio: null, sensor: 'host/meter' };

/** Share of comparisons called different, of A with a B whose queries take `factor` times the energy. */
function calledDifferent(w: World, factor: number, comparisons = COMPARISONS): number {
  let different = 0;
  for (let seed = 1; seed <= comparisons; seed++) {
    const other = drawRun({ ...w, joules: w.joules * factor }, seed + 1e6, seed);
    const paired = pairedRatio(drawRun(w, seed), other, powersOf('energy_per_query_j'));
    const { verdict } = comparisonVerdict({
      scale: 'ratio',
      estimate: 'reason' in paired ? null : paired,
      energy: { a: band, b: band, power: 1, repeats: w.repeats },
    });
    if (verdict === 'different') different += 1;
  }
  return different / comparisons;
}

describe('two identical systems with 5 % noise from run to run', () => {
  test.each(FULL ? [3, 5, 10] : [3])(
    'are called different in at most 5 of 100 comparisons of %d repeats',
    (repeats) => {
      expect(calledDifferent({ ...world, items: 20, repeats }, 1)).toBeLessThanOrEqual(0.05);
    },
  );

  test('never with two repeats, however far apart they lie', () => {
    expect(calledDifferent({ ...world, items: 40, repeats: 2 }, 3, 50)).toBe(0);
  });
});

test('a third less energy is seen through that noise, with five repeats in nearly every comparison', () => {
  expect(calledDifferent({ ...world, items: 40, repeats: 5 }, 0.67, 200)).toBeGreaterThan(0.95);
});
