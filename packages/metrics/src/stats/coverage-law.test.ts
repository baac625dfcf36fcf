import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { coverageAt, fitCoverageLaw } from './coverage-law.js';

describe('coverageAt', () => {
  it.each([
    [1, 0.22313],
    [10, 0.550372],
    [100, 0.788412],
    [1000, 0.909697],
  ])('gives for a −1.5, b −0.4 at k = %d the published-form value %d', (k, coverage) => {
    expect(coverageAt({ a: -1.5, b: -0.4 }, k)).toBeCloseTo(coverage, 6);
  });
});

describe('fitCoverageLaw', () => {
  const law = fc.record({
    a: fc.double({ min: -4, max: -0.2, noNaN: true }),
    b: fc.double({ min: -0.9, max: -0.1, noNaN: true }),
  });

  test.prop([law])('finds the law that made the points', (own) => {
    const points = [1, 2, 4, 8, 16, 32].map((k) => ({ k, coverage: coverageAt(own, k) }));
    const fit = fitCoverageLaw(points);
    expect(fit?.a).toBeCloseTo(own.a, 8);
    expect(fit?.b).toBeCloseTo(own.b, 8);
    expect(fit?.r2).toBeCloseTo(1, 8);
    expect(fit?.held_out_error).toBeCloseTo(0, 8);
  });

  it('says how far the largest k is from what the others foretell', () => {
    const points = [1, 2, 4, 8].map((k) => ({ k, coverage: coverageAt({ a: -1.5, b: -0.4 }, k) }));
    const bent = points.map((point, i) => (i === 3 ? { ...point, coverage: point.coverage - 0.05 } : point));
    const fit = fitCoverageLaw(bent);
    expect(fit?.held_out_error).toBeCloseTo(0.05, 8);
    expect(fit?.r2).toBeLessThan(1);
  });

  it('leaves out coverages of 0 and 1', () => {
    const points = [1, 2, 4].map((k) => ({ k, coverage: coverageAt({ a: -1, b: -0.5 }, k) }));
    const fit = fitCoverageLaw([...points, { k: 1000, coverage: 1 }, { k: 8, coverage: 0 }]);
    expect(fit?.points).toBe(3);
    expect(fit?.b).toBeCloseTo(-0.5, 8);
  });

  it.each([
    ['none', []],
    ['one point', [{ k: 1, coverage: 0.5 }]],
    ['one k', [1, 1].map((k) => ({ k, coverage: 0.5 }))],
    ['all items covered', [1, 2, 4].map((k) => ({ k, coverage: 1 }))],
  ])('is null for %s', (_why, points) => {
    expect(fitCoverageLaw(points)).toBeNull();
  });

  it('has no R² where coverage does not grow, and no held-out error with two points', () => {
    const fit = fitCoverageLaw([1, 2].map((k) => ({ k, coverage: 0.5 })));
    expect(fit).toMatchObject({ r2: null, held_out_error: null });
  });
});
