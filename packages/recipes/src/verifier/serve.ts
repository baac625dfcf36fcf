import { seedFrom } from '@perwatt/core';
import { createRandom } from '../numeric/random.js';
import type { PolicyAnswer, RecipeItem } from '../recipe.js';
import { analyse } from './analysis.js';
import type { VerifierTrainer } from './dsm-verifier.js';
import { drawProof, LEVELS, STEPS } from './proofs.js';

/** Proofs as text: the evidence that each step shows; the target is the true score. */
export function proofItems(seed: number, count: number): readonly RecipeItem[] {
  return Array.from({ length: count }, (_, i) => {
    const proof = drawProof(createRandom(seedFrom(seed, 'items', i), 'dsm'));
    return {
      id: `proof-${i + 1}`,
      prompt: `Score the proof whose steps look: ${proof.evidence.join(' ')}. Say 0, 0.5 or 1.`,
      target: String(proof.score),
    };
  });
}

/** Lets the verifier score a prompt's proof. */
export function answerProof(
  { verifier }: VerifierTrainer,
  prompt: string,
  seed: number,
): PolicyAnswer | null {
  const evidence =
    prompt
      .match(/whose steps look: ([\d ]+)\./)?.[1]
      ?.split(' ')
      .map(Number) ?? [];
  if (evidence.length !== STEPS || evidence.some((level) => !(level >= 0 && level < LEVELS))) return null;
  const proof = { evidence, flawed: evidence.map(() => false), score: 1 };
  const { score } = analyse(verifier, proof, createRandom(seed, 'dsm'));
  return { text: String(score), answer: String(score), prompt_tokens: STEPS, completion_tokens: STEPS + 1 };
}
