import { klDivergence } from '../numeric/softmax.js';
import { ACTIONS, STATES } from './game.js';
import { createMember, type Member, memberProbabilities } from './member.js';

/** One state's mixture, and how far it leans to the member that was there. */
export interface Aligned {
  readonly p: Float64Array;
  readonly lambda: number;
}

/** p_new ∝ p_pre^(1/(1+λ)) · p_cur^(λ/(1+λ)). */
export function geometricMixture(pre: Float64Array, cur: Float64Array, lambda: number): Float64Array {
  const share = 1 / (1 + lambda);
  const out = pre.map((p, a) => p ** share * (cur[a] ?? 0) ** (1 - share));
  const sum = out.reduce((total, p) => total + p, 0);
  return out.map((p) => p / sum);
}

/**
 * The mixture of a new policy and the one it replaces that lies nearest to the new one within KL(mixture‖replaced) ≤ δ₀:
 * λ by bisection, 0 where the new policy is inside already.
 */
export function align(pre: Float64Array, cur: Float64Array, delta: number): Aligned {
  if (klDivergence(pre, cur) <= delta) return { p: pre, lambda: 0 };
  let [low, high] = [0, 1];
  const inside = (lambda: number) => klDivergence(geometricMixture(pre, cur, lambda), cur) <= delta;
  for (let i = 0; i < 60 && !inside(high); i++) high *= 2;
  for (let i = 0; i < 80; i++) {
    const middle = (low + high) / 2;
    if (inside(middle)) high = middle;
    else low = middle;
  }
  return { p: geometricMixture(pre, cur, high), lambda: high };
}

/** A member that sees all of a state and starts as the aligned mixture of `pre` and `cur`, state by state. */
export function alignedMember(pre: Member, cur: Member, delta: number): Member {
  const member = createMember('fine');
  const [ours, theirs] = [memberProbabilities(pre), memberProbabilities(cur)];
  for (let state = 0; state < STATES; state++) {
    const [from, to] = [state * ACTIONS, (state + 1) * ACTIONS];
    const { p } = align(ours.subarray(from, to), theirs.subarray(from, to), delta);
    member.table.logits.set(p.map(Math.log), from);
  }
  return member;
}
