/** A penalty that starts at a threshold and saturates at `most`, over a length of about `ramp`. */
export interface SaturatingPenalty {
  readonly threshold: number;
  readonly ramp: number;
  readonly most: number;
}

/** Penalties of long answers as the released code of the method sets them: of the root, and of the longest clone of a turn. */
export const rootPenalty: SaturatingPenalty = { threshold: 512, ramp: 256, most: 0.3 };
export const clonePenalty: SaturatingPenalty = { threshold: 512, ramp: 512, most: 0.2 };

/** 0 up to the threshold, then most · (1 − e^−((tokens − threshold) / ramp)). */
export const penaltyOf = (tokens: number, { threshold, ramp, most }: SaturatingPenalty): number =>
  tokens <= threshold ? 0 : most * (1 - Math.exp(-(tokens - threshold) / ramp));

/** Part of a reward for an arithmetic answer that is near the truth: 1 when exact, 0.2 / log2(2 + |A − B| / √|2 + max(A, B)|) else. */
export const shapedReward = (truth: number, answer: number): number =>
  truth === answer
    ? 1
    : 0.2 / Math.log2(2 + Math.abs(truth - answer) / Math.sqrt(Math.abs(2 + Math.max(truth, answer))));

/**
 * Advantage of a clone: its root's, times its reward over the root's, kept within ±1.5. A clone whose reward is 0 — a
 * gated one — gets exactly 0.
 */
export function cloneCredit(rootAdvantage: number, cloneReward: number, rootReward: number): number {
  const base = Math.abs(rootReward) < 1e-8 ? (rootReward < 0 ? -1e-8 : 1e-8) : rootReward;
  const share = Math.min(1.5, Math.max(-1.5, cloneReward / base));
  return share === 0 ? 0 : rootAdvantage * share;
}
