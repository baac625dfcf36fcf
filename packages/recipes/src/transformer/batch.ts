import type { ModelSize } from './model.js';

/** A sequence to learn from: what is given, and what follows it. */
export interface Sequence {
  readonly tokens: readonly number[];
  /** How many of the tokens are given; the first one always is. */
  readonly given: number;
}

/** Sequences one after the other, without gaps. Each row says what comes after it; the last token of a sequence has none. */
export interface Batch {
  readonly rows: number;
  readonly starts: Int32Array;
  readonly tokens: Int32Array;
  readonly positions: Int32Array;
  /** The token that follows; −1 where it is given, so that there is nothing to learn. */
  readonly targets: Int32Array;
  /** Number of targets. */
  readonly learnt: number;
}

/** Position of a sequence's i-th token: counted anew, from `answer_at` on, after what is given. */
export const positionOf = (
  i: number,
  { given, answer_at }: { readonly given: number; readonly answer_at: number },
): number => (i < given ? i : answer_at + i - given);

/** Lays sequences out. */
export function batchOf(sequences: readonly Sequence[], { answer_at }: Pick<ModelSize, 'answer_at'>): Batch {
  const starts = new Int32Array(sequences.length + 1);
  for (const [s, { tokens }] of sequences.entries())
    starts[s + 1] = (starts[s] ?? 0) + Math.max(0, tokens.length - 1);
  const rows = starts[sequences.length] ?? 0;
  const [tokens, positions] = [new Int32Array(rows), new Int32Array(rows)];
  const targets = new Int32Array(rows).fill(-1);
  let learnt = 0;
  for (const [s, sequence] of sequences.entries()) {
    const start = starts[s] ?? 0;
    for (let i = 0; i + 1 < sequence.tokens.length; i++) {
      tokens[start + i] = sequence.tokens[i] ?? 0;
      positions[start + i] = positionOf(i, { given: sequence.given, answer_at });
      if (i + 1 < sequence.given) continue;
      targets[start + i] = sequence.tokens[i + 1] ?? 0;
      learnt += 1;
    }
  }
  return { rows, starts, tokens, positions, targets, learnt };
}
