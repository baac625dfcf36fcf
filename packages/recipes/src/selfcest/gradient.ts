import { groupAdvantages } from '../numeric/advantage.js';
import { ascend, createTable } from '../numeric/softmax.js';
import { ACTOR_ROWS, addEpisode, type Episode, TOKENS } from './actor.js';
import { penaltyOf } from './reward.js';
import {
  chunkSizes,
  longestClone,
  type Rollout,
  SIZE_BUCKETS,
  sizeBucket,
  type TeamPolicy,
} from './rollout.js';

/** Tokens that a clone without an answer must exceed to get no gradient, 0 for every such clone; null for no gate. */
export type Gate = number | null;

const rootLength = { threshold: 12, ramp: 6, most: 0.3 };
const cloneLength = { threshold: 12, ramp: 12, most: 0.2 };

/** A policy of zeros, for gradients and for starts. */
export const createTeamPolicy = (): TeamPolicy => ({
  rows: createTable(ACTOR_ROWS, TOKENS),
  bias: createTable(1, TOKENS),
  delegation: createTable(SIZE_BUCKETS, chunkSizes.length),
});

/** Reward of a rollout: 1 when right, less what its root and its longest clone ran over. */
export const rewardOf = (rollout: Rollout): number =>
  (rollout.right ? 1 : 0) -
  penaltyOf(rollout.root.tokens, rootLength) -
  penaltyOf(longestClone(rollout), cloneLength);

/** Whether the gate takes a clone's gradient away: it gave no answer, and took more tokens than the gate allows. */
export const isGated = (clone: Episode, gate: Gate): boolean =>
  gate !== null && !clone.answered && clone.tokens > gate;

/** One group's gradient, summed over tokens: weights are the group advantages, 0 for gated clones. Returns its tokens. */
export function addGroup(
  gradient: TeamPolicy,
  rollouts: readonly Rollout[],
  gate: Gate,
): { readonly tokens: number; readonly reward: number } {
  const rewards = rollouts.map(rewardOf);
  const advantages = groupAdvantages(rewards);
  rollouts.forEach((rollout, i) => {
    const advantage = advantages[i] ?? 0;
    addEpisode(gradient, rollout.root, advantage);
    for (const clone of rollout.clones) addEpisode(gradient, clone, isGated(clone, gate) ? 0 : advantage);
    if (rollout.choice !== null && advantage !== 0)
      ascend(gradient.delegation, { row: sizeBucket(rollout.operands), ...rollout.choice }, advantage);
  });
  return {
    tokens: rollouts.reduce((sum, { total_tokens }) => sum + total_tokens, 0),
    reward: rewards.reduce((sum, reward) => sum + reward, 0),
  };
}
