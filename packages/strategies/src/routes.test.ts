import { fc, test } from '@fast-check/vitest';
import { createRng } from '@perwatt/core';
import { drive, type Scripted } from '@perwatt/test-kit';
import { describe, test as example, expect } from 'vitest';
import { answerOf, ask, decisionsOf } from './asking.fixture.js';
import { context, item } from './settings.fixture.js';
import { strategyById } from './strategies.js';

describe('routes and cascades', () => {
  example.each([
    [5, 'strong'],
    [6, 'strong'],
    [7, 'weak'],
  ])('a prompt of 6 characters at threshold %d goes to %s', async (threshold, endpoint) => {
    const { batches } = await ask('route_threshold', { threshold }, ['42']);
    expect(batches.flat().map((c) => c.endpoint)).toEqual([endpoint]);
  });

  test.prop([fc.double({ min: 0, max: 1, noNaN: true })], { numRuns: 20 })(
    'a random router sends the share to the strong model that its threshold leaves',
    async (threshold) => {
      const strategy = strategyById('route_threshold');
      const params = strategy.params.parse({ router: 'random', threshold });
      const rng = createRng(7);
      let strong = 0;
      for (let i = 0; i < 400; i++) {
        const { batches } = await drive(strategy.run(item, params, { ...context(), rng }), ['42']);
        strong += batches[0]?.[0]?.endpoint === 'strong' ? 1 : 0;
      }
      expect(Math.abs(strong / 400 - (1 - threshold))).toBeLessThan(0.11);
    },
  );

  // biome-ignore format: a table is read in columns
  example.each<readonly [weak: readonly Scripted[], threshold: number, calls: number, answer: string, why: string]>([
    [['42', '42', '42'],                          0.67, 3, '42',  'all agree'],
    [['42', '42', '1'],                           0.66, 3, '42',  'enough agree'],
    [['42', '42', '1'],                           0.67, 4, '99',  'not enough'],
    [['42', { error_code: 'timeout' }, 'none'],   0.5,  4, '99',  'silence counts against agreement'],
  ])('%j at %d takes %d calls and gives %s: %s', async (weak, threshold, calls, answer) => {
    const { batches, outcome } = await ask('cascade', { threshold }, [...weak, '99']);
    expect(batches.flat()).toHaveLength(calls);
    expect(answerOf(outcome)).toBe(answer);
  });

  example('when the strong call fails the weak answer stands', async () => {
    const { outcome } = await ask('cascade', { threshold: 1 }, ['42', '42', '1', { error_code: 'timeout' }]);
    expect(answerOf(outcome)).toBe('42');
    expect(decisionsOf(outcome)).toContain('strong failed, weak answers');
  });
});
