import { clippedWeight, groupAdvantages } from '../numeric/advantage.js';
import type { Random } from '../numeric/random.js';
import { type Batch, batchOf } from './batch.js';
import { answerOf, type Chain, END, MOST_WRITTEN, promptTokens, writtenAnswer } from './chains.js';
import { complete, type Writing } from './decode.js';
import { type Learner, targetLogProbs, update } from './learner.js';
import type { Model } from './model.js';

/** One step of group-relative policy optimisation. */
export interface Reinforcing {
  readonly chains: readonly Chain[];
  /** Attempts a chain. */
  readonly group: number;
  /** Updates that the rollouts are split into. */
  readonly parts: number;
  readonly random: Random;
  /** Where the policy is not to go far from. */
  readonly reference: Model;
  readonly lr: number;
  /** How far a token's ratio may move before it earns nothing more. */
  readonly clip: number;
  /** Weight of the divergence from the reference. */
  readonly kl: number;
  /** Divergence from the policy that wrote the rollouts, nats a token, above which an update is not made. */
  readonly max_kl: number;
}

/** What a step was of. */
export interface Reinforced {
  /** Tokens written. */
  readonly tokens: number;
  readonly rollouts: number;
  /** Share of right answers. */
  readonly reward: number;
  readonly updates: number;
  readonly rejected: number;
  /** Length of the longest gradient; not finite where training is lost. */
  readonly length: number;
}

interface Rollout {
  readonly prompt: readonly number[];
  readonly written: Writing;
  readonly advantage: number;
}

/** What a token is weighed by. */
export interface TokenTerms {
  /** Log-probabilities: now, when it was drawn, and of the reference. */
  readonly now: number;
  readonly before: number;
  readonly reference: number;
  readonly advantage: number;
  readonly clip: number;
  readonly kl: number;
}

/**
 * How much a token's log-probability is to rise: the gradient of min(r·A, clip(r, 1 ± ε)·A) − β·(e^d − d − 1), where r is
 * its ratio to when it was drawn and d the reference's log-probability less its own (Shao et al., 2024).
 */
export function tokenWeight({ now, before, reference, advantage, clip, kl }: TokenTerms): number {
  return clippedWeight(Math.exp(now - before), advantage, clip) + kl * Math.expm1(reference - now);
}

/** Writes a group of answers to every chain, rewards right ones, and raises what did better than its group. */
export function reinforceGroups(learner: Learner, step: Reinforcing): Reinforced {
  const { chains, group, parts, random } = step;
  const prompts = chains.flatMap((chain) => {
    const prompt = promptTokens(chain);
    return Array.from({ length: group }, () => prompt);
  });
  const written = complete(learner.model, prompts, { most: MOST_WRITTEN, end: END, draw: random.next });
  const rewards = written.map(({ tokens }, i) => {
    const chain = chains[Math.floor(i / group)];
    return chain !== undefined && writtenAnswer(tokens) === answerOf(chain) ? 1 : 0;
  });
  const advantages = chains.flatMap((_, c) => [
    ...groupAdvantages(rewards.slice(c * group, (c + 1) * group)),
  ]);
  const rollouts = written.map(
    (own, i): Rollout => ({
      prompt: prompts[i] ?? [],
      written: own,
      advantage: advantages[i] ?? 0,
    }),
  );
  const size = group * Math.ceil(chains.length / parts);
  let [updates, rejected, length] = [0, 0, 0];
  for (let from = 0; from < rollouts.length; from += size) {
    const own = learnFrom(learner, rollouts.slice(from, from + size), step);
    if (own === null) rejected += 1;
    else updates += 1;
    length = Math.max(length, own ?? 0);
  }
  return {
    tokens: written.reduce((sum, { tokens }) => sum + tokens.length, 0),
    rollouts: written.length,
    reward: rewards.reduce<number>((sum, own) => sum + own, 0) / rewards.length,
    updates,
    rejected,
    length,
  };
}

/** One update on some rollouts; null where the policy has moved too far from the one that wrote them. */
function learnFrom(learner: Learner, rollouts: readonly Rollout[], step: Reinforcing): number | null {
  const batch = batchOf(
    rollouts.map(({ prompt, written }) => ({
      tokens: [...prompt, ...written.tokens],
      given: prompt.length,
    })),
    learner.model.size,
  );
  const reference = targetLogProbs(step.reference, learner.space(batch.rows), batch);
  const [before, advantage] = [new Float64Array(batch.rows), new Float64Array(batch.rows)];
  for (const [s, { prompt, written, advantage: own }] of rollouts.entries()) {
    const first = (batch.starts[s] ?? 0) + prompt.length - 1;
    before.set(written.log_probs, first);
    advantage.fill(own, first, first + written.log_probs.length);
  }
  return update(learner, batch, {
    step: { lr: step.lr, decay: 0, clip: 1 },
    weigh(now) {
      if (divergence(batch, now, before) > step.max_kl) return null;
      const { clip, kl } = step;
      return now.map((own, i) =>
        (batch.targets[i] ?? -1) < 0
          ? 0
          : tokenWeight({
              now: own,
              before: before[i] ?? 0,
              reference: reference[i] ?? 0,
              advantage: advantage[i] ?? 0,
              clip,
              kl,
            }) / batch.learnt,
      );
    },
  });
}

/** Mean divergence of the policy from the one that wrote, estimated as r − 1 − ln r over its tokens; nats a token. */
function divergence({ targets, learnt }: Batch, now: Float64Array, before: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < now.length; i++) {
    const d = (now[i] ?? 0) - (before[i] ?? 0);
    if ((targets[i] ?? -1) >= 0) sum += Math.expm1(d) - d;
  }
  return sum / learnt;
}
