import type { Random } from '../numeric/random.js';
import { actionAt, ascend, createTable, normalise, type SoftmaxTable } from '../numeric/softmax.js';
import {
  ACTIONS,
  anchorOf,
  HORIZON,
  type HouseState,
  type HouseTask,
  isWon,
  OBSERVATIONS,
  observation,
  skillAction,
  startState,
  takeAction,
  taskTypes,
} from './house.js';

/** A policy of the house: a row that all tasks share, and one of the task's type; their logits add up. */
export interface Student {
  readonly shared: SoftmaxTable;
  readonly typed: SoftmaxTable;
}

export const createStudent = (): Student => ({
  shared: createTable(OBSERVATIONS, ACTIONS),
  typed: createTable(OBSERVATIONS * taskTypes.length, ACTIONS),
});

/** How much an advised action's logit is raised in a teacher: the same policy with the skill at hand. */
const ADVICE = 3;

/** Row of a task's type and an observation. */
export const typedRow = (type: number, seen: number): number => type * OBSERVATIONS + seen;

/** Probabilities of a policy at an observation; `advised` raises one action, −1 for none. */
export function actionsAt(
  { shared, typed }: Student,
  { type, seen, advised }: { readonly type: number; readonly seen: number; readonly advised: number },
  out: Float64Array,
): void {
  const [s, t] = [seen * ACTIONS, typedRow(type, seen) * ACTIONS];
  for (let a = 0; a < ACTIONS; a++)
    out[a] = (shared.logits[s + a] ?? 0) + (typed.logits[t + a] ?? 0) + (a === advised ? ADVICE : 0);
  normalise(out);
}

/** Adds weight × (1[a = chosen] − p(a)), each half to the shared and to the type's row. */
export function addChoice(
  gradient: Student,
  {
    type,
    seen,
    action,
    p,
  }: { readonly type: number; readonly seen: number; readonly action: number; readonly p: Float64Array },
  weight: number,
): void {
  ascend(gradient.shared, { row: seen, action, p }, weight / 2);
  ascend(gradient.typed, { row: typedRow(type, seen), action, p }, weight / 2);
}

/** Adds weight × (target − p), each half to the shared and to the type's row: the gradient of −KL(target‖p). */
export function addTowards(
  gradient: Student,
  {
    type,
    seen,
    target,
    p,
  }: {
    readonly type: number;
    readonly seen: number;
    readonly target: Float64Array;
    readonly p: Float64Array;
  },
  weight: number,
): void {
  const [s, t] = [seen * ACTIONS, typedRow(type, seen) * ACTIONS];
  for (let a = 0; a < ACTIONS; a++) {
    const step = (weight / 2) * ((target[a] ?? 0) - (p[a] ?? 0));
    gradient.shared.logits[s + a] = (gradient.shared.logits[s + a] ?? 0) + step;
    gradient.typed.logits[t + a] = (gradient.typed.logits[t + a] ?? 0) + step;
  }
}

/** One episode: what was seen and done at every step, and the state it was done in. */
export interface Trajectory {
  readonly task: HouseTask;
  readonly seen: number[];
  readonly actions: number[];
  /** `anchorOf` the state before each action. */
  readonly anchors: number[];
  /** What the skill advises at each step. */
  readonly advised: number[];
  won: boolean;
}

/** Who acts: the student, or the teacher with the skill at hand. */
export interface Acting {
  readonly policy: Student;
  readonly random: Random;
  readonly skill: 'on' | 'off';
}

/** Goes on from a state until the task is done or the actions run out, and writes it down. */
export function goOn(trajectory: Trajectory, state: HouseState, { policy, random, skill }: Acting): void {
  const { task, seen, actions, anchors, advised } = trajectory;
  const p = new Float64Array(ACTIONS);
  while (actions.length < HORIZON && !isWon(task, state)) {
    const now = observation(task, state);
    const advice = skillAction(task, state);
    actionsAt(policy, { type: task.type, seen: now, advised: skill === 'on' ? advice : -1 }, p);
    const action = actionAt(p, random.next());
    seen.push(now);
    anchors.push(anchorOf(state));
    advised.push(advice);
    actions.push(action);
    takeAction(task, state, action);
  }
  trajectory.won = isWon(task, state);
}

/** A whole episode. */
export function playTask(task: HouseTask, acting: Acting): Trajectory {
  const trajectory: Trajectory = { task, seen: [], actions: [], anchors: [], advised: [], won: false };
  goOn(trajectory, startState(), acting);
  return trajectory;
}
