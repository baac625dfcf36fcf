/** Spread of rewards below which a group says nothing. */
const FLAT = 1e-9;

/**
 * Advantages of a group of rewards as GRPO takes them: (r − mean) / (sd + 1e-6) with the n − 1 standard deviation; all 0
 * where that is below 1e-9. They sum to 0.
 */
export function groupAdvantages(rewards: ArrayLike<number>): Float64Array {
  const n = rewards.length;
  const out = new Float64Array(n);
  if (n < 2) return out;
  let mean = 0;
  for (let i = 0; i < n; i++) mean += (rewards[i] ?? 0) / n;
  let squares = 0;
  for (let i = 0; i < n; i++) squares += ((rewards[i] ?? 0) - mean) ** 2;
  const sd = Math.sqrt(squares / (n - 1));
  if (sd < FLAT) return out;
  for (let i = 0; i < n; i++) out[i] = ((rewards[i] ?? 0) - mean) / (sd + 1e-6);
  return out;
}

/**
 * What the gradient of the clipped objective min(r·A, clip(r, 1 ± ε)·A) keeps of r·A: 0 where the ratio has left the
 * trust region on the side that A pushes to, r·A otherwise.
 */
export function clippedWeight(ratio: number, advantage: number, epsilon: number): number {
  const outside = advantage > 0 ? ratio > 1 + epsilon : ratio < 1 - epsilon;
  return outside ? 0 : ratio * advantage;
}
