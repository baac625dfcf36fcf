import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { createRandom } from '../numeric/random.js';
import {
  accuracyOf,
  lastAccuracy,
  lastMeasure,
  overSeeds,
  PATIENCE,
  type Trained,
  trained,
} from '../training.fixture.js';
import { divergenceOf, searchBranch } from './branch.js';
import {
  anchorOf,
  drawTask,
  HORIZON,
  isWon,
  OBSERVATIONS,
  observation,
  startState,
  takeAction,
  taskTypes,
} from './house.js';
import { nodesToTry, prefixNodes } from './prefix-tree.js';
import { createStudent, playTask } from './student.js';
import { addBranch, addGrpo, divergences, localAdvantages } from './updates.js';

const seeds = fc.integer({ min: 0, max: 2000 });

/** A group of eight episodes of an untrained policy. */
function groupOf(seed: number, type = 5) {
  const policy = createStudent();
  const random = createRandom(seed, 'group');
  const task = drawTask(random, type);
  const group = Array.from({ length: 8 }, () => playTask(task, { policy, random, skill: 'off' }));
  return { policy, random, task, group };
}

describe('the house', () => {
  test.prop([seeds, fc.array(fc.nat(10), { maxLength: HORIZON })])(
    'comes to the same state by the same actions',
    (seed, actions) => {
      const task = drawTask(createRandom(seed, 'task'), seed % taskTypes.length);
      const [a, b] = [startState(), startState()];
      for (const action of actions) {
        takeAction(task, a, action);
        takeAction(task, b, action);
        expect(anchorOf(a)).toBe(anchorOf(b));
        expect(observation(task, a)).toBeLessThan(OBSERVATIONS);
      }
      expect(a).toEqual(b);
    },
  );

  // biome-ignore format: a table is read in columns
  it.each([
    { type: 'pick',  actions: [5, 2, 9],                why: 'taken and put' },
    { type: 'look',  actions: [5, 1, 10],               why: 'taken to the lamp' },
    { type: 'clean', actions: [5, 1, 6, 2, 9],          why: 'cleaned on the way' },
    { type: 'heat',  actions: [5, 1, 7, 2, 9],          why: 'heated on the way' },
    { type: 'cool',  actions: [5, 1, 8, 2, 9],          why: 'cooled on the way' },
    { type: 'pick2', actions: [5, 2, 9, 0, 4, 5, 2, 9], why: 'the second one out of a closed container' },
  ])('lets $type be done by $actions: $why', ({ type, actions }) => {
    const task = { type: taskTypes.indexOf(type as 'pick'), objects: [0, 1], closed: [false, true], appliance: 3, destination: 4 } as const;
    const state = startState();
    for (const action of actions) {
      expect(isWon(task, state)).toBe(false);
      takeAction(task, state, action);
    }
    expect(isWon(task, state)).toBe(true);
  });

  it('loses an object that should have been treated and was not', () => {
    const task = { type: 2, objects: [0, 0], closed: [false, false], appliance: 3, destination: 4 } as const;
    const state = startState();
    for (const action of [5, 2, 9]) takeAction(task, state, action);
    expect(state).toMatchObject({ placed: 0, hand: -1, taken: 1 });
  });
});

describe('the prefix tree', () => {
  test.prop([seeds])('holds nodes whose members took the same first actions', (seed) => {
    const { group, random } = groupOf(seed);
    const nodes = prefixNodes(group, 'shared');
    for (const { depth, members } of nodes)
      expect(new Set(members.map((m) => group[m]!.actions.slice(0, depth).join())).size).toBe(1);
    const tried = nodesToTry(nodes, 'deepest', random);
    const depths = tried.map(({ depth }) => depth);
    expect(depths).toEqual([...depths].sort((a, b) => b - a));
    expect(tried.length).toBeLessThanOrEqual(3);
    expect(tried[0]?.depth).toBe(Math.max(...nodes.map(({ depth }) => depth)));
    const shared = nodes.some(({ depth, members }) => depth > 0 && members.length > 1);
    expect(nodes.every(({ depth, members }) => depth === 0 || members.length > 1)).toBe(shared);
    const parting = prefixNodes(group, 'parting').filter(({ members }) => members.length > 1);
    for (const { depth, members } of parting)
      expect(nodes.some((own) => own.depth === depth && own.members.join() === members.join())).toBe(true);
  });

  // biome-ignore format: a table is read in columns
  it.each([
    { actions: [[1, 2, 3], [1, 2, 4], [5, 6, 7]], nodes: 'shared',  want: [0, 1, 2],          why: 'what two share, down to where they part' },
    { actions: [[1, 2, 3], [1, 2, 4], [5, 6, 7]], nodes: 'parting', want: [0, 2],             why: 'only where they part' },
    { actions: [[1, 2, 3], [1, 2, 3]],            nodes: 'shared',  want: [0, 1, 2],          why: 'the same failure twice is shared to its end' },
    { actions: [[1, 2], [3, 4]],                  nodes: 'shared',  want: [0, 1, 1],          why: 'nothing shared: the first steps of each' },
    { actions: [[1, 2, 3, 4, 5, 6]],              nodes: 'shared',  want: [0, 1, 2, 3, 4],    why: 'of a single one at most four' },
  ] as const)('of $actions has nodes at $want: $why', ({ actions, nodes, want }) => {
    const failed = actions.map((own) => ({ actions: own })) as unknown as Parameters<typeof prefixNodes>[0];
    expect(prefixNodes(failed, nodes).map(({ depth }) => depth).sort((a, b) => a - b)).toEqual(want);
  });
});

describe('a branch', () => {
  test.prop([seeds])('is kept only when it reaches the goal, and counts what it took', (seed) => {
    const { group, policy, random } = groupOf(seed);
    const failed = group.filter(({ won }) => !won);
    const found = searchBranch(failed, policy, {
      random,
      rule: { backtracking: 'deepest', nodes: 'shared', verification: 'on' },
    });
    expect(found.branch === null || found.branch.won).toBe(true);
    expect(found.privileged).toBeLessThanOrEqual(found.attempts * HORIZON);
    expect(found.attempts).toBeLessThanOrEqual(6);
    if (found.branch === null) return;
    const source = failed.find(
      ({ actions }) =>
        actions.slice(0, found.depth).join() === found.branch?.actions.slice(0, found.depth).join(),
    );
    expect(source).toBeDefined();
  });

  it('that nobody checked would teach failures too', () => {
    const kept = Array.from({ length: 60 }, (_, seed) => {
      const { group, policy, random } = groupOf(seed);
      return searchBranch(group, policy, {
        random,
        rule: { backtracking: 'deepest', nodes: 'shared', verification: 'off' },
      }).branch;
    });
    expect(kept.some((branch) => branch !== null && !branch.won)).toBe(true);
  });

  test.prop([seeds])(
    'gives no update where no state-aligned divergence is found, and local ones that sum to 0',
    (seed) => {
      const { group, policy, random } = groupOf(seed);
      const found = searchBranch(group, policy, {
        random,
        rule: { backtracking: 'deepest', nodes: 'shared', verification: 'off' },
      });
      const branch = found.branch!;
      for (const [t, actions] of divergences(branch, group)) {
        const { branch: plus, failed } = localAdvantages(actions.length);
        expect(plus + actions.length * failed).toBeCloseTo(0, 12);
        expect(actions).not.toContain(branch.actions[t]);
      }
      expect(divergenceOf(branch, branch)).toBeNull();
      const gradient = createStudent();
      addBranch(gradient, policy, { branch, depth: 0, failed: [branch], weights: { local: 1, suffix: 1 } });
      expect(gradient.shared.logits.every((value) => value === 0)).toBe(true);
    },
  );

  it('is not needed for a group in which some succeed: a flat group has no gradient of its own', () => {
    const { group, policy } = groupOf(0);
    const gradient = createStudent();
    addGrpo(
      gradient,
      policy,
      group.map((own) => ({ ...own, won: false })),
    );
    expect(gradient.typed.logits.every((value) => value === 0)).toBe(true);
  });
});

/** Environment actions of a whole training, the teacher's included. */
const actionsOf = ({ steps }: Trained): number =>
  steps.reduce((sum, { env_actions, privileged_actions }) => sum + env_actions + privileged_actions, 0);

/** Environment actions, the teacher's included, until success first reaches a target; null where it never does. */
function actionsTo({ evals, steps }: Trained, target: number): number | null {
  const reached = evals.find((record) => accuracyOf(record) >= target);
  if (reached === undefined) return null;
  return actionsOf({ evals, steps: steps.filter(({ step }) => step <= reached.step) });
}

describe('training in the house', PATIENCE, () => {
  const n = 6;
  const set = { iterations: 100, eval_items: 300 };
  const all = (id: string, more: object = {}) =>
    Array.from({ length: n }, (_, seed) => trained(id, { ...set, ...more }, seed));
  const target = () => overSeeds(n, (seed) => lastAccuracy(all('grpo')[seed]!)).mean;
  const meanOf = (values: readonly number[]) => values.reduce((sum, own) => sum + own, 0) / values.length;
  const reachedBy = (runs: readonly Trained[]) => runs.flatMap((run) => actionsTo(run, target()) ?? []);
  /** Actions of the policy gradient over a training's own, seed by seed; one that never gets there counts with all it took. */
  const factors = (more: object) => {
    const baseline = meanOf(reachedBy(all('grpo')));
    return overSeeds(n, (seed) => {
      const run = all('ovcsd', more)[seed]!;
      return baseline / (actionsTo(run, target()) ?? actionsOf(run));
    });
  };
  const privileged = () =>
    overSeeds(n, (seed) => {
      const run = all('ovcsd')[seed]!;
      return run.steps.reduce((sum, own) => sum + own.privileged_actions, 0) / actionsOf(run);
    });

  it('reaches the final success of the policy gradient with at least 1.5 times fewer actions', () => {
    const factor = factors({});
    expect(factor.mean - 1.5).toBeGreaterThan(2 * factor.sd);
  });

  it('needs the suffix for that: without it the factor is smaller', () => {
    const [full, without] = [factors({}), factors({ suffix: 0 })];
    const gain = overSeeds(n, (seed) => (full.values[seed] ?? 0) - (without.values[seed] ?? 0));
    expect(gain.mean).toBeGreaterThan((2 * gain.sd) / Math.sqrt(n));
  });

  it('takes less than 3 % privileged actions', () => {
    const share = privileged();
    expect(0.03 - share.mean).toBeGreaterThan(2 * share.sd);
    expect(share.mean).toBeGreaterThan(0);
  });

  it('gains at least 50 points on the task of two objects', () => {
    const success = (id: string) => overSeeds(n, (seed) => lastMeasure(all(id)[seed]!, 'success_pick2'));
    const [own, baseline] = [success('ovcsd'), success('grpo')];
    expect(own.mean - baseline.mean - 0.5).toBeGreaterThan(2 * Math.max(own.sd, baseline.sd));
  });
});
