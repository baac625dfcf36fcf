import { seedFrom } from '@perwatt/core';
import { createRandom } from '../numeric/random.js';
import {
  answerOf,
  type Chain,
  drawChain,
  END,
  MOST_WRITTEN,
  promptTokens,
  valuesOf,
  writtenAnswer,
} from './chains.js';
import { complete } from './decode.js';
import type { Model } from './model.js';

/** Held-out chains of a seed; the same every time. */
export const heldOutChains = (
  seed: number,
  {
    count,
    lengths,
    purpose,
  }: { readonly count: number; readonly lengths: readonly number[]; readonly purpose: string },
): Chain[] =>
  Array.from({ length: count }, (_, i) =>
    drawChain(createRandom(seedFrom(seed, purpose, i), 'tiny-transformer'), { lengths, held_out: true }),
  );

/** How a model does on chains. */
export interface Asked {
  /** 1 for a right answer, 0 for any other or none, by chain. */
  readonly scores: Float64Array;
  /** Tokens written. */
  readonly tokens: number;
  /** Of all right answers, the share whose every intermediate result is right too; 0 where none is right. */
  readonly right_steps: number;
}

/** Asks a model for the answers to chains: each token drawn, by a seed, or the likeliest one. */
export function ask(
  model: Model,
  chains: readonly Chain[],
  { seed, greedy = false }: { readonly seed: number; readonly greedy?: boolean },
): Asked {
  const randoms = chains.map((_, i) => createRandom(seedFrom(seed, 'answers', i), 'tiny-transformer'));
  const draw = greedy ? null : (sequence: number) => randoms[sequence]?.next() ?? 0;
  const written = complete(model, chains.map(promptTokens), { most: MOST_WRITTEN, end: END, draw });
  const scores = Float64Array.from(chains, (chain, i) =>
    writtenAnswer(written[i]?.tokens ?? []) === answerOf(chain) ? 1 : 0,
  );
  const faithful = chains.filter((chain, i) => {
    const steps = written[i]?.tokens.slice(0, -3) ?? [];
    return scores[i] === 1 && steps.join() === valuesOf(chain).join();
  });
  const right = scores.reduce((sum, score) => sum + score, 0);
  return {
    scores,
    tokens: written.reduce((sum, { tokens }) => sum + tokens.length, 0),
    right_steps: right === 0 ? 0 : faithful.length / right,
  };
}
