import { describe, expect, it } from 'vitest';
import { createRandom } from '../numeric/random.js';
import { lastMeasure, overSeeds, trained } from '../training.fixture.js';
import { curveFigures, drawQuery, needsCloud, routedQuality, strongestShare } from './queries.js';

const n = 4;
const learned = (noise: number) =>
  overSeeds(n, (seed) =>
    lastMeasure(trained('router_fit', { noise, eval_every: 300, eval_items: 4000 }, seed), 'apgr'),
  );

const queries = (seed: number, count: number) => {
  const random = createRandom(seed, 'queries');
  return Array.from({ length: count }, () => drawQuery(random, 0.15));
};

describe('a routing curve', () => {
  it('has the figures of its points, by straight lines between them', () => {
    const points = [
      [0, 0.5],
      [0.2, 0.62],
      [0.5, 0.74],
      [0.8, 0.79],
      [1, 0.8],
    ] as const;
    const curve = Float64Array.from({ length: 1001 }, (_, i) => {
      const share = i / 1000;
      const at = points.findIndex(([x]) => x >= share);
      const [x1, y1] = points[Math.max(1, at)]!;
      const [x0, y0] = points[Math.max(1, at) - 1]!;
      return y0 + ((y1 - y0) * (share - x0)) / (x1 - x0);
    });
    const figures = curveFigures(curve);
    expect(figures.apgr).toBeCloseTo(0.681667, 5);
    expect(figures.cpt50).toBeCloseTo(0.275, 3);
    expect(figures.cpt80).toBeCloseTo(0.5, 3);
  });

  it('recovers half of the gap when it is random', () => {
    const own = queries(1, 20_000);
    const random = createRandom(2, 'scores');
    const { apgr } = routedQuality(
      own,
      Float64Array.from(own, () => random.next()),
    );
    expect(Math.abs(apgr - 0.5)).toBeLessThan(0.03);
  });
});

describe('a fitted router', () => {
  it('lies between chance and an oracle', () => {
    const own = queries(3, 4000);
    const oracle = routedQuality(
      own,
      Float64Array.from(own, (query) =>
        needsCloud(query) ? 1 : query.local_right && !query.cloud_right ? -1 : 0,
      ),
    );
    const fitted = learned(0.15);
    expect(fitted.mean - 0.5).toBeGreaterThan(2 * fitted.sd);
    expect(oracle.apgr - fitted.mean).toBeGreaterThan(2 * fitted.sd);
  });

  it('recovers less the worse difficulty can be seen', () => {
    const [sharp, dim, dark] = [0, 0.15, 0.4].map(learned);
    expect(sharp!.mean).toBeGreaterThan(dim!.mean);
    expect(dim!.mean).toBeGreaterThan(dark!.mean + 2 * Math.max(dim!.sd, dark!.sd));
  });

  it('sends the requested share to the cloud, within one point', () => {
    const random = createRandom(4, 'calibration');
    const scores = Float64Array.from({ length: 2000 }, () => random.next());
    for (const share of [0.1, 0.25, 0.5, 0.9]) {
      const threshold = strongestShare(scores, share);
      const sent = scores.filter((score) => score >= threshold).length / scores.length;
      expect(Math.abs(sent - share)).toBeLessThan(0.01);
    }
  });
});
