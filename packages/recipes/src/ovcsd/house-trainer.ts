import { seedFrom } from '@perwatt/core';
import { below, createRandom, type Random } from '../numeric/random.js';
import { addTable } from '../numeric/softmax.js';
import type { EvalRecord, Trainer } from '../recipe.js';
import { type BranchRule, searchBranch } from './branch.js';
import { drawTask, taskTypes } from './house.js';
import { createStudent, playTask, type Student, type Trajectory } from './student.js';
import { addBranch, addGrpo, addLesson, type BranchWeights } from './updates.js';

/** A trainer on houses, with its policy. */
export interface HouseTrainer extends Trainer {
  readonly policy: Student;
}

/** How houses are trained on. */
export interface HouseSetup {
  readonly params: {
    readonly tasks: number;
    readonly group: number;
    readonly lr: number;
    readonly eval_items: number;
  };
  /** How groups that all failed are learned from; null for not at all. */
  readonly branching: (BranchRule & BranchWeights) | null;
  /** Weight of a teacher's unverified probabilities at every step of every episode; 0 for none. */
  readonly score: number;
}

/** Places of the counters in a trainer's state. */
const [STEP, ATTEMPTS, VERIFIED] = [0, 1, 2];

interface TaskDone {
  readonly actions: number;
  readonly won: number;
  readonly privileged: number;
  readonly attempts: number;
  readonly verified: number;
  /** Branches that were tried and not learned from. */
  readonly rejected: number;
}

interface Training extends HouseSetup {
  readonly policy: Student;
  readonly gradient: Student;
  readonly random: Random;
}

const nothing = { privileged: 0, attempts: 0, verified: 0, rejected: 0 };

/** One task's group of episodes, and what is learned from it. */
function trainTask(training: Training): TaskDone {
  const { params, policy, gradient, random, score } = training;
  const task = drawTask(random, below(random, taskTypes.length));
  const group = Array.from({ length: params.group }, () => playTask(task, { policy, random, skill: 'off' }));
  const won = group.filter((own) => own.won).length;
  const actions = group.reduce((sum, own) => sum + own.actions.length, 0);
  addGrpo(gradient, policy, group);
  if (score > 0) for (const trajectory of group) addScores(training, trajectory);
  return { won, actions, ...(won > 0 ? nothing : learnFromFailure(training, group)) };
}

function addScores({ gradient, policy, score, params }: Training, trajectory: Trajectory): void {
  for (let t = 0; t < trajectory.actions.length; t++)
    addLesson(gradient, policy, { trajectory, t, weight: score / params.group });
}

function learnFromFailure(
  { policy, gradient, random, branching }: Training,
  failed: readonly Trajectory[],
): Omit<TaskDone, 'won' | 'actions'> {
  if (branching === null) return nothing;
  const { branch, depth, attempts, ...found } = searchBranch(failed, policy, { random, rule: branching });
  if (branch !== null) addBranch(gradient, policy, { branch, depth, failed, weights: branching });
  return { ...found, attempts, rejected: attempts - (branch === null ? 0 : 1) };
}

/** Trains a policy of the house. */
export function trainHouse(setup: HouseSetup, seed: number): HouseTrainer {
  const { params } = setup;
  const policy = createStudent();
  const random = createRandom(seed, 'ovcsd');
  const counters = new Float64Array(3);
  const bump = (place: number, by: number) => {
    counters[place] = (counters[place] ?? 0) + by;
  };
  return {
    policy,
    state: { shared: policy.shared.logits, typed: policy.typed.logits, random: random.state, counters },
    get step() {
      return counters[STEP] ?? 0;
    },
    train() {
      const gradient = createStudent();
      const done = Array.from({ length: params.tasks }, () =>
        trainTask({ ...setup, policy, gradient, random }),
      );
      addTable(policy.shared, gradient.shared, { scale: params.lr, limit: 8 });
      addTable(policy.typed, gradient.typed, { scale: params.lr, limit: 8 });
      const sum = (of: (own: TaskDone) => number) => done.reduce((total, own) => total + of(own), 0);
      const [actions, privileged] = [sum((own) => own.actions), sum((own) => own.privileged)];
      const attempts = sum((own) => own.attempts);
      bump(STEP, 1);
      bump(ATTEMPTS, attempts);
      bump(
        VERIFIED,
        sum((own) => own.verified),
      );
      return {
        step: counters[STEP] ?? 0,
        tokens: actions + privileged,
        env_actions: actions,
        privileged_actions: privileged,
        calls: params.tasks * params.group + attempts,
        verification_tokens: attempts,
        updates: 1,
        rejected_updates: sum((own) => own.rejected),
        reward: sum((own) => own.won) / (params.tasks * params.group),
      };
    },
    evaluate: () => ({
      step: counters[STEP] ?? 0,
      ...evaluateHouse(policy, params.eval_items, seed),
    }),
  };
}

/** Success on held-out tasks, their types in turn. */
function evaluateHouse(policy: Student, n: number, seed: number): Omit<EvalRecord, 'step'> {
  const scores = new Float64Array(n);
  let actions = 0;
  for (let i = 0; i < n; i++) {
    const random = createRandom(seedFrom(seed, 'held-out', i), 'ovcsd');
    const task = drawTask(random, i % taskTypes.length);
    const trajectory = playTask(task, { policy, random, skill: 'off' });
    scores[i] = trajectory.won ? 1 : 0;
    actions += trajectory.actions.length;
  }
  const success = (type: number) => {
    const own = scores.filter((_, i) => i % taskTypes.length === type);
    return own.reduce((sum, value) => sum + value, 0) / own.length;
  };
  return {
    scores,
    tokens: actions,
    calls: n,
    measures: {
      ...Object.fromEntries(taskTypes.map((name, type) => [`success_${name}`, success(type)])),
      actions_per_query: actions / n,
    },
  };
}
