import { groupAdvantages } from '../numeric/advantage.js';
import { createRandom, type Random } from '../numeric/random.js';
import {
  actionAt,
  addTable,
  ascend,
  createTable,
  probabilities,
  type SoftmaxTable,
} from '../numeric/softmax.js';

/** Chances of quality 0, ½ and 1 by how sure a generator is of its proof. */
const quality = [
  [0.8, 0.15, 0.05],
  [0.15, 0.7, 0.15],
  [0.05, 0.15, 0.8],
] as const;

/** What a generator is paid for: what it claims, what its proof is worth, or that with a share for an honest claim. */
export type SelfScoreReward = 'own_claim' | 'quality' | 'mixed';

/** How its claims stand to the truth, exactly, over all levels of confidence. */
export interface Honesty {
  /** Mean of 1 − |claim − truth|. */
  readonly agreement: number;
  /** Share of claims above the truth. */
  readonly over_claim: number;
}

const GROUP = 8;
const LEVELS = 3;

const rewardOf = (claim: number, truth: number, kind: SelfScoreReward): number => {
  if (kind === 'own_claim') return claim / 2;
  if (kind === 'quality') return truth / 2;
  return 0.76 * (truth / 2) + 0.24 * (1 - Math.abs(claim - truth) / 2);
};

/** Trains claims by level of confidence, 600 steps unless told otherwise, and says how honest they are then. */
export function trainSelfScore(kind: SelfScoreReward, seed: number, steps = 600): Honesty {
  const table = createTable(LEVELS, 3);
  const random = createRandom(seed, 'self-score');
  const p = new Float64Array(3);
  for (let step = 0; step < steps; step++) {
    const gradient = createTable(LEVELS, 3);
    for (let level = 0; level < LEVELS; level++) {
      probabilities(table, level, p);
      const claims = Array.from({ length: GROUP }, () => actionAt(p, random.next()));
      const rewards = claims.map((claim) => rewardOf(claim, qualityAt(level, random), kind));
      const advantages = groupAdvantages(rewards);
      claims.forEach((action, i) => {
        ascend(gradient, { row: level, action, p }, advantages[i] ?? 0);
      });
    }
    addTable(table, gradient, { scale: 3 / (GROUP * LEVELS), limit: 6 });
  }
  return honestyOf([0, 1, 2].map((level) => claimsAt(table, level)));
}

function claimsAt(table: SoftmaxTable, level: number): Float64Array {
  const p = new Float64Array(3);
  probabilities(table, level, p);
  return p;
}

const qualityAt = (level: number, random: Random): number =>
  actionAt(Float64Array.from(quality[level] ?? [1, 0, 0]), random.next());

function honestyOf(claims: readonly Float64Array[]): Honesty {
  let [agreement, over_claim] = [0, 0];
  claims.forEach((p, level) => {
    p.forEach((claimed, claim) => {
      quality[level]?.forEach((chance, truth) => {
        const share = (claimed * chance) / LEVELS;
        agreement += share * (1 - Math.abs(claim - truth) / 2);
        if (claim > truth) over_claim += share;
      });
    });
  });
  return { agreement, over_claim };
}
