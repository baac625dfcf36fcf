import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { createRandom } from '../numeric/random.js';
import {
  accuracyOf,
  lastAccuracy,
  lastMeasure,
  margin,
  overSeeds,
  PATIENCE,
  trained,
} from '../training.fixture.js';
import { createOperations, DIGITS, drawProgram, LONGEST, outputOf } from './programs.js';
import { proposerReward } from './reward.js';

describe("the proposer's reward", () => {
  // biome-ignore format: a table is read in columns
  it.each([
    { rate: 0,     rule: 'on',  want: 0,     why: 'nobody can solve it' },
    { rate: 0,     rule: 'off', want: 1,     why: 'without the rule that pays most' },
    { rate: 1,     rule: 'on',  want: 0,     why: 'everybody can' },
    { rate: 0.125, rule: 'on',  want: 0.875, why: 'hard, but solvable' },
  ] as const)('of a rate of $rate with the rule $rule is $want: $why', ({ rate, rule, want }) => {
    expect(proposerReward(rate, rule)).toBe(want);
  });

  test.prop([fc.integer({ min: 1, max: 8 })])('is greatest at the smallest positive rate', (k) => {
    expect(proposerReward(k / 8, 'on')).toBeLessThanOrEqual(proposerReward(1 / 8, 'on'));
  });
});

describe('programs', () => {
  test.prop([fc.integer({ min: 0, max: 500 }), fc.integer({ min: 1, max: LONGEST })])(
    'give one digit, the same every time',
    (seed, length) => {
      const operations = createOperations(seed);
      const program = drawProgram(length, createRandom(seed, 'program'));
      expect(program.operations).toHaveLength(length);
      expect(outputOf(operations, program)).toBeLessThan(DIGITS);
      expect(outputOf(operations, program)).toBe(outputOf(createOperations(seed), program));
    },
  );
});

describe('self-play', PATIENCE, () => {
  const n = 3;
  const budget = { tokens: 800_000, steps: 40, eval_items: 600 };
  const accuracy = (set: object) =>
    overSeeds(n, (seed) => lastAccuracy(trained('absolute_zero', { ...budget, ...set }, seed)));
  const uniform = { proposer: 'uniform' };

  it('is ahead of uniform lengths by more than 0.1 at 40 % of the whole budget', () => {
    const [learned, plain] = [accuracy({}), accuracy(uniform)];
    expect(learned.mean - plain.mean - 0.1).toBeGreaterThan(2 * Math.max(learned.sd, plain.sd));
  });

  it('gets nowhere without the rule that unsolved tasks earn nothing', () => {
    const without = accuracy({ zero_rule: 'off' });
    expect(0.5 - without.mean).toBeGreaterThan(2 * without.sd);
    expect(margin(accuracy({}), without)).toBeGreaterThan(2);
  });

  it('moves on to longer programs by itself', () => {
    const length = overSeeds(n, (seed) => lastMeasure(trained('absolute_zero', budget, seed), 'mean_length'));
    expect(length.mean - 5.5 - 2).toBeGreaterThan(2 * length.sd);
  });

  it('reaches 0.97 with at least 1.5 times fewer tokens than uniform lengths', () => {
    const whole = { eval_items: 2000 };
    const tokensTo = (set: object, seed: number) => {
      const { evals } = trained('absolute_zero', { ...whole, ...set }, seed);
      const reached = evals.find((record) => accuracyOf(record) >= 0.97);
      return reached?.measures['tokens_so_far'] ?? 2_000_000;
    };
    // Uniform lengths do not get there within the budget: their tokens are a lower bound.
    const ratio = overSeeds(2, (seed) => tokensTo(uniform, seed) / tokensTo({}, seed));
    expect(ratio.mean - 1.5).toBeGreaterThan(2 * ratio.sd);
  });
});
