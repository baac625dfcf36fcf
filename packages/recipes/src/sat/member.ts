import { clippedWeight } from '../numeric/advantage.js';
import { createTable, klDivergence, probabilities, type SoftmaxTable } from '../numeric/softmax.js';
import { ACTIONS, HORIZON, STATES } from './game.js';

/** What a member sees of a state: `fine` all of it, `coarse` only its pair. */
export type Sight = 'fine' | 'coarse';

/** One policy of a team. */
export interface Member {
  readonly sight: Sight;
  /** One row a state; of a coarse member the first six are used. */
  readonly table: SoftmaxTable;
}

export const createMember = (sight: Sight): Member => ({ sight, table: createTable(STATES, ACTIONS) });

/** Row that a member acts by in a state. */
export const rowOf = (sight: Sight, state: number): number => (sight === 'fine' ? state : state >> 1);

/** Probabilities of a member's actions in every state. */
export function memberProbabilities({ sight, table }: Member): Float64Array {
  const out = new Float64Array(STATES * ACTIONS);
  const p = new Float64Array(ACTIONS);
  for (let state = 0; state < STATES; state++) {
    probabilities(table, rowOf(sight, state), p);
    out.set(p, state * ACTIONS);
  }
  return out;
}

/** Episodes of a whole team: three steps each, with states and every member's actions. */
export interface Episodes {
  readonly count: number;
  /** By episode and step. */
  readonly states: Uint8Array;
  /** By member, episode and step. */
  readonly actions: readonly Uint8Array[];
  /** By episode, within the group of its start state; kept within ±5. */
  readonly advantages: Float64Array;
}

/** Smallest probability that a ratio is taken of. */
const LEAST = 1e-12;

/** How one member's update goes. */
export interface UpdateRule {
  readonly lr: number;
  readonly epochs: number;
  /** ε of the clipped ratio of a whole episode. */
  readonly clip: number;
  /** Weight of the penalty for leaving the policy that the episodes were made with. */
  readonly beta: number;
}

/**
 * Ascends the clipped objective of one member on the team's episodes, the others held fixed: the ratio is that of the
 * whole episode, the penalty the k3 estimate against the policy of before. Only this member's table changes.
 */
export function updateMember(
  member: Member,
  episodes: Episodes,
  { index, rule }: { readonly index: number; readonly rule: UpdateRule },
): void {
  const before = memberProbabilities(member);
  const actions = episodes.actions[index] ?? new Uint8Array(0);
  const places = episodes.states.map((state, t) => state * ACTIONS + (actions[t] ?? 0));
  for (let epoch = 0; epoch < rule.epochs; epoch++) {
    const now = memberProbabilities(member);
    const logRatios = now.map((p, i) => Math.log(Math.max(p, LEAST) / Math.max(before[i] ?? 1, LEAST)));
    const weights = placeWeights({ episodes, places, logRatios, rule });
    addGradient(member, { weights, now, scale: (rule.lr * STATES) / episodes.count });
  }
}

interface Weighing {
  readonly episodes: Episodes;
  /** State and action of every step. */
  readonly places: Uint8Array;
  readonly logRatios: Float64Array;
  readonly rule: UpdateRule;
}

/** What the gradient of the log-probability of each state and action is to be weighted with. */
function placeWeights({ episodes, places, logRatios, rule }: Weighing): Float64Array {
  const weights = new Float64Array(STATES * ACTIONS);
  const pulls = logRatios.map((ratio) => rule.beta * Math.expm1(Math.min(10, -ratio)));
  for (let e = 0; e < episodes.count; e++) {
    let logRatio = 0;
    for (let t = e * HORIZON; t < (e + 1) * HORIZON; t++) logRatio += logRatios[places[t] ?? 0] ?? 0;
    const weight = clippedWeight(
      Math.exp(Math.min(10, Math.max(-10, logRatio))),
      episodes.advantages[e] ?? 0,
      rule.clip,
    );
    for (let t = e * HORIZON; t < (e + 1) * HORIZON; t++) {
      const place = places[t] ?? 0;
      weights[place] = (weights[place] ?? 0) + weight + (pulls[place] ?? 0);
    }
  }
  return weights;
}

/** Ascends by Σ weight × (1[action] − p), state by state. */
function addGradient(
  { sight, table }: Member,
  step: { readonly weights: Float64Array; readonly now: Float64Array; readonly scale: number },
): void {
  const { weights, now, scale } = step;
  for (let state = 0; state < STATES; state++) {
    const from = state * ACTIONS;
    const row = rowOf(sight, state) * ACTIONS;
    let total = 0;
    for (let a = 0; a < ACTIONS; a++) total += weights[from + a] ?? 0;
    for (let a = 0; a < ACTIONS; a++) {
      const own = (weights[from + a] ?? 0) - total * (now[from + a] ?? 0);
      table.logits[row + a] = (table.logits[row + a] ?? 0) + scale * own;
    }
  }
}

/** Divergence of a member's new policy from its old one, KL(new‖old), by state. */
export function divergences(after: Float64Array, before: Float64Array): Float64Array {
  return Float64Array.from({ length: STATES }, (_, state) => {
    const [from, to] = [state * ACTIONS, (state + 1) * ACTIONS];
    return klDivergence(after.subarray(from, to), before.subarray(from, to));
  });
}

/** The smallest value that at least a share `q` of all values does not exceed. */
export function highQuantile(values: Float64Array, q: number): number {
  const sorted = values.slice().sort();
  return sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] ?? 0;
}
