import { below, type Random } from '../numeric/random.js';
import { batchOf, type Sequence } from './batch.js';
import { type Chain, promptTokens, workedTokens } from './chains.js';
import { type Learner, update } from './learner.js';

/** A chain with its worked solution. */
export function workedSequence(chain: Chain): Sequence {
  const prompt = promptTokens(chain);
  return { tokens: [...prompt, ...workedTokens(chain)], given: prompt.length };
}

/** One update on worked solutions. */
export interface Imitating {
  readonly worked: readonly Sequence[];
  /** Solutions an update. */
  readonly count: number;
  readonly random: Random;
  readonly lr: number;
  readonly decay: number;
}

/** What an update was of. */
export interface Imitated {
  /** Tokens of the solutions. */
  readonly tokens: number;
  /** Mean cross-entropy of a token before the update, nats. */
  readonly loss: number;
  /** Mean probability of writing a solution out, token by token. */
  readonly likelihood: number;
  /** Length of the gradient. */
  readonly length: number;
}

/** Raises the log-probability of every token of some worked solutions: next-token cross-entropy. */
export function imitate(learner: Learner, { worked, count, random, lr, decay }: Imitating): Imitated {
  const none: Sequence = { tokens: [], given: 0 };
  const batch = batchOf(
    Array.from({ length: count }, () => worked[below(random, worked.length)] ?? none),
    learner.model.size,
  );
  let [loss, likelihood] = [0, 0];
  const length = update(learner, batch, {
    step: { lr, decay, clip: 1 },
    weigh(logProbs) {
      for (let s = 0; s < count; s++) {
        const own = logProbs.subarray(batch.starts[s], batch.starts[s + 1]);
        const sum = own.reduce((total, value) => total + value, 0);
        loss -= sum / batch.learnt;
        likelihood += Math.exp(sum) / count;
      }
      return new Float64Array(batch.rows).fill(1 / batch.learnt);
    },
  });
  return { tokens: batch.learnt, loss, likelihood, length: length ?? 0 };
}
