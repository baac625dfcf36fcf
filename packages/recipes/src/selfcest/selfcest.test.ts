import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { below, createRandom } from '../numeric/random.js';
import { recipeById } from '../recipes.js';
import { lastAccuracy, lastMeasure, margin, overSeeds, PATIENCE, trained } from '../training.fixture.js';
import { ACTOR_ROWS, type Episode, setStart, spoilRate, TOKENS } from './actor.js';
import { addGroup, createTeamPolicy, isGated } from './gradient.js';
import { cloneCredit, clonePenalty, penaltyOf, rootPenalty, shapedReward } from './reward.js';
import { chunkSizes, drawOperands, type Rollout, rollOut, type TeamPolicy } from './rollout.js';

describe('the reward', () => {
  // biome-ignore format: a table is read in columns
  it.each([
    { value: penaltyOf(512, rootPenalty),   want: 0,        why: 'up to the threshold nothing' },
    { value: penaltyOf(768, rootPenalty),   want: 0.189636, why: 'one ramp over' },
    { value: penaltyOf(1024, rootPenalty),  want: 0.259399, why: 'two ramps over' },
    { value: penaltyOf(1024, clonePenalty), want: 0.126424, why: 'one ramp over, of a clone' },
    { value: shapedReward(100, 100),        want: 1,        why: 'exact' },
    { value: shapedReward(100, 90),         want: 0.126565, why: 'near' },
  ])('is $want: $why', ({ value, want }) => {
    expect(value).toBeCloseTo(want, 6);
  });

  // biome-ignore format: a table is read in columns
  it.each([
    { clone: 0,    root: 1,     want: 0,    why: 'a gated clone' },
    { clone: 1,    root: 1,     want: 2,    why: 'as good as its root' },
    { clone: 3,    root: 1,     want: 3,    why: 'at most one and a half' },
    { clone: -3,   root: 1,     want: -3,   why: 'at least minus one and a half' },
    { clone: 0.5,  root: 0,     want: 3,    why: 'a root of 0 counts as a little above' },
    { clone: 0,    root: 0,     want: 0,    why: 'nothing of nothing' },
  ])('credits a clone of $clone under a root of $root with $want of 2: $why', ({ clone, root, want }) => {
    expect(cloneCredit(2, clone, root)).toBe(want);
  });
});

/** Success and tokens of a perfect policy that always cuts in pieces of one size; 0 for none. */
function idealOf(chunk: number) {
  let [success, tokens] = [0, 0];
  for (let n = 8; n <= 16; n++) {
    const sizes: number[] = [];
    for (let at = 0; chunk > 0 && at < n; at += chunk) sizes.push(Math.min(chunk, n - at));
    const clones = sizes.filter((size) => size > 1).map((size) => ({ merges: size - 1, context: size }));
    const root =
      chunk === 0 ? { merges: n - 1, context: n } : { merges: sizes.length - 1, context: n + sizes.length };
    let right = 1;
    for (const { merges, context } of [...clones, root]) {
      for (let t = 0; t < merges; t++) right *= 1 - spoilRate(context + t + 1);
      tokens += (merges + 1) / 9;
    }
    success += right / 9;
  }
  return { success, tokens };
}

describe('the executor', () => {
  // biome-ignore format: a table is read in columns
  it.each([
    { chunk: 0, success: 0.392, tokens: 12 },
    { chunk: 3, success: 0.612, tokens: 16 },
    { chunk: 4, success: 0.63,  tokens: 15 },
  ])('lets a perfect policy with pieces of $chunk be right $success of the time', ({ chunk, success, tokens }) => {
    expect(idealOf(chunk).success).toBeCloseTo(success, 3);
    expect(Math.round(idealOf(chunk).tokens)).toBe(tokens);
  });

  test.prop([fc.integer({ min: 0, max: 500 })])('counts tokens of root and clones', (seed) => {
    const policy = createTeamPolicy();
    setStart(policy, 0.3);
    const random = createRandom(seed, 'rollout');
    const rollout = rollOut(policy, drawOperands(random), { random, delegation: 'on' });
    const clones = rollout.clones.reduce((sum, { tokens }) => sum + tokens, 0);
    expect(rollout.total_tokens).toBe(rollout.root.tokens + clones);
    expect(rollout.sequential_tokens).toBeLessThanOrEqual(rollout.total_tokens);
    expect(rollout.sequential_tokens === rollout.total_tokens).toBe(rollout.clones.length <= 1);
    if (chunkSizes[rollout.choice!.action] === 0) expect(rollout.clones).toHaveLength(0);
  });
});

const GATE = 24;

/** Groups of rollouts of a policy that always cuts in pieces of 3 and rambles as told. */
function groupsOf(ramble: number, draws: number): Rollout[][] {
  const policy = createTeamPolicy();
  setStart(policy, ramble);
  for (let bucket = 0; bucket < 4; bucket++) policy.delegation.logits.set([-50, -50, 0, -50], bucket * 4);
  const random = createRandom(5, 'groups');
  return Array.from({ length: draws }, () => {
    const operands = 6 + below(random, 7);
    return Array.from({ length: 4 }, () => rollOut(policy, operands, { random, delegation: 'on' }));
  });
}

const gradientOf = (group: readonly Rollout[], gate: number | null) => {
  const gradient = createTeamPolicy();
  addGroup(gradient, group, gate);
  return gradient;
};

const rowOfTable = ({ rows }: TeamPolicy, row: number): number[] => [
  ...rows.logits.subarray(row * TOKENS, (row + 1) * TOKENS),
];

const rowsOf = (episodes: readonly Episode[]): Set<number> =>
  new Set(episodes.flatMap(({ rows, tokens }) => [...rows.subarray(0, tokens)]));

/** Trace of the covariance of gradients of 8 groups each, over draws of 8 groups. */
function gradientVariance(groups: readonly Rollout[][], gate: number | null): number {
  const size = createTeamPolicy().rows.logits.length;
  const [sum, squares] = [new Float64Array(size), new Float64Array(size)];
  const draws = Math.floor(groups.length / 8);
  for (let d = 0; d < draws; d++) {
    const gradient = createTeamPolicy();
    let tokens = 0;
    for (const group of groups.slice(8 * d, 8 * d + 8)) tokens += addGroup(gradient, group, gate).tokens;
    gradient.rows.logits.forEach((value, i) => {
      sum[i]! += value / tokens;
      squares[i]! += (value / tokens) ** 2;
    });
  }
  return squares.reduce((trace, square, i) => trace + square / draws - (sum[i]! / draws) ** 2, 0);
}

const violators = (groups: readonly Rollout[][]) => {
  const clones = groups.flat().flatMap((rollout) => rollout.clones);
  return clones.filter((clone) => isGated(clone, GATE)).length / clones.length;
};

describe('the gate', () => {
  it('gives gated clones exactly no gradient and leaves every other row as it was', () => {
    let [compared, ungated] = [0, 0];
    for (const group of groupsOf(4, 150)) {
      const clones = group.flatMap((rollout) => rollout.clones);
      const gated = rowsOf(clones.filter((clone) => isGated(clone, GATE)));
      const others = rowsOf([
        ...group.map(({ root }) => root),
        ...clones.filter((clone) => !isGated(clone, GATE)),
      ]);
      const [on, off] = [gradientOf(group, GATE), gradientOf(group, null)];
      const untouched = Array.from({ length: ACTOR_ROWS }, (_, row) => row).filter((row) => !gated.has(row));
      const alone = [...gated].filter((row) => !others.has(row));
      compared += alone.length;
      ungated += alone.filter((row) => rowOfTable(off, row).some((value) => value !== 0)).length;
      expect(alone.flatMap((row) => rowOfTable(on, row)).every((value) => value === 0)).toBe(true);
      expect(untouched.map((row) => rowOfTable(on, row))).toEqual(
        untouched.map((row) => rowOfTable(off, row)),
      );
      expect(on.delegation.logits).toEqual(off.delegation.logits);
    }
    expect(compared).toBeGreaterThan(20);
    expect(ungated).toBeGreaterThan(10);
  });

  it('lowers the variance of the gradient, the more so the more clones break the form', () => {
    const shares = [-3, 4, 4.5, 5].map((ramble) => {
      const groups = groupsOf(ramble, 800);
      return {
        share: violators(groups),
        ratio: gradientVariance(groups, null) / gradientVariance(groups, GATE),
      };
    });
    const ratios = shares.map(({ ratio }) => ratio);
    expect(shares[0]?.share).toBe(0);
    expect(ratios[0]).toBe(1);
    expect(shares.at(-1)?.share).toBeGreaterThan(0.4);
    expect(ratios.at(-1)).toBeGreaterThanOrEqual(1.5);
    expect(ratios).toEqual([...ratios].sort((x, y) => x - y));
  });
});

/** Tokens of a query after a whole training, without any votes beside it. */
function tokensOf(set: Readonly<Record<string, unknown>>, seed: number): number {
  const recipe = recipeById('selfcest');
  const params = recipe.parse(set);
  const trainer = recipe.start(params, seed);
  while (trainer.step < recipe.length(params).steps) trainer.train();
  return trainer.evaluate().measures['tokens_per_query'] ?? Number.NaN;
}

describe('trained delegation', PATIENCE, () => {
  const seeds = 8;
  const rarely = { eval_every: 300 };
  const alone = { ...rarely, delegation: 'off' };
  const figure = (set: Readonly<Record<string, unknown>>, name: string) =>
    overSeeds(seeds, (seed) => lastMeasure(trained('selfcest', set, seed), name));
  const delegating = () => overSeeds(seeds, (seed) => lastAccuracy(trained('selfcest', rarely, seed)));

  it('is more accurate than the policy that works alone with 1, 3 or 5 votes', () => {
    const single = overSeeds(seeds, (seed) => lastAccuracy(trained('selfcest', alone, seed)));
    expect(margin(delegating(), single)).toBeGreaterThan(2);
    for (const votes of [3, 5])
      expect(margin(delegating(), figure(alone, `accuracy_of_${votes}_votes`))).toBeGreaterThan(2);
  });

  it('spends fewer tokens than 5 votes, and on the mean of seeds fewer than 3', () => {
    const many = 24;
    const spent = (set: Readonly<Record<string, unknown>>) =>
      Array.from({ length: many }, (_, seed) => tokensOf(set, seed));
    const [single, team] = [spent(alone), spent(rarely)];
    const saved = (votes: number) =>
      overSeeds(many, (seed) => votes * (single[seed] ?? 0) - (team[seed] ?? 0));
    const [three, five] = [saved(3), saved(5)];
    expect(five.mean).toBeGreaterThan(2 * five.sd);
    expect(three.mean).toBeGreaterThan((2 * three.sd) / Math.sqrt(many));
  });

  it('gives the gate of a default training to every clone without an answer', () => {
    const { gate, gate_tokens } = recipeById('selfcest').parse({});
    expect([gate, gate_tokens]).toEqual(['on', 0]);
  });

  it('keeps the critical path below 0.6 of all tokens', () => {
    const share = overSeeds(seeds, (seed) => {
      const done = trained('selfcest', rarely, seed);
      return lastMeasure(done, 'sequential_tokens_per_query') / lastMeasure(done, 'tokens_per_query');
    });
    expect(0.6 - share.mean).toBeGreaterThan(2 * share.sd);
  });
});
