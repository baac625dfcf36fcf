import { binomialCdf, binomialPoint, normalCdf } from '../distributions.js';

/** McNemar's test of two systems on the same items, each right or wrong. */
export interface McNemar {
  /** Items that only A, and that only B got right. */
  readonly only_a: number;
  readonly only_b: number;
  /** Two-sided exact binomial p. */
  readonly p_exact: number;
  /** Two-sided mid-p: the point itself counts half; closer to its level than the exact one, which errs on the safe side. */
  readonly p_mid: number;
  /** The one to go by: mid-p up to 1,000 discordant items, χ² with a correction for continuity above. */
  readonly p: number;
  readonly method: 'mid_p' | 'chi_square';
}

/** Discordant items up to which the binomial distribution itself is used. */
const EXACT_UP_TO = 1_000;

const isCount = (n: number): boolean => Number.isSafeInteger(n) && n >= 0;

/** Two-sided p of χ² with one degree of freedom and a correction for continuity. */
function chiSquareP(smaller: number, larger: number): number {
  const z = Math.max(larger - smaller - 1, 0) / Math.sqrt(smaller + larger);
  return 2 * normalCdf(-z);
}

/** McNemar from the two counts of discordant items; null for what is no count. Without any, p is 1. */
export function mcnemar(only_a: number, only_b: number): McNemar | null {
  if (!(isCount(only_a) && isCount(only_b))) return null;
  const [smaller, total] = [Math.min(only_a, only_b), only_a + only_b];
  if (total === 0) return { only_a, only_b, p_exact: 1, p_mid: 1, p: 1, method: 'mid_p' };
  const tail = 2 * binomialCdf(smaller, total, 0.5);
  const even = only_a === only_b;
  const p_exact = Math.min(1, tail);
  const p_mid = even ? 1 : Math.min(1, tail - binomialPoint(smaller, total, 0.5));
  const small = total <= EXACT_UP_TO;
  const p = small ? p_mid : chiSquareP(smaller, total - smaller);
  return { only_a, only_b, p_exact, p_mid, p, method: small ? 'mid_p' : 'chi_square' };
}
