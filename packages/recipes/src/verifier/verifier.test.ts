import { describe, expect, it } from 'vitest';
import { createRandom } from '../numeric/random.js';
import { accuracyOf, lastMeasure, margin, overSeeds, PATIENCE, trained } from '../training.fixture.js';
import { drawProof, metaReward, scoreOf, scoreReward, silentReward } from './proofs.js';
import { trainSelfScore } from './self-score.js';

describe('rewards of an analysis', () => {
  const proof = {
    flawed: [true, false, false, false, false, false],
    evidence: [3, 0, 0, 0, 0, 0],
    score: 0.5,
  };
  const flagsAt = (...places: number[]) => proof.flawed.map((_, i) => places.includes(i));

  // biome-ignore format: a table is read in columns
  it.each([
    { flags: [0],    score: 0.5, want: 1,   why: 'the real flaw, and the score that follows' },
    { flags: [0],    score: 1,   want: 0.5, why: 'the score does not follow from one flaw' },
    { flags: [1],    score: 0.5, want: 0,   why: 'none of the flags is real' },
    { flags: [0, 1], score: 0,   want: 0.5, why: 'one of two is invented' },
    { flags: [],     score: 1,   want: 1,   why: 'silence is consistent' },
    { flags: [],     score: 0,   want: 0.5, why: 'a bad score without a reason' },
  ])('give $want to flags $flags and score $score: $why', ({ flags, score, want }) => {
    expect(metaReward({ flags: flagsAt(...flags), score }, proof)).toBe(want);
  });

  it('pay a silent verifier 0.61357 in expectation', () => {
    expect(silentReward()).toBeCloseTo(0.61357, 5);
    const random = createRandom(1, 'silent');
    const n = 40_000;
    const mean =
      Array.from({ length: n }, () => scoreReward(1, drawProof(random).score)).reduce((a, b) => a + b, 0) / n;
    expect(Math.abs(mean - silentReward())).toBeLessThan(0.01);
    expect([0, 1, 2, 5].map(scoreOf)).toEqual([1, 0.5, 0, 0]);
  });
});

describe('a trained verifier', PATIENCE, () => {
  const n = 8;
  const figure = (meta: 'on' | 'off', name: string) =>
    overSeeds(n, (seed) => lastMeasure(trained('dsm_verifier', { meta, eval_every: 400 }, seed), name));
  const first = (name: string) =>
    overSeeds(
      n,
      (seed) => trained('dsm_verifier', { meta: 'off', eval_every: 400 }, seed).evals[0]?.measures[name] ?? 0,
    );

  it('flags real flaws when its flags are checked', () => {
    const precision = figure('on', 'flag_precision');
    expect(precision.mean - 0.7).toBeGreaterThan(2 * precision.sd);
  });

  it('keeps inventing them when nobody checks', () => {
    const [off, on] = [figure('off', 'flag_precision'), figure('on', 'flag_precision')];
    const moved = overSeeds(
      n,
      (seed) => (off.values[seed] ?? 0) - (first('flag_precision').values[seed] ?? 0),
    );
    expect(0.05 - Math.abs(moved.mean)).toBeGreaterThan(2 * moved.sd);
    expect(off.mean).toBeLessThan(0.7);
    expect(margin(on, off)).toBeGreaterThan(2);
  });

  it('scores as well either way, and better than silence', () => {
    const score = (meta: 'on' | 'off') =>
      overSeeds(n, (seed) =>
        accuracyOf(trained('dsm_verifier', { meta, eval_every: 400 }, seed).evals.at(-1)!),
      );
    const [on, off] = [score('on'), score('off')];
    const apart = overSeeds(n, (seed) => (on.values[seed] ?? 0) - (off.values[seed] ?? 0));
    expect(0.05 - Math.abs(apart.mean)).toBeGreaterThan(2 * apart.sd);
    const reward = figure('on', 'score_reward');
    expect(reward.mean - silentReward()).toBeGreaterThan(2 * reward.sd);
  });
});

describe('a generator that scores itself', () => {
  it('is honest only when its own score is part of the reward', () => {
    const agreement = (kind: 'own_claim' | 'quality' | 'mixed') =>
      overSeeds(4, (seed) => trainSelfScore(kind, seed).agreement);
    const mixed = agreement('mixed');
    expect(mixed.mean - 0.8).toBeGreaterThan(2 * mixed.sd);
    expect(agreement('own_claim').mean).toBeLessThan(0.8);
    expect(agreement('quality').mean).toBeLessThan(0.8);
    expect(trainSelfScore('own_claim', 0).over_claim).toBeGreaterThan(0.6);
    expect(trainSelfScore('mixed', 0).over_claim).toBeLessThan(0.2);
  });
});
