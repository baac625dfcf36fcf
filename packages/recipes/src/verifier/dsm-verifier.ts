import { seedFrom } from '@perwatt/core';
import * as z from 'zod';
import { groupAdvantages } from '../numeric/advantage.js';
import { createRandom } from '../numeric/random.js';
import { addTable } from '../numeric/softmax.js';
import { defineRecipe, type Trainer } from '../recipe.js';
import { addAnalysis, analyse, analysisReward, createVerifier, type Verifier } from './analysis.js';
import { drawProof, metaReward, STEPS, scoreReward } from './proofs.js';
import { answerProof, proofItems } from './serve.js';

/** Parameters of `dsm_verifier`. */
export const VerifierParams = z.strictObject({
  updates: z.int().min(1).max(100_000).default(400).describe('Training steps'),
  proofs: z.int().min(1).max(1024).default(16).describe('Proofs a step'),
  analyses: z.int().min(2).max(64).default(8).describe('Analyses a proof: one group'),
  meta: z.enum(['on', 'off']).default('on').describe('Whether claimed flaws are checked too'),
  flag_lr: z.number().gt(0).max(100).default(1.5).describe('Step length of the flags'),
  score_lr: z.number().gt(0).max(100).default(6).describe('Step length of the score'),
  eval_items: z.int().min(1).max(100_000).default(600).describe('Held-out proofs'),
  eval_every: z.int().min(1).default(20).describe('Steps between two evaluations'),
});
type Params = z.infer<typeof VerifierParams>;

/** A `dsm_verifier` trainer with its policy. */
export interface VerifierTrainer extends Trainer {
  readonly verifier: Verifier;
}

function start(params: Params, seed: number): VerifierTrainer {
  const verifier = createVerifier();
  const random = createRandom(seed, 'dsm');
  const counters = new Float64Array(1);
  return {
    verifier,
    state: { flags: verifier.flags.logits, score: verifier.score.logits, random: random.state, counters },
    get step() {
      return counters[0] ?? 0;
    },
    train() {
      const gradient = createVerifier();
      let reward = 0;
      for (let k = 0; k < params.proofs; k++) {
        const proof = drawProof(random);
        const group = Array.from({ length: params.analyses }, () => analyse(verifier, proof, random));
        const rewards = group.map((own) => analysisReward(own, proof, params.meta));
        const advantages = groupAdvantages(rewards);
        group.forEach((analysis, i) => {
          addAnalysis(gradient, verifier, { proof, analysis, weight: advantages[i] ?? 0 });
        });
        reward += rewards.reduce((sum, value) => sum + value, 0);
      }
      const n = params.proofs * params.analyses;
      addTable(verifier.flags, gradient.flags, { scale: params.flag_lr / n, limit: 6 });
      addTable(verifier.score, gradient.score, { scale: params.score_lr / n, limit: 6 });
      counters[0] = (counters[0] ?? 0) + 1;
      return {
        step: counters[0],
        tokens: n * (STEPS + 1),
        env_actions: 0,
        privileged_actions: 0,
        calls: n,
        verification_tokens: params.meta === 'on' ? n * STEPS : 0,
        updates: 1,
        rejected_updates: 0,
        reward: reward / n,
      };
    },
    evaluate() {
      const all = new Float64Array(params.eval_items);
      const sum = { flagged: 0, real: 0, flawed: 0, reward: 0, meta: 0 };
      for (let i = 0; i < all.length; i++) {
        const own = createRandom(seedFrom(seed, 'held-out', i), 'dsm');
        const proof = drawProof(own);
        const analysis = analyse(verifier, proof, own);
        all[i] = analysis.score === proof.score ? 1 : 0;
        sum.reward += scoreReward(analysis.score, proof.score);
        sum.meta += metaReward(analysis, proof);
        sum.flawed += proof.flawed.filter(Boolean).length;
        sum.flagged += analysis.flags.filter(Boolean).length;
        sum.real += analysis.flags.filter((flag, j) => flag && proof.flawed[j] === true).length;
      }
      const n = all.length;
      return {
        step: counters[0] ?? 0,
        scores: all,
        tokens: n * (STEPS + 1),
        calls: n,
        measures: {
          flag_precision: sum.flagged === 0 ? 0 : sum.real / sum.flagged,
          flag_recall: sum.flawed === 0 ? 0 : sum.real / sum.flawed,
          score_reward: sum.reward / n,
          meta_quality: sum.meta / n,
        },
      };
    },
  };
}

/** A verifier whose claimed flaws are checked. */
export const dsmVerifier = defineRecipe({
  id: 'dsm_verifier',
  version: 1,
  title: 'Verifier with meta-verification',
  summary:
    'a verifier of proofs learns to score them, and to flag real flaws only when its flags are checked too',
  effort: 'tokens',
  claims: [
    {
      text: 'With checked flags at least 0.7 of them are real; without, as few as at the start.',
      status: 'supported',
    },
    { text: 'Checking the flags costs less than 0.05 of score accuracy.', status: 'supported' },
    {
      text: 'Saying nothing and scoring everything 1 is not the best that can be learned.',
      status: 'supported',
    },
    {
      text: 'A generator judges itself honestly only when its own score is part of the reward.',
      status: 'supported',
    },
  ],
  params: VerifierParams,
  length: ({ updates, eval_every }) => ({ steps: updates, eval_every }),
  start,
  serve: { votes: true, items: proofItems, answer: answerProof },
});
