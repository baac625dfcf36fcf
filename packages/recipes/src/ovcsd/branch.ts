import type { Random } from '../numeric/random.js';
import { anchorOf, startState, takeAction } from './house.js';
import { type Backtracking, type Nodes, nodesToTry, prefixNodes } from './prefix-tree.js';
import { goOn, type Student, type Trajectory } from './student.js';

/** What the search for a way out of an all-failed group came to. */
export interface BranchSearch {
  /** A teacher's continuation that was kept, from the start of the episode, and where it left the failed ones; null for none. */
  readonly branch: Trajectory | null;
  readonly depth: number;
  readonly attempts: number;
  readonly verified: number;
  /** Actions of replays and of the teacher. */
  readonly privileged: number;
}

/** Teacher continuations tried at one node. */
const CONTINUATIONS = 2;

/** How branches are looked for. */
export interface BranchRule {
  readonly backtracking: Backtracking;
  readonly nodes: Nodes;
  /** Whether only branches that reach the goal are kept. */
  readonly verification: 'on' | 'off';
}

/**
 * Looks for a branch that a teacher can take out of a group none of whose trajectories reached the goal: replays the
 * actions up to a node, lets the teacher go on, keeps what succeeds. At most three nodes; ends with the first branch.
 */
export function searchBranch(
  failed: readonly Trajectory[],
  policy: Student,
  { random, rule }: { readonly random: Random; readonly rule: BranchRule },
): BranchSearch {
  let [attempts, verified, privileged] = [0, 0, 0];
  for (const { depth, source } of startsOf(failed, { random, rule })) {
    const branch = replayAndGoOn(source, depth, { policy, random });
    if (branch === null) continue;
    attempts += 1;
    privileged += branch.actions.length;
    verified += branch.won ? 1 : 0;
    if (branch.won || rule.verification === 'off') return { branch, depth, attempts, verified, privileged };
  }
  return { branch: null, depth: 0, attempts, verified, privileged };
}

/** Where teachers start, one attempt after the other. */
function startsOf(
  failed: readonly Trajectory[],
  { random, rule }: { readonly random: Random; readonly rule: BranchRule },
): { readonly depth: number; readonly source: Trajectory }[] {
  return nodesToTry(prefixNodes(failed, rule.nodes), rule.backtracking, random).flatMap(
    ({ depth, members }) => {
      const source = failed[members[0] ?? 0];
      return source === undefined ? [] : Array.from({ length: CONTINUATIONS }, () => ({ depth, source }));
    },
  );
}

/** A branch off a trajectory at a depth; null where the replay does not come by the same states. */
function replayAndGoOn(
  source: Trajectory,
  depth: number,
  { policy, random }: { readonly policy: Student; readonly random: Random },
): Trajectory | null {
  const { task } = source;
  const state = startState();
  for (let t = 0; t < depth; t++) {
    if (anchorOf(state) !== source.anchors[t]) return null;
    takeAction(task, state, source.actions[t] ?? 0);
  }
  const branch: Trajectory = {
    task,
    seen: source.seen.slice(0, depth),
    actions: source.actions.slice(0, depth),
    anchors: source.anchors.slice(0, depth),
    advised: source.advised.slice(0, depth),
    won: false,
  };
  goOn(branch, state, { policy, random, skill: 'on' });
  return branch;
}

/** First step at which two trajectories stood in the same state and did different things; null where they part otherwise. */
export function divergenceOf(branch: Trajectory, failed: Trajectory): number | null {
  const length = Math.min(branch.actions.length, failed.actions.length);
  for (let t = 0; t < length; t++) {
    if (branch.anchors[t] !== failed.anchors[t]) return null;
    if (branch.actions[t] !== failed.actions[t]) return t;
  }
  return null;
}
