import { groupAdvantages } from '../numeric/advantage.js';
import { divergenceOf } from './branch.js';
import { ACTIONS } from './house.js';
import { actionsAt, addChoice, addTowards, type Student, type Trajectory } from './student.js';

/** Adds the group-relative policy gradient of a group; nothing where all did as well. */
export function addGrpo(gradient: Student, policy: Student, group: readonly Trajectory[]): void {
  const advantages = groupAdvantages(group.map(({ won }) => (won ? 1 : 0)));
  const p = new Float64Array(ACTIONS);
  group.forEach(({ task, seen, actions }, i) => {
    const weight = (advantages[i] ?? 0) / group.length;
    if (weight === 0) return;
    actions.forEach((action, t) => {
      const at = { type: task.type, seen: seen[t] ?? 0 };
      actionsAt(policy, { ...at, advised: -1 }, p);
      addChoice(gradient, { ...at, action, p }, weight);
    });
  });
}

/** Weights of the two signals of a kept branch. */
export interface BranchWeights {
  readonly local: number;
  readonly suffix: number;
}

/** Advantages at one divergence with m failed trajectories: +√m for the branch, −1/√m for each of them. They sum to 0. */
export const localAdvantages = (m: number): { readonly branch: number; readonly failed: number } => ({
  branch: Math.sqrt(m),
  failed: -1 / Math.sqrt(m),
});

/** Where a branch leaves failed trajectories: by step, the actions that failed there. */
export function divergences(branch: Trajectory, failed: readonly Trajectory[]): Map<number, number[]> {
  const found = new Map<number, number[]>();
  for (const own of failed) {
    const t = divergenceOf(branch, own);
    if (t === null) continue;
    const action = own.actions[t] ?? 0;
    found.set(t, [...(found.get(t) ?? []), action]);
  }
  return found;
}

/** Adds what a kept branch teaches: the choice where it left the failed ones, and the teacher's way from there on. */
export function addBranch(
  gradient: Student,
  policy: Student,
  lesson: {
    readonly branch: Trajectory;
    readonly depth: number;
    readonly failed: readonly Trajectory[];
    readonly weights: BranchWeights;
  },
): void {
  const { branch, depth, failed, weights } = lesson;
  const p = new Float64Array(ACTIONS);
  const found = divergences(branch, failed);
  if (found.size === 0) return;
  const { type } = branch.task;
  for (const [t, actions] of found) {
    const at = { type, seen: branch.seen[t] ?? 0 };
    const advantage = localAdvantages(actions.length);
    actionsAt(policy, { ...at, advised: -1 }, p);
    addChoice(gradient, { ...at, action: branch.actions[t] ?? 0, p }, weights.local * advantage.branch);
    for (const action of actions) addChoice(gradient, { ...at, action, p }, weights.local * advantage.failed);
  }
  const first = Math.max(depth, Math.min(...found.keys()));
  for (let t = first + 1; t < branch.actions.length; t++)
    addLesson(gradient, policy, { trajectory: branch, t, weight: weights.suffix });
}

/** Adds one step towards the teacher's probabilities in a state of a trajectory. */
export function addLesson(
  gradient: Student,
  policy: Student,
  { trajectory, t, weight }: { readonly trajectory: Trajectory; readonly t: number; readonly weight: number },
): void {
  if (weight === 0) return;
  const at = { type: trajectory.task.type, seen: trajectory.seen[t] ?? 0 };
  const p = new Float64Array(ACTIONS);
  const target = new Float64Array(ACTIONS);
  actionsAt(policy, { ...at, advised: -1 }, p);
  actionsAt(policy, { ...at, advised: trajectory.advised[t] ?? -1 }, target);
  addTowards(gradient, { ...at, target, p }, weight);
}
